"""Compare two turns as rows of a table: the expected and the actual value of each part.

Turns are compared as the rules compare them, so a field that is not judged shows no difference. A
long value is shown from shortly before its first difference.
"""

import json
from collections.abc import Collection, Iterable, Iterator
from itertools import groupby
from typing import Final, Literal, TypeAlias

import msgspec

from harness.reporting.visible import Piece, pieces
from harness.results.expectation import ALL_FIELDS, Field
from harness.turns.turn import Turn

Pieces: TypeAlias = tuple[Piece, ...]
# Which values equal the expected one: the same text; any if "" is expected, or any that is there if
# "*" is; the same JSON value, including key order and kinds of numbers; a text that contains it.
_Equal: TypeAlias = Literal["same", "open", "any", "json", "contains"]

_ABSENT: Final = (Piece("absent", "nothing"),)
_WHOLE: Final = 800
_BEFORE: Final = 120
_FIELD: Final = 2_000
# In reading order, by the field that is judged: a part of a turn, and the fields of that part.
_FIELDS: Final[dict[Field, tuple[str, dict[str, _Equal]]]] = {
    "reasoning": ("reasoning", {"": "same"}),
    "text": ("text", {"": "same"}),
    "calls": ("tool_calls", {"name": "same", "id": "open", "arguments": "json"}),
    "rejected": (
        "parse_errors",
        {"name": "open", "id": "open", "error": "open", "snippet": "contains"},
    ),
    "finish": ("finish", {"reason": "same"}),
    "finish_raw": ("finish", {"raw": "open"}),
    "failure": ("failure", {"code": "any", "message": "contains"}),
    "usage": ("usage", {"input_tokens": "same", "output_tokens": "same"}),
}
_PARTS: Final = tuple(dict.fromkeys(part for part, _ in _FIELDS.values()))
_JUDGED_AS: Final = {part: field for field, (part, _) in reversed(_FIELDS.items())}


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
        for field, (part, names) in _FIELDS.items()
        if field in judged
        for path, want, got in _pairs(part, names, expected, actual)
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
        note = "" if _JUDGED_AS[part.partition("[")[0]] in judged else "not judged"
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


def _order(part: str) -> tuple[int, int]:
    name, _, index = part.partition("[")
    return _PARTS.index(name), int(index.rstrip("]") or 0)


def _parts(turn: Turn, name: str) -> dict[str, object]:
    """Return path -> value of one part of `turn`, or of each item if the part is a list."""
    value = getattr(turn, name)
    if isinstance(value, tuple):
        return {f"{name}[{index}]": each for index, each in enumerate(value)}
    return {} if value is None else {name: value}


def _text(value: object, name: str) -> str | None:
    return None if value is None else str(getattr(value, name) if name else value)


def _contents(turn: Turn, judged: Collection[Field]) -> dict[str, list[tuple[str, str]]]:
    """Return part of the turn -> the names and texts of its fields."""
    found: dict[str, list[tuple[str, str]]] = {}
    for field, (part, names) in _FIELDS.items():
        parts = {} if field == "usage" and field not in judged else _parts(turn, part)
        for path, value in parts.items():
            found.setdefault(path, []).extend((name, _text(value, name) or "") for name in names)
    return found


def _pairs(
    part: str, names: dict[str, _Equal], expected: Turn, actual: Turn
) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield the path and both texts of each field of a part that differs."""
    wanted, given = _parts(expected, part), _parts(actual, part)
    for path in wanted | given:
        for name, equal in names.items():
            want, got = _text(wanted.get(path), name), _text(given.get(path), name)
            if want != got and not _are_equal(want, got, equal):
                yield f"{path}.{name}".rstrip("."), want, got


def _are_equal(want: str | None, got: str | None, equal: _Equal) -> bool:
    if equal == "open" or want is None or got is None:
        return equal == "open" and want == ""
    if equal == "json":
        return _same_json(want, got)
    return want in got if equal == "contains" else equal == "any" and want == "*"


def _same_json(one: str, other: str) -> bool:
    try:
        return json.dumps(json.loads(one)) == json.dumps(json.loads(other))
    except (ValueError, RecursionError):
        return False
