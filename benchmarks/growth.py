"""How the time to read hostile input grows with its size: readers, oracles, scanners, importers.

    python -m benchmarks.growth [--json] [--largest BYTES] [--floor S] [--seconds S] [NAME ...]

Each family of input is made at four sizes, each four times the one before, up to 20 MB. The slope
is that of the logarithm of the time over the logarithm of the size: 1 is linear, 2 is the square.
A time below the floor is not counted, since most of it is what each reading costs. A size is
left out if it would take longer than a limit. Times are printed, never asserted.
"""

import argparse
import json
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import groupby
from time import process_time
from typing import Final

import msgspec

from benchmarks.growth_files import (
    CONTAINERS,
    Make,
    bare_files,
    file_families,
    import_body,
    pasted_files,
    read_pasted,
    repeated,
)
from harness.dialects.table import DIALECTS, oracle_reading
from harness.errors import HarnessError
from harness.normalizers import reference
from harness.text_calls import TEXT_DIALECTS, TextPolicy, read_text_calls
from harness.text_calls.dialect import WrittenCall
from harness.turns.deltas import (
    ArgumentsDelta,
    Finish,
    FinishReason,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
)
from harness.turns.fold import fold
from harness.turns.turn import Tool
from harness.wire.aws import encode_event
from harness.wire.interaction import Interaction, Read, Request

LARGEST: Final = 20_000_000
STEPS: Final = 4
TIMES: Final = 4
FLOOR: Final = 0.02
MOST_SECONDS: Final = 20.0
READ_BYTES: Final = 16_384
PIECE: Final = 1_000
IN_PIECES: Final = ("calls", "5/8 of a call")
# Four times the size takes five times as long: what is above grows faster than buffers do.
LINEAR: Final = 1.2

TOOLS: Final = (
    Tool("f", "", {"type": "object", "properties": {"a": {"type": "string"}}}),
    Tool("get_weather", "", {"type": "object", "properties": {"city": {"type": "string"}}}),
)

Work = Callable[[bytes], object]


# Bodies


def _framed(payload: bytes, content_type: str) -> bytes:
    if "amazon" in content_type:
        return encode_event(payload, "chunk")
    return payload + b"\n" if "json" in content_type else b"data: " + payload + b"\n\n"


def _body_families(dialect: str) -> Iterator[tuple[str, Make]]:
    """Yield hostile bodies of one dialect."""
    row = DIALECTS[dialect]
    text = b"".join(row.write([TextDelta("word ")] * 40))
    yield "text in pieces", repeated(text)
    yield "one long text", lambda size: b"".join(row.write([TextDelta("a" * size)]))
    with suppress(ValueError):
        call = [ToolCallStart(0, "c", "f"), ArgumentsDelta(0, '{"a": "b"}'), ToolCallEnd(0)]
        yield "calls", repeated(b"".join(row.write(call)))
        pieces = [ToolCallStart(0, "c", "f"), *[ArgumentsDelta(0, "[1,")] * 40]
        yield "arguments in pieces", repeated(b"".join(row.write(pieces)))
    kind = row.content_type
    yield "empty objects", repeated(_framed(b"{}", kind))
    yield "deep objects", repeated(b'{"a":', b"data: ")
    yield "deep arrays", repeated(b"[", b"data: ")
    yield "a long number", repeated(b"9", b'data: {"a": ')
    yield "no line end", repeated(b"a", b"data: ")
    yield "line ends", repeated(b"\n")
    yield "CR", repeated(b"\r")
    yield "empty data lines", repeated(b"data:\n")
    yield "comments", repeated(b":\n")
    yield "backslashes", repeated(b"\\", b'data: {"a": "')
    yield "NUL", repeated(b"\x00")
    yield "invalid UTF-8", repeated(b"\xff")
    yield "quotes", repeated(b'"', b"data: {")
    yield "one array", repeated(b'{"a":1},', b"[")


def _interaction(dialect: str, body: bytes) -> Interaction:
    functions = [{"name": it.name, "parameters": it.parameters} for it in TOOLS]
    asked = {"model": "m", "tools": [{"type": "function", "function": it} for it in functions]}
    request = Request(body=json.dumps(asked).encode())
    return Interaction(request, 200, (), body, (Read(len(body)),), dialect=dialect)


def _read(dialect: str, body: bytes) -> object:
    reads = (body[at : at + READ_BYTES] for at in range(0, len(body), READ_BYTES))
    return fold(reference.normalize(_interaction(dialect, body), reads))


def _oracle(dialect: str, body: bytes) -> object:
    return oracle_reading(_interaction(dialect, body))


# Texts


def _text_families(name: str) -> Iterator[tuple[str, Make]]:
    """Yield hostile texts of one text dialect."""
    dialect = TEXT_DIALECTS[name]
    call = dialect.write([WrittenCall("f", '{"a": "b"}', "c")])
    units = {
        "calls": call,
        **{f"{at}/8 of a call": call[: len(call) * at // 8] for at in (3, 5, 7)},
        "calls without their start": call[1:],
        "openers": "".join(dialect.openers),
        "opener, name, brace": "".join(f"{it}f{{" for it in dialect.openers),
        "ends": "".join(dialect.trailers),
    }
    yield from ((label, repeated(unit.encode())) for label, unit in units.items() if unit)
    half = call[: max(1, len(call) // 2)].encode()
    for label, unit in (("blanks", b" "), ("lines", b"\n"), ("braces", b"{"), ("quotes", b'"')):
        yield f"half a call, {label}", repeated(unit, half)
    if name == "mistral-tool-calls":
        yield "one marker, many calls", repeated(b"f[ARGS]{},", b"[TOOL_CALLS]")


def _any_text_families() -> Iterator[tuple[str, Make]]:
    """Yield hostile texts for a scanner of all text dialects."""
    calls = [it.write([WrittenCall("f", '{"a": "b"}', "c")]) for it in TEXT_DIALECTS.values()]
    openers = [opener for it in TEXT_DIALECTS.values() for opener in it.openers]
    units = {
        "calls": "\n".join(calls),
        "half calls": "".join(call[: len(call) // 2] for call in calls),
        "openers": " ".join(openers),
        "[TOOL_CALLS]f[ARGS]{": "[TOOL_CALLS]f[ARGS]{",
        "<": "<",
        "{": "{",
        "[": "[",
        "`": "`",
        "fences": "```json\n",
        "<think>": "<think>\n",
    }
    yield from ((label, repeated(unit.encode())) for label, unit in units.items())


def _scan(policy: TextPolicy, piece: int, body: bytes) -> object:
    text = body.decode("utf-8", "replace")
    size = piece or len(text)
    said = (TextDelta(text[at : at + size]) for at in range(0, len(text), size))
    deltas = (each for part in (said, [Finish(FinishReason.STOP, "stop")]) for each in part)
    return fold(read_text_calls(deltas, TOOLS, policy))


# The measure


class Task(msgspec.Struct, frozen=True):
    """One family of input, and what reads it."""

    reader: str
    family: str
    make: Make
    work: Work


def tasks() -> Iterator[Task]:
    """Yield the families of all readers, those of one reader together."""
    for name, work in (("read", _read), ("oracle", _oracle)):
        for dialect in sorted(DIALECTS):
            for family, make in _body_families(dialect):
                yield Task(f"{name} {dialect}", family, make, partial(work, dialect))
    for name in sorted(TEXT_DIALECTS):
        yield from _text_tasks(name)
    everything = TextPolicy(dialects=frozenset(TEXT_DIALECTS), bare="anywhere")
    for family, make in _any_text_families():
        yield Task("text, all dialects", family, make, partial(_scan, everything, 0))
    for kind in CONTAINERS:
        for family, make in file_families(kind):
            yield Task(f"import {kind}", family, make, import_body)
    for family, make in pasted_files():
        yield Task("pasted", family, make, read_pasted)
    for family, make in bare_files():
        yield Task("import, unknown", family, make, import_body)


def _text_tasks(name: str) -> Iterator[Task]:
    only = TextPolicy(dialects=frozenset({name}))
    for family, make in _text_families(name):
        yield Task(f"text {name}", family, make, partial(_scan, only, 0))
        if family in IN_PIECES:
            work = partial(_scan, only, PIECE)
            yield Task(f"text {name}", f"{family}, in pieces", make, work)


class Limits(msgspec.Struct, frozen=True):
    """Bytes of the largest input, seconds that are counted, and the most for one input."""

    largest: int = LARGEST
    floor: float = FLOOR
    seconds: float = MOST_SECONDS


class Growth(msgspec.Struct):
    """Seconds of one family by size, and their slope; None if all are below the floor."""

    reader: str
    family: str
    seconds: dict[int, float]
    slope: float | None


def measure(task: Task, limits: Limits) -> Growth:
    """Measure one family at four sizes, or at those that take less than the limit."""
    seconds: dict[int, float] = {}
    for step in reversed(range(STEPS)):
        body = task.make(limits.largest // TIMES**step)
        start = process_time()
        with suppress(HarnessError):
            task.work(body)
        seconds[len(body)] = process_time() - start
        if seconds[len(body)] * TIMES > limits.seconds:
            break
    return Growth(task.reader, task.family, seconds, slope(seconds, limits.floor))


def slope(seconds: dict[int, float], floor: float) -> float | None:
    """Return the least-squares slope of log time over log size, above the floor."""
    points = [(math.log(size), math.log(took)) for size, took in seconds.items() if took >= floor]
    if len(points) < 2:  # noqa: PLR2004 - a line has two points
        return None
    mean_x = sum(x for x, _ in points) / len(points)
    mean_y = sum(y for _, y in points) / len(points)
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / sum(
        (x - mean_x) ** 2 for x, _ in points
    )


def as_lines(found: Iterable[Growth]) -> Iterator[str]:
    """Yield a row of a table for each reader as soon as it is measured, then what is not linear."""
    yield "| | families | largest | s/MB | slowest | slope | steepest |"
    yield "|---|---|---|---|---|---|---|"
    steep: list[Growth] = []
    for reader, group in groupby(found, key=lambda each: each.reader):
        families = list(group)
        steepest = max(families, key=lambda each: each.slope or 0.0)
        slow = max(families, key=_rate)
        largest = max(max(each.seconds) for each in families)
        yield (
            f"| {reader} | {len(families)} | {largest / 1e6:.1f} MB | {_rate(slow):.2f} "
            f"| {_code(slow.family)} | {steepest.slope or 0:.2f} | {_code(steepest.family)} |"
        )
        steep += [each for each in families if (each.slope or 0) > LINEAR]
    for each in steep:
        times = ", ".join(f"{size:,}: {took:.2f} s" for size, took in each.seconds.items())
        yield f"above linear: {each.reader}, {each.family}: slope {each.slope:.2f} ({times})"


def _code(family: str) -> str:
    return f"`{family}`".replace("``", "` `") if set(family) & set("<{[`\\") else family


def _rate(each: Growth) -> float:
    size, took = list(each.seconds.items())[-1]
    return took / size * 1e6


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="parts of the names of readers; none for all")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--largest", type=int, default=LARGEST, help="bytes of the largest input")
    parser.add_argument("--floor", type=float, default=FLOOR, help="seconds that are counted")
    parser.add_argument("--seconds", type=float, default=MOST_SECONDS, help="most for one input")
    options = parser.parse_args()
    limits = Limits(options.largest, options.floor, options.seconds)
    names = options.names or [""]
    wanted = (task for task in tasks() if any(name in task.reader for name in names))
    found = (measure(task, limits) for task in wanted)
    if options.json:
        print(json.dumps([msgspec.to_builtins(each, str_keys=True) for each in found], indent=2))
        return
    for line in as_lines(found):
        print(line, flush=True)


if __name__ == "__main__":
    main()
