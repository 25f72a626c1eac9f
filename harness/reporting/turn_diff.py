"""Two turns -> the fields in which they differ, and where in their text.

Fields are compared by value under readable paths; nothing is normalised first.
"""

from collections.abc import Iterator
from typing import TypeAlias

import msgspec

from harness.reporting.visible import Piece, pieces
from harness.turns.turn import Turn

Parts: TypeAlias = tuple[tuple[Piece, ...], tuple[Piece, ...], tuple[Piece, ...]]

_CONTEXT = 80
_ABSENT: Parts = ((), (Piece("gap", "nothing"),), ())



class Difference(msgspec.Struct, frozen=True):
    """One field that differs; each side is what comes before, the different part, what follows."""

    path: str
    expected: Parts
    actual: Parts


def differences(expected: Turn, actual: Turn) -> tuple[Difference, ...]:
    """Return the fields of `expected` and `actual` that are not equal, in reading order."""
    wanted, got = dict(_fields(expected)), dict(_fields(actual))
    paths = dict.fromkeys((*wanted, *got))
    return tuple(
        _difference(path, wanted.get(path), got.get(path))
        for path in paths
        if wanted.get(path) != got.get(path)
    )


def _fields(turn: Turn) -> Iterator[tuple[str, str]]:
    yield "text", turn.text
    yield "reasoning", turn.reasoning
    for place, call in enumerate(turn.tool_calls):
        yield f"tool_calls[{place}].name", call.name
        yield f"tool_calls[{place}].id", call.id
        yield f"tool_calls[{place}].arguments", call.arguments
    for place, error in enumerate(turn.parse_errors):
        yield f"parse_errors[{place}].name", error.name
        yield f"parse_errors[{place}].error", error.error
        yield f"parse_errors[{place}].snippet", error.snippet
    if turn.finish is not None:
        yield "finish", f"{turn.finish.reason} (raw {turn.finish.raw!r})"
    if turn.failure is not None:
        yield "failure", f"{turn.failure.code}: {turn.failure.message}"
    if turn.usage is not None:
        yield "usage", f"{turn.usage.input_tokens} in, {turn.usage.output_tokens} out"


def _difference(path: str, expected: str | None, actual: str | None) -> Difference:
    if expected is None or actual is None:
        return Difference(path, _all_of(expected), _all_of(actual))
    shortest = min(len(expected), len(actual))
    head = next((i for i in range(shortest) if expected[i] != actual[i]), shortest)
    tail = 0
    while tail < shortest - head and expected[-1 - tail] == actual[-1 - tail]:
        tail += 1
    return Difference(path, _three(expected, head, tail), _three(actual, head, tail))


def _all_of(text: str | None) -> Parts:
    return _ABSENT if text is None else ((), pieces(text, limit=600), ())


def _three(text: str, head: int, tail: int) -> Parts:
    end = len(text) - tail
    before, after = text[:head], text[end:]
    if len(before) > _CONTEXT:
        before = "…" + before[-_CONTEXT:]
    if len(after) > _CONTEXT:
        after = after[:_CONTEXT] + "…"
    return pieces(before), pieces(text[head:end], limit=600), pieces(after)
