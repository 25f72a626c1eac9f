"""How time and memory of `import`, `run`, `lint` and `report` grow with the size of a recording.

    python -m benchmarks.slopes [--json] [--small BYTES] [--times N] [--command NAME] [SHAPE ...]

Each shape is a recording with one kind of content, at two sizes. Each command runs in a process of
its own; its processor time and its peak of memory, above those of a process that does nothing, give
the exponent of the growth: 1 is linear, 2 is the square. What stays below a floor is `flat`, since
most of it is not due to the size. The exit code is 1 if an exponent is above 1.15.
"""

import argparse
import json
import math
import os
import resource
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from harness.cli import cli
from harness.dialects.table import DIALECTS
from harness.text_calls import TEXT_DIALECTS
from harness.text_calls.dialect import WrittenCall
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
)

SMALL: Final = 100_000
TIMES: Final = 4
MOST: Final = 1.15
# Below these, most is due to the start of a command: seconds and bytes.
FLOOR: Final = (0.15, 8_000_000)
COMMANDS: Final = ("import", "run", "lint", "report")
_PATHS: Final = {
    "openai-chat": "api.openai.com/v1/chat/completions",
    "anthropic": "api.anthropic.com/v1/messages",
    "openai-responses": "api.openai.com/v1/responses",
    "gemini": "generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse",
    "ollama": "localhost:11434/api/chat",
    "mistral": "api.mistral.ai/v1/chat/completions",
    "cohere": "api.cohere.com/v2/chat",
}
# Request and response of one interaction.
Exchange = tuple[dict[str, Any], bytes]
Shape = Callable[[int], list[Exchange]]


class Recording(msgspec.Struct, frozen=True):
    """One kind of content: the API, and what makes the interactions of a size."""

    dialect: str
    make: Shape


def _asked(**more: object) -> dict[str, Any]:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    tool = {"type": "function", "function": {"name": "f", "parameters": schema}}
    messages = [{"role": "user", "content": "hi"}]
    return {"model": "m", "stream": True, "messages": messages, "tools": [tool], **more}


def _streams(unit: Callable[[int], list[Delta]], dialect: str = "openai-chat") -> Recording:
    """Return a recording of one stream, with as many units as its size needs."""
    write = DIALECTS[dialect].write
    size_of_ten = len(b"".join(write([it for n in range(10) for it in unit(n)])))

    def make(size: int) -> list[Exchange]:
        count = max(1, size * 10 // size_of_ten)
        is_calls = isinstance(unit(0)[0], ToolCallStart)
        reason, raw = (
            (FinishReason.TOOL_CALLS, "tool_calls") if is_calls else (FinishReason.STOP, "stop")
        )
        deltas = [it for n in range(count) for it in unit(n)]
        return [(_asked(), b"".join(write([*deltas, Finish(reason, raw)])))]

    return Recording(dialect, make)


def _texts(text: str, dialect: str = "openai-chat") -> Recording:
    return _streams(lambda _: [TextDelta(text)], dialect)


def _one_text(unit: str) -> Recording:
    """Return a recording of one event with a long text."""
    write = DIALECTS["openai-chat"].write

    def make(size: int) -> list[Exchange]:
        text = unit * (size // len(json.dumps(unit)) + 1)
        return [(_asked(), b"".join(write([TextDelta(text), Finish(FinishReason.STOP, "stop")])))]

    return Recording("openai-chat", make)


def _one_call(pieces: Callable[[int], Iterable[str]]) -> Recording:
    """Return a recording of one call, whose arguments come in pieces."""
    write = DIALECTS["openai-chat"].write

    def make(size: int) -> list[Exchange]:
        parts = [ArgumentsDelta(0, piece) for piece in pieces(size)]
        call = [ToolCallStart(0, "c", "f"), *parts, ToolCallEnd(0)]
        end = Finish(FinishReason.TOOL_CALLS, "tool_calls")
        return [(_asked(), b"".join(write([*call, end])))]

    return Recording("openai-chat", make)


def _between(line: bytes) -> Recording:
    """Return a recording of a short stream with lines before its end."""
    text = b"".join(DIALECTS["openai-chat"].write([TextDelta("a")]))
    end = b"".join(DIALECTS["openai-chat"].write([Finish(FinishReason.STOP, "stop")]))
    return Recording(
        "openai-chat", lambda size: [(_asked(), text + line * (size // len(line)) + end)]
    )


def _requests(more: Callable[[int], dict[str, Any]]) -> Recording:
    """Return a recording whose request is long."""
    write = DIALECTS["openai-chat"].write
    body = b"".join(write([TextDelta("a"), Finish(FinishReason.STOP, "stop")]))
    return Recording("openai-chat", lambda size: [(_asked(**more(size)), body)])


def _many(size_of_one: int) -> Recording:
    """Return a recording of many interactions."""
    one = _texts("word ").make

    def make(size: int) -> list[Exchange]:
        return [
            (_asked(messages=[{"role": "user", "content": f"question {n}"}]), body)
            for n in range(max(1, size // size_of_one))
            for _, body in one(size_of_one)
        ]

    return Recording("openai-chat", make)


def _call(number: int) -> list[Delta]:
    return [
        ToolCallStart(number, f"c{number}", "f"),
        ArgumentsDelta(number, '{"a": "b"}'),
        ToolCallEnd(number),
    ]


_TEXT_CALL: Final = TEXT_DIALECTS["json-tags"].write([WrittenCall("f", '{"a": "b"}', "c")])
SHAPES: Final[dict[str, Recording]] = {
    "text": _texts("word "),
    "one text": _one_text("word "),
    "one text of escapes": _one_text('\\"\n'),
    "one text of emoji": _one_text("\U0001f600"),
    "one text of braces": _one_text("{"),
    "one text of names": _one_text("token: "),
    "one text of fences": _one_text("```json\n"),
    "reasoning": _streams(lambda _: [ReasoningDelta("why ")]),
    "calls": _streams(_call),
    "arguments in pieces": _one_call(lambda size: ['{"a": "', *["b"] * (size // 150), '"}']),
    "one long argument": _one_call(lambda size: [json.dumps({"a": "b" * size})]),
    "deep arguments": _one_call(lambda size: ["[" * (size // 4), "]" * (size // 4)]),
    "many members": _one_call(lambda size: [json.dumps({f"k{n}": "b" for n in range(size // 14)})]),
    "text calls": _texts(f"{_TEXT_CALL}\n"),
    "half text calls": _texts(_TEXT_CALL[: len(_TEXT_CALL) // 2]),
    "comments": _between(b": ping\n\n"),
    "empty data": _between(b"data:\n\n"),
    "long messages": _requests(
        lambda size: {"messages": [{"role": "user", "content": "word " * (size // 5)}]}
    ),
    "many messages": _requests(
        lambda size: {
            "messages": [
                {"role": ("user", "assistant")[n % 2], "content": f"word {n}"}
                for n in range(1 + size // 45 // 2 * 2)
            ]
        }
    ),
    "many tools": _requests(
        lambda size: {
            "tools": [
                {
                    "type": "function",
                    "function": {"name": f"f{n}", "parameters": {"type": "object"}},
                }
                for n in range(size // 80)
            ]
        }
    ),
    "many interactions": _many(2_000),
    "anthropic": _texts("word ", "anthropic"),
    "responses": _texts("word ", "openai-responses"),
    "gemini": _texts("word ", "gemini"),
    "ollama": _texts("word ", "ollama"),
}


def write_recording(recording: Recording, size: int, path: Path) -> int:
    """Write a HAR file, and return the number of bytes of its requests and responses."""
    exchanges = recording.make(size)
    entries = [
        {
            "request": {
                "method": "POST",
                "url": f"https://{_PATHS[recording.dialect]}",
                "headers": [{"name": "content-type", "value": "application/json"}],
                "postData": {"mimeType": "application/json", "text": json.dumps(asked)},
            },
            "response": {
                "status": 200,
                "headers": [
                    {"name": "content-type", "value": DIALECTS[recording.dialect].content_type}
                ],
                "content": {"text": body.decode()},
            },
        }
        for asked, body in exchanges
    ]
    path.write_text(json.dumps({"log": {"entries": entries}}), encoding="utf-8")
    return sum(len(json.dumps(asked)) + len(body) for asked, body in exchanges)


def cost_of(arguments: list[str]) -> tuple[float, int]:
    """Run a command in a child process, and return its seconds and its peak of memory in bytes."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        try:
            if arguments:
                cli.main(arguments, standalone_mode=False)
        finally:
            os._exit(0)
    _, _, used = os.wait4(child, 0)
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


class Growth(msgspec.Struct):
    """The costs of one command on one shape: bytes, seconds and memory at both sizes."""

    shape: str
    command: str
    sizes: tuple[int, int]
    seconds: tuple[float, float]
    memory: tuple[int, int]
    exponents: tuple[float | None, float | None]


def exponent(sizes: tuple[int, int], costs: tuple[float, float], floor: float) -> float | None:
    """Return the exponent of the growth from one size to another; None if both costs are small."""
    small, large = costs
    if large < floor:
        return None
    return math.log(large / max(small, floor / TIMES)) / math.log(sizes[1] / sizes[0])


def measure(name: str, small: int, times: int, commands: Iterable[str]) -> Iterator[Growth]:
    """Yield the growth of each command on one shape."""
    nothing = cost_of([])
    with tempfile.TemporaryDirectory(prefix="slopes-") as place:
        runs = []
        for size in (small, small * times):
            folder = Path(place) / str(size)
            folder.mkdir()
            bytes_ = write_recording(SHAPES[name], size, folder / "a.har")
            runs.append((bytes_, _costs(folder, nothing)))
        (size_1, first), (size_2, second) = runs
        for command in commands:
            seconds = (first[command][0], second[command][0])
            memory = (first[command][1], second[command][1])
            sizes = (size_1, size_2)
            yield Growth(
                name, command, sizes, seconds, memory,
                (exponent(sizes, seconds, FLOOR[0]), exponent(sizes, memory, FLOOR[1])),
            )  # fmt: skip


def _costs(folder: Path, nothing: tuple[float, int]) -> dict[str, tuple[float, int]]:
    """Return what each command costs above a process that does nothing."""
    imported, out = str(folder / "cassettes"), str(folder / "out")
    arguments = {
        "import": ["import", str(folder / "a.har"), "-o", imported],
        "run": [
            "run",
            imported,
            "-n",
            "reference",
            "--cuts",
            "whole",
            "--no-report",
            "-o",
            out,
            "-j",
            "1",
        ],
        "lint": ["lint", imported],
        "report": ["report", f"{out}/run.jsonl", "-o", out],
    }
    found = {}
    for command, given in arguments.items():
        seconds, memory = cost_of(given)
        found[command] = (max(seconds - nothing[0], 0.0), max(memory - nothing[1], 0))
    return found


def _shown(value: float | None) -> str:
    return "flat" if value is None else f"{value:.2f}"


def main() -> int:
    """Measure and print; return 1 if an exponent is too large."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("shapes", nargs="*", help="names of shapes; none for all")
    parser.add_argument("--json", action="store_true", help="print one JSON object a line")
    parser.add_argument("--small", type=int, default=SMALL, help="bytes of the smaller recording")
    parser.add_argument("--times", type=int, default=TIMES, help="how much larger the other is")
    parser.add_argument("--command", action="append", choices=COMMANDS)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not options.json:
        print("| shape | command | bytes | seconds | MB | time | memory |")
        print("|---|---|---|---|---|---|---|")
    worst = 0.0
    for name in options.shapes or SHAPES:
        for it in measure(name, options.small, options.times, options.command or COMMANDS):
            worst = max([worst, *(each for each in it.exponents if each is not None)])
            if options.json:
                print(json.dumps(msgspec.to_builtins(it)), flush=True)
                continue
            print(
                f"| {name} | {it.command} | {it.sizes[0]:,} to {it.sizes[1]:,} "
                f"| {it.seconds[0]:.2f} to {it.seconds[1]:.2f} "
                f"| {it.memory[0] / 1e6:.0f} to {it.memory[1] / 1e6:.0f} "
                f"| {_shown(it.exponents[0])} | {_shown(it.exponents[1])} |",
                flush=True,
            )
    return int(worst > MOST)


if __name__ == "__main__":
    sys.exit(main())
