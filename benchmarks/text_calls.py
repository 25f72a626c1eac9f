"""How long calls in text take to find: growth with the length of the text, and cost on streams.

    python -m benchmarks.text_calls [--json] [--repeats N] [TEXT ...]

All text dialects are enabled, bare JSON anywhere in the text. Each text is taken at three sizes,
in one piece and in pieces of 20 characters, against a floor: a compiled pattern that finds the
first letters of all markers, or a generator that hands the pieces on. In pieces, calls are emitted
in both ways: at the end of the turn, and as they are read (without the action protocol, which
makes all calls wait). Growth is the time for
one character of the longest text by that of the shortest: 1 is linear. Times are printed, never
asserted; that pieces change nothing of what is found is.
"""

import argparse
import json
import os
import platform
import re
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

from msgspec.structs import replace

from benchmarks.replay import LONG_DELTAS, SHORT_STREAMS, best_of, long_deltas, short_deltas
from harness.dialects.table import DIALECTS
from harness.normalizers import reference
from harness.normalizers.protocol import Normalize
from harness.normalizers.respond import respond
from harness.text_calls import TEXT_DIALECTS, read_text_calls
from harness.turns.deltas import Delta, Finish, FinishReason, TextDelta
from harness.turns.fold import fold
from harness.turns.turn import Tool, Turn
from harness.wire.interaction import Interaction, Request

SIZES = (250_000, 500_000, 1_000_000)
CALLS = 1_000  # in the longest text; as many for each character in the others
PIECE = 20

POLICY = replace(reference.POLICY, bare="anywhere")
EARLY_POLICY = replace(POLICY, dialects=POLICY.dialects - {"action-protocol"})
TOOLS = (
    Tool("get_weather", "", {"type": "object", "properties": {"city": {"type": "string"}}}),
    Tool("search", "", {"type": "object", "properties": {"query": {"type": "string"}}}),
)

_STREAM_TOOLS = (*TOOLS, Tool("writing"))

_LETTERS = re.compile(
    f"[{re.escape(''.join(sorted({it[0] for d in TEXT_DIALECTS.values() for it in d.openers})))}]"
)
_WORDS = "The snow is gone, and die Wiese blüht; 春天来了. "
_NO_CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": '

MakeText = Callable[[int], str]


# The texts


def with_calls(size: int) -> str:
    """Return prose with a call in tags after each paragraph of it."""
    share = SIZES[-1] // CALLS
    return "".join(_paragraph(number, share) for number in range(size // share))


def _paragraph(number: int, size: int) -> str:
    arguments = {"city": f"Oslo {number}", "note": "{ [ < </tool_call> ``` "}
    said = json.dumps({"name": "get_weather", "arguments": arguments})
    call = f"\n<tool_call>\n{said}\n</tool_call>\n"
    return (_WORDS * size)[: size - len(call)] + call


def repeated(unit: str) -> MakeText:
    """Return what fills a text with `unit` and nothing else."""
    return lambda size: (unit * (size // len(unit) + 1))[:size]


TEXTS: dict[str, MakeText] = {
    "1,000 calls": with_calls,
    "prose": repeated(_WORDS),
    "<": repeated("<"),
    "{": repeated("{"),
    "[": repeated("["),
    "`": repeated("`"),
    '"': repeated('"'),
    "a<": repeated("a<"),
    "a{": repeated("a{"),
    "blanks": repeated(" "),
    "<tool_call>": repeated("<tool_call>"),
    "<tool_call>{": repeated("<tool_call>{"),
    "<tool_call>{}": repeated("<tool_call>{}\n"),
    "</tool_call>": repeated("</tool_call>"),
    "half calls": repeated(_NO_CALL),
    "half bare calls": repeated(_NO_CALL.removeprefix("<tool_call>")),
    "lines of <think>": repeated("<think>\n"),
    "code fences": repeated("```\n"),
    "all openers": repeated(
        " ".join(opener for dialect in TEXT_DIALECTS.values() for opener in dialect.openers) + "\n"
    ),
}


def pieces_of(text: str, size: int = PIECE) -> list[Delta]:
    """Return the response that says `text` in pieces of `size` characters."""
    said = [TextDelta(text[at : at + size]) for at in range(0, len(text), size)]
    return [*said, Finish(FinishReason.STOP, "stop")]


# The contenders


def extract(deltas: Iterable[Delta]) -> Turn:
    """Return what the deltas mean, with the calls in their text."""
    return fold(read_text_calls(deltas, TOOLS, POLICY))


def _found(deltas: Iterable[Delta]) -> None:
    for _ in read_text_calls(deltas, TOOLS, POLICY):
        pass


def _as_read(deltas: Iterable[Delta]) -> None:
    for _ in read_text_calls(deltas, TOOLS, EARLY_POLICY, emit="as_read"):
        pass


def _handed_on(deltas: Iterable[Delta]) -> None:
    for _ in _identity(deltas):
        pass


def _identity(deltas: Iterable[Delta]) -> Iterator[Delta]:
    yield from deltas


def _searched(text: str) -> None:
    for _ in _LETTERS.finditer(text):
        pass


# The growth


def growth(make: MakeText, repeats: int) -> dict[str, Any]:
    """Return seconds and ratios of one kind of text at all sizes, whole and in pieces."""
    tasks: dict[str, Callable[[], object]] = {}
    calls = 0
    for size in SIZES:
        text = make(size)
        whole, cut = pieces_of(text, len(text)), pieces_of(text)
        turn = extract(whole)
        assert turn == extract(cut), "pieces change what is found"
        calls = len(turn.tool_calls)
        tasks |= {
            f"search {size}": partial(_searched, text),
            f"whole {size}": partial(_found, whole),
            f"identity {size}": partial(_handed_on, cut),
            f"pieces {size}": partial(_found, cut),
            f"as read {size}": partial(_as_read, cut),
        }
    seconds = best_of(repeats, tasks)
    return {"calls": calls, "seconds": seconds} | {
        name: _ratios(seconds, name, floor)
        for name, floor in (("whole", "search"), ("pieces", "identity"), ("as read", "identity"))
    }


def _ratios(seconds: dict[str, float], name: str, floor: str) -> dict[str, float]:
    shortest, longest = SIZES[0], SIZES[-1]
    growth = (seconds[f"{name} {longest}"] / longest) / (seconds[f"{name} {shortest}"] / shortest)
    return {
        "microseconds": 1e6 * seconds[f"{name} {longest}"] / longest,
        "to_floor": seconds[f"{name} {longest}"] / seconds[f"{floor} {longest}"],
        "growth": growth,
    }


# The cost on ordinary streams


def streams() -> dict[str, list[Interaction]]:
    """Return the streams of `replay.py` as answers to requests with tools, and one of text."""
    text = [TextDelta(f"{word} ") for word in _WORDS.split() * (LONG_DELTAS // 9)]
    finish = Finish(FinishReason.STOP, "stop")
    return {
        "long": [_interaction(long_deltas(LONG_DELTAS))],
        "short": [_interaction(short_deltas(number)) for number in range(SHORT_STREAMS)],
        "text": [_interaction([*text, finish])],
    }


def _interaction(deltas: Iterable[Delta]) -> Interaction:
    functions = [{"name": tool.name, "parameters": tool.parameters} for tool in _STREAM_TOOLS]
    asked = {"model": "any", "tools": [{"type": "function", "function": it} for it in functions]}
    request = Request(body=json.dumps(asked).encode())
    return DIALECTS["openai-chat"].interaction(deltas, request=request)


def cost(made: list[Interaction], repeats: int) -> dict[str, Any]:
    """Return seconds with and without text calls, and their ratio."""
    readers = {"without": respond, "with": reference.normalize}
    assert _turns(respond, made) == _turns(reference.normalize, made), "readers disagree"
    tasks = {name: partial(_turns, read, made) for name, read in readers.items()}
    seconds = best_of(repeats, tasks)
    return {"seconds": seconds, "ratio": seconds["with"] / seconds["without"]}


def _turns(read: Normalize, made: list[Interaction]) -> list[Turn]:
    return [fold(read(each, iter([each.body]))) for each in made]


# The command


def measure(names: Iterable[str], repeats: int) -> dict[str, Any]:
    """Measure the texts of these names, and the streams; return it as one object."""
    return {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "repeats": repeats,
        "sizes": list(SIZES),
        "dialects": len(TEXT_DIALECTS),
        "texts": {name: growth(TEXTS[name], repeats) for name in names},
        "streams": {name: cost(made, repeats) for name, made in streams().items()},
    }


def as_text(measured: dict[str, Any]) -> Iterator[str]:
    """Yield one table of the texts and one of the streams."""
    yield f"Python {measured['python']}, {measured['cores']} cores, best of {measured['repeats']}"
    sizes = ", ".join(f"{size:,}" for size in measured["sizes"])
    yield f"{measured['dialects']} text dialects; texts of {sizes} characters"
    yield "us: for one character of the longest; growth: longest to shortest, 1.0 is linear"
    yield ""
    yield f"{'':<20}{'calls':>7}{_head('whole')}{_head('pieces')}{_head('as read')}"
    for name, part in measured["texts"].items():
        kinds = "".join(_row(part[kind]) for kind in ("whole", "pieces", "as read"))
        yield f"{name:<20}{part['calls']:>7}{kinds}"
    yield ""
    yield f"{'':<20}{'without ms':>12}{'with ms':>12}{'ratio':>8}"
    for name, part in measured["streams"].items():
        seconds = part["seconds"]
        yield (
            f"{name:<20}{1e3 * seconds['without']:>12.1f}{1e3 * seconds['with']:>12.1f}"
            f"{part['ratio']:>8.2f}"
        )


def _head(name: str) -> str:
    return f"{name + ' us':>12}{'/ floor':>9}{'growth':>8}"


def _row(part: dict[str, float]) -> str:
    return f"{part['microseconds']:>12.3f}{part['to_floor']:>9.1f}{part['growth']:>8.2f}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("texts", nargs="*", metavar="TEXT", help="all, where none is named")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--repeats", type=int, default=3, help="turns for each contender")
    options = parser.parse_args()
    measured = measure(options.texts or list(TEXTS), max(1, options.repeats))
    print(json.dumps(measured, indent=2) if options.json else "\n".join(as_text(measured)))


if __name__ == "__main__":
    main()
