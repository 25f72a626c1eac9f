"""Compare two turns as rows of a table: the expected and the actual value of each part.

Turns are compared as the rules compare them, so a field that is not judged shows no difference. A
long value is shown from shortly before its first difference.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import groupby, zip_longest
from typing import Final, TypeAlias

import msgspec

from harness.reporting.visible import Piece, pieces
from harness.results.expectation import ALL_FIELDS, Field
from harness.turns.turn import Turn

_Pair: TypeAlias = tuple[str, str | None, str | None]
Pieces: TypeAlias = tuple[Piece, ...]

_ABSENT: Final = (Piece("absent", "nothing"),)
_WHOLE: Final = 800
_BEFORE: Final = 120
_FIELD: Final = 2_000


class Difference(msgspec.Struct, frozen=True):
    """A field that differs between the expected and the actual turn; None is a missing value."""

    path: str
    expected: str | None
    actual: str | None


class PartRow(msgspec.Struct, frozen=True):
    """A row for one part of a turn, such as a call.

    Fields:
        label: `text`, or a path such as `tool_calls[0].arguments`.
        expected, actual: the values of a field that differs; both empty for equal parts.
        same: name and content of the fields of a part that are as expected.
        note: a note about long values, and fields that are not judged.
    """

    label: str
    expected: Pieces = ()
    actual: Pieces = ()
    same: tuple[tuple[str, Pieces], ...] = ()
    note: str = ""


def differences(
    expected: Turn, actual: Turn, judged: Iterable[Field] = ALL_FIELDS
) -> tuple[Difference, ...]:
    """Return the fields in which `actual` differs from `expected`, in reading order.

    Only `judged` fields count. An empty expected id of a call allows any id, and arguments are
    compared as JSON values.
    """
    return tuple(
        Difference(path, want, got)
        for field, pairs in _FIELDS.items()
        if field in judged
        for path, want, got in pairs(expected, actual)
    )


def part_rows(
    expected: Turn | None, actual: Turn, judged: Collection[Field] = ALL_FIELDS
) -> tuple[PartRow, ...]:
    """Return rows for all parts of `actual`, with the expected value of each field that differs.

    If `expected` is None, no field differs.
    """
    found = differences(expected, actual, judged) if expected else ()
    parts = {part: list(rows) for part, rows in _different_parts(found)}
    different = {each.path for each in found}
    for part, fields in _contents(actual, judged).items():
        same = tuple(
            (name, pieces(text, limit=_FIELD))
            for name, text in fields
            if text and f"{part}.{name}".rstrip(".") not in different
        )
        note = "" if _field_of(part) in judged else "not judged"
        parts.setdefault(part, []).extend([PartRow(part, same=same, note=note)] if same else [])
    return tuple(row for part in sorted(parts, key=_order) for row in parts[part])


def difference_rows(found: Iterable[Difference]) -> tuple[PartRow, ...]:
    """Return a row for each field that differs."""
    return tuple(row for _, rows in _different_parts(found) for row in rows)


def _different_parts(found: Iterable[Difference]) -> Iterator[tuple[str, Iterator[PartRow]]]:
    """Yield each part that differs, with its rows; one row if it is entirely missing or extra."""
    for part, fields in groupby(found, lambda each: each.path.partition(".")[0]):
        each = [*fields]
        missing = all(it.actual is None for it in each)
        if len(each) > 1 and (missing or all(it.expected is None for it in each)):
            texts = (it.expected if missing else it.actual for it in each)
            text = "  ".join(filter(None, texts))
            whole = Difference(part, *((text, None) if missing else (None, text)))
            yield part, iter([_difference_row(whole)])
        else:
            yield part, map(_difference_row, each)


def _difference_row(each: Difference) -> PartRow:
    at = _first_difference(each.expected or "", each.actual or "")
    longest = max(len(each.expected or ""), len(each.actual or ""))
    return PartRow(
        each.path,
        _value(each.expected, at),
        _value(each.actual, at),
        note=f"differs from character {at:,}" if longest > _BEFORE else "",
    )


def _first_difference(one: str, other: str) -> int:
    shortest = min(len(one), len(other))
    return next((at for at in range(shortest) if one[at] != other[at]), shortest)


def _value(text: str | None, at: int) -> Pieces:
    if text is None:
        return _ABSENT
    start = max(0, at - _BEFORE) if len(text) > _WHOLE else 0
    before = (Piece("gap", f"{start:,} characters before"),) if start else ()
    return (*before, *pieces(text[start:], limit=_WHOLE))


_PARTS: Final = ("reasoning", "text", "tool_calls", "parse_errors", "finish", "failure", "usage")
_JUDGED_AS: Final[dict[str, Field]] = {"tool_calls": "calls", "parse_errors": "rejected"}


def _order(part: str) -> tuple[int, int]:
    name, _, index = part.partition("[")
    return _PARTS.index(name), int(index.rstrip("]") or 0)


def _field_of(part: str) -> str:
    name = part.partition("[")[0]
    return _JUDGED_AS.get(name, name)


def _contents(turn: Turn, judged: Collection[Field]) -> dict[str, list[tuple[str, str]]]:
    """Return part of the turn -> the names and texts of its fields."""
    found: dict[str, list[tuple[str, str]]] = {
        "reasoning": [("", turn.reasoning)],
        "text": [("", turn.text)],
    }
    for index, call in enumerate(turn.tool_calls):
        fields = [("name", call.name), ("id", call.id), ("arguments", call.arguments)]
        found[f"tool_calls[{index}]"] = fields
    for index, error in enumerate(turn.parse_errors):
        found[f"parse_errors[{index}]"] = [
            (name, getattr(error, name)) for name in ("name", "id", "error", "snippet")
        ]
    if turn.finish:
        found["finish"] = [("reason", str(turn.finish.reason)), ("raw", turn.finish.raw)]
    if turn.failure:
        found["failure"] = [("code", turn.failure.code), ("message", turn.failure.message)]
    if turn.usage and "usage" in judged:
        names = ("input_tokens", "output_tokens")
        found["usage"] = [(name, str(getattr(turn.usage, name))) for name in names]
    return found


def _calls(expected: Turn, actual: Turn) -> Iterator[_Pair]:
    sides = zip_longest(expected.tool_calls, actual.tool_calls)
    for index, (want, got) in enumerate(sides):
        path = f"tool_calls[{index}]"
        yield from _part(path, "name", want, got)
        yield from _part(path, "id", want, got, open_if="")
        if not (want and got and _same_json(want.arguments, got.arguments)):
            yield from _part(path, "arguments", want, got)


def _rejected(expected: Turn, actual: Turn) -> Iterator[_Pair]:
    sides = zip_longest(expected.parse_errors, actual.parse_errors)
    for index, (want, got) in enumerate(sides):
        path = f"parse_errors[{index}]"
        for name in ("name", "id", "error"):
            yield from _part(path, name, want, got, open_if="")
        if not (want and got and want.snippet in got.snippet):
            yield from _part(path, "snippet", want, got)


def _failure(expected: Turn, actual: Turn) -> Iterator[_Pair]:
    want, got = expected.failure, actual.failure
    yield from _part("failure", "code", want, got, open_if="*")
    if not (want and got and want.message in got.message):
        yield from _part("failure", "message", want, got)


def _usage(expected: Turn, actual: Turn) -> Iterator[_Pair]:
    for name in ("input_tokens", "output_tokens"):
        yield from _part("usage", name, expected.usage, actual.usage)


def _turn_text(name: str) -> Callable[[Turn, Turn], Iterator[_Pair]]:
    """Return a function that compares one field of the turn itself."""

    def compare(expected: Turn, actual: Turn) -> Iterator[_Pair]:
        want, got = getattr(expected, name), getattr(actual, name)
        if want != got:
            yield name, want, got

    return compare


_FIELDS: dict[Field, Callable[[Turn, Turn], Iterator[_Pair]]] = {
    "text": _turn_text("text"),
    "reasoning": _turn_text("reasoning"),
    "calls": _calls,
    "rejected": _rejected,
    "finish": lambda want, got: _part("finish", "reason", want.finish, got.finish),
    "finish_raw": lambda want, got: _part("finish", "raw", want.finish, got.finish, open_if=""),
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
    """Yield the path and both texts of field `name` of a part of a turn, if the texts differ.

    If the expected text is `open_if`, any actual text is allowed. If the actual object is missing,
    such a field differs only if its text requires a value ("*").
    """
    want = None if expected is None else str(getattr(expected, name))
    got = None if actual is None else str(getattr(actual, name))
    is_open = open_if is not None and want == open_if and (got is not None or not open_if)
    if want != got and not is_open:
        yield f"{path}.{name}", want, got


def _same_json(one: str, other: str) -> bool:
    """Whether two texts are the same JSON value, including key order and kinds of numbers."""
    try:
        return json.dumps(json.loads(one)) == json.dumps(json.loads(other))
    except (ValueError, RecursionError):
        return False
