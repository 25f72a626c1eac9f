"""Two turns -> the fields in which they differ, and where in their text.

Fields are compared as the rules compare them, so that what is open shows no difference.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest
from typing import TypeAlias

import msgspec

from harness.judging.expectation import ALL_FIELDS, Field
from harness.reporting.visible import Piece, pieces
from harness.turns.turn import Turn

_Pair: TypeAlias = tuple[str, str | None, str | None]
Parts: TypeAlias = tuple[tuple[Piece, ...], tuple[Piece, ...], tuple[Piece, ...]]

_CONTEXT = 80
_ABSENT: Parts = ((), (Piece("absent", "nothing"),), ())


class Difference(msgspec.Struct, frozen=True):
    """One field that differs; each side is what comes before, the different part, what follows."""

    path: str
    expected: Parts
    actual: Parts


def differences(
    expected: Turn, actual: Turn, judged: Iterable[Field] = ALL_FIELDS
) -> tuple[Difference, ...]:
    """Return where `actual` is not what `expected` asks for, in reading order.

    Only `judged` fields count; of a call an empty expected id leaves the id open, and
    arguments are compared as JSON values, as the rules compare them.
    """
    return tuple(
        _difference(path, wanted, got)
        for field, pairs in _FIELDS.items()
        if field in judged
        for path, wanted, got in pairs(expected, actual)
    )


def _text(expected: Turn, actual: Turn) -> Iterator[_Pair]:
    if expected.text != actual.text:
        yield "text", expected.text, actual.text


def _reasoning(expected: Turn, actual: Turn) -> Iterator[_Pair]:
    if expected.reasoning != actual.reasoning:
        yield "reasoning", expected.reasoning, actual.reasoning


def _calls(expected: Turn, actual: Turn) -> Iterator[_Pair]:
    sides = zip_longest(expected.tool_calls, actual.tool_calls)
    for place, (wanted, got) in enumerate(sides):
        path = f"tool_calls[{place}]"
        yield from _part(path, "name", wanted, got)
        yield from _part(path, "id", wanted, got, open_if="")
        if not (wanted and got and _same_json(wanted.arguments, got.arguments)):
            yield from _part(path, "arguments", wanted, got)


def _rejected(expected: Turn, actual: Turn) -> Iterator[_Pair]:
    sides = zip_longest(expected.parse_errors, actual.parse_errors)
    for place, (wanted, got) in enumerate(sides):
        path = f"parse_errors[{place}]"
        yield from _part(path, "name", wanted, got, open_if="")
        yield from _part(path, "id", wanted, got, open_if="")
        yield from _part(path, "error", wanted, got, open_if="")
        if not (wanted and got and wanted.snippet in got.snippet):
            yield from _part(path, "snippet", wanted, got)


def _finish(expected: Turn, actual: Turn) -> Iterator[_Pair]:
    yield from _part("finish", "reason", expected.finish, actual.finish)


def _finish_raw(expected: Turn, actual: Turn) -> Iterator[_Pair]:
    yield from _part("finish", "raw", expected.finish, actual.finish, open_if="")


def _failure(expected: Turn, actual: Turn) -> Iterator[_Pair]:
    wanted, got = expected.failure, actual.failure
    yield from _part("failure", "code", wanted, got, open_if="*")
    if not (wanted and got and wanted.message in got.message):
        yield from _part("failure", "message", wanted, got)


def _usage(expected: Turn, actual: Turn) -> Iterator[_Pair]:
    yield from _part("usage", "input_tokens", expected.usage, actual.usage)
    yield from _part("usage", "output_tokens", expected.usage, actual.usage)


_FIELDS: dict[Field, Callable[[Turn, Turn], Iterator[_Pair]]] = {
    "text": _text,
    "reasoning": _reasoning,
    "calls": _calls,
    "rejected": _rejected,
    "finish": _finish,
    "finish_raw": _finish_raw,
    "failure": _failure,
    "usage": _usage,
}


def _part(
    path: str,
    name: str,
    expected: msgspec.Struct | None,
    actual: msgspec.Struct | None,
    open_if: str | None = None,
) -> Iterator[_Pair]:
    """Yield field `name` where it differs; `open_if` is the text that leaves it open.

    An open field of something that did not come out at all is a difference only where its
    text says that it must be there ("*").
    """
    wanted = None if expected is None else str(getattr(expected, name))
    got = None if actual is None else str(getattr(actual, name))
    is_open = open_if is not None and wanted == open_if and (got is not None or not open_if)
    if wanted != got and not is_open:
        yield f"{path}.{name}", wanted, got


def _same_json(one: str, other: str) -> bool:
    """Whether two texts are the same JSON value, key order and kinds of numbers included."""
    try:
        return json.dumps(json.loads(one)) == json.dumps(json.loads(other))
    except (ValueError, RecursionError):
        return False


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
