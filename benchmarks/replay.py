"""How fast `reference` replays a stream, against a floor and against the openai SDK.

    python benchmarks/replay.py [--json] [--repeats N]

All contenders read the same bytes in one process, taking turns; the best of N is kept, so a
busy machine disturbs little, and only ratios are worth comparing between machines. The floor
is what no reader can go below: split on blank lines, decode each payload with orjson. Times
are printed, never asserted; that everybody read the same calls is.
"""

import argparse
import gc
import importlib
import importlib.util
import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.dialects.table import DIALECTS
from harness.judging.replaying import ReplayLimits, deadlines, replay
from harness.normalizers.reference import normalizer as reference
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.wire.cuts import UNSPLIT
from harness.wire.interaction import Interaction, Request

LONG_DELTAS = 20_000
SHORT_STREAMS = 500
GROWTH_DELTAS = (5_000, 10_000, 20_000, 40_000)
INSTALL = "pip install -e '.[bench]'"

_WORDS = ("snow", "is", "gone", "und", "die", "Wiese", "blüht", "春天", "来了", "again")
_PATIENT = ReplayLimits(seconds=600)
# The SDK is far slower than the rest; its best settles after a few turns.
_FEWER_REPEATS = 3
# The last major version of openai that stands on httpx; later ones stand on httpx2.
_HTTPX = 2

Streams = Sequence[Interaction]
# Reads all streams; returns the arguments of each call, to be checked outside the clock.
Contender = Callable[[Streams], list[str]]


# The streams


def long_stream(deltas: int) -> Interaction:
    """Return one call whose arguments come in `deltas` fragments, one to an event."""
    return _interaction(long_deltas(deltas))


def long_deltas(deltas: int) -> Iterator[Delta]:
    """Yield what the long stream says."""
    pieces = [f"{_WORDS[n % len(_WORDS)]} " for n in range(deltas - 2)]
    yield ToolCallStart(0, "call_1", "writing")
    for fragment in ('{"content": "', *pieces, '"}'):
        yield ArgumentsDelta(0, fragment)
    yield ToolCallEnd(0)
    yield from _ending(deltas)


def short_streams(count: int) -> list[Interaction]:
    """Return `count` different streams of about 20 events: some text, then one call."""
    return [_interaction(short_deltas(number)) for number in range(count)]


def short_deltas(number: int) -> Iterator[Delta]:
    """Yield what one of the short streams says."""
    for n in range(5 + number % 3):
        yield TextDelta(f"{_WORDS[(number + n) % len(_WORDS)]} ")
    yield ToolCallStart(0, f"call_{number}", "get_weather")
    arguments = json.dumps({"city": f"Oslo {number}", "days": number % 14, "unit": "celsius"})
    for at in range(0, len(arguments), 5):
        yield ArgumentsDelta(0, arguments[at : at + 5])
    yield ToolCallEnd(0)
    yield from _ending(number)


def _ending(tokens: int) -> Iterator[Delta]:
    yield Finish(FinishReason.TOOL_CALLS, "tool_calls")
    yield UsageDelta(Usage(100, tokens))


def _interaction(deltas: Iterable[Delta]) -> Interaction:
    request = Request(body=b'{"model": "gpt-4o-mini", "stream": true, "messages": []}')
    return DIALECTS["openai-chat"].interaction(deltas, request=request)


# The contenders


def reference_whole(streams: Streams) -> list[str]:
    """Replay with each body as one read."""
    turns = (replay(reference, each, UNSPLIT, _PATIENT).turn for each in streams)
    return [call.arguments for turn in turns for call in turn.tool_calls]


def reference_recorded(streams: Streams) -> list[str]:
    """Replay with each event as one read, as most servers send them."""
    replays = (replay(reference, each, each.recorded_cuts(), _PATIENT) for each in streams)
    return [call.arguments for done in replays for call in done.turn.tool_calls]


def make_floor() -> Contender:
    """Return what only splits and decodes; it makes no turn, so it returns no calls."""
    loads = importlib.import_module("orjson").loads

    def floor(streams: Streams) -> list[str]:
        for each in streams:
            for event in each.body.split(b"\n\n"):
                payload = event[6:]
                if payload and payload != b"[DONE]":
                    loads(payload)
        return []

    return floor


def make_openai() -> Contender:
    """Return the SDK's own accumulation, fed through its own decoder by a transport."""
    openai = importlib.import_module("openai")
    http = importlib.import_module("httpx2" if _major(openai.__version__) > _HTTPX else "httpx")
    served = b""

    def answer(_request: object) -> object:
        return http.Response(200, headers={"content-type": "text/event-stream"}, content=served)

    http_client = http.Client(transport=http.MockTransport(answer))
    client = openai.OpenAI(http_client=http_client, api_key="x", max_retries=0)

    def accumulate(streams: Streams) -> list[str]:
        nonlocal served
        calls: list[str] = []
        for each in streams:
            served = each.body
            with client.chat.completions.stream(model="gpt-4o-mini", messages=[]) as stream:
                message = stream.get_final_completion().choices[0].message
            calls += [call.function.arguments for call in message.tool_calls or ()]
        return calls

    return accumulate


def _major(version: str) -> int:
    return int(version.partition(".")[0])


def contenders() -> tuple[dict[str, Contender], list[str]]:
    """Return those that can run here, the floor first, and what is not installed."""
    found: dict[str, Contender] = {}
    missing: list[str] = []
    optional = {"floor": ("orjson", make_floor), "openai": ("openai", make_openai)}
    for name, (package, make) in optional.items():
        if importlib.util.find_spec(package):
            found[name] = make()
        else:
            missing.append(package)
    return found | {"reference": reference_whole, "recorded": reference_recorded}, missing


# The clock


def best_of(repeats: int, tasks: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Return the shortest time of each task in seconds; the tasks take turns."""
    best = dict.fromkeys(tasks, float("inf"))
    for turn in range(repeats):
        for name, task in tasks.items():
            if name != "openai" or turn < _FEWER_REPEATS:
                best[name] = min(best[name], _time(task))
    return best


def _time(task: Callable[[], object]) -> float:
    gc.collect()  # nobody pays for the garbage of the one before
    start = time.perf_counter()
    task()
    return time.perf_counter() - start


def compare(streams: Streams, named: Mapping[str, Contender], repeats: int) -> dict[str, Any]:
    """Return sizes, seconds and ratios of all contenders on `streams`."""
    said = {name: read(streams) for name, read in named.items() if name != "floor"}
    assert all(calls == said["reference"] for calls in said.values()), "contenders disagree"
    seconds = best_of(repeats, {name: _bound(read, streams) for name, read in named.items()})
    return {
        "streams": len(streams),
        "events": sum(len(each.reads) for each in streams),
        "bytes": sum(len(each.body) for each in streams),
        "seconds": seconds,
        "ratios": dict(_ratios(seconds)),
    }


def _bound(read: Contender, streams: Streams) -> Callable[[], object]:
    return lambda: read(streams)


def _ratios(seconds: dict[str, float]) -> Iterator[tuple[str, float]]:
    if "floor" in seconds:
        yield "reference_to_floor", seconds["reference"] / seconds["floor"]
        yield "recorded_to_floor", seconds["recorded"] / seconds["floor"]
    if "openai" in seconds:
        yield "openai_to_reference", seconds["openai"] / seconds["reference"]
        yield "openai_to_recorded", seconds["openai"] / seconds["recorded"]


def growth(repeats: int) -> dict[str, Any]:
    """Return the time that `reference` takes for one delta of longer and longer streams."""
    tasks = {
        str(deltas): _bound(reference_whole, [long_stream(deltas)]) for deltas in GROWTH_DELTAS
    }
    seconds = best_of(repeats, tasks)
    per_delta = [1e6 * seconds[str(deltas)] / deltas for deltas in GROWTH_DELTAS]
    return {
        "deltas": list(GROWTH_DELTAS),
        "microseconds_per_delta": per_delta,
        "longest_to_shortest": per_delta[-1] / per_delta[0],
    }


# The command


def measure(repeats: int) -> dict[str, Any]:
    """Run everything that can run here; return it as one object."""
    named, missing = contenders()
    return {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "repeats": repeats,
        "long": compare([long_stream(LONG_DELTAS)], named, repeats),
        "short": compare(short_streams(SHORT_STREAMS), named, repeats),
        "growth": growth(repeats),
        "missing": missing,
    }


def as_text(measured: dict[str, Any]) -> Iterator[str]:
    """Yield the lines that a person reads."""
    yield f"Python {measured['python']}, {measured['cores']} cores, best of {measured['repeats']}"
    for name in ("long", "short"):
        part = measured[name]
        yield f"\n{name}: {part['streams']} streams, {part['events']} events, {part['bytes']} bytes"
        for contender, seconds in part["seconds"].items():
            yield f"  {contender:<22}{1e3 * seconds:>9.1f} ms"
        for ratio, value in part["ratios"].items():
            yield f"  {ratio:<22}{value:>9.2f} x"
    grown = measured["growth"]
    yield "\ngrowth of reference"
    for deltas, cost in zip(grown["deltas"], grown["microseconds_per_delta"], strict=True):
        yield f"  {deltas:>6} deltas{cost:>17.2f} us each"
    yield f"  longest to shortest{grown['longest_to_shortest']:>12.2f} x"
    for package in measured["missing"]:
        yield f"\n{package} is not installed, its part was left out: {INSTALL}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--repeats", type=int, default=9, help="turns for each contender")
    options = parser.parse_args()
    with deadlines():  # as every run has them
        measured = measure(max(1, options.repeats))
    print(json.dumps(measured, indent=2) if options.json else "\n".join(as_text(measured)))


if __name__ == "__main__":
    main()
