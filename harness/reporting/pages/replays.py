"""The table of replays: the first rows as HTML, and all results as columns for the script.

A column is the sorted list of its different values and one small number for each row, so that
sorting is by number and a filter tests each different value once. The columns are deflated and
in base64, which has no character that HTML could take for markup.
"""

import base64
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter
from typing import Any, Final, TypeAlias

import msgspec

from harness.judging.results import Outcome, Result
from harness.reporting.report import Report
from harness.reporting.words import unjudged_fields, worst_first

_Value: TypeAlias = str | int | tuple[str, ...]

MAX_LISTED: Final = 150
# Longer titles and names are shown cut: rows are for searching, and the run file has all text.
_LONGEST: Final = 200
_CODES: Final = ((0xFF, "B"), (0xFFFF, "H"), (0xFFFFFFFF, "I"))
_ALIGNED: Final = 4


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _success(result: Result) -> str:
    facts = result.conversation
    if facts is not None:
        return "yes" if facts.success else "no"
    if not result.turns:
        return ""
    return "yes" if all(turn.success for turn in result.turns) else "no"


def _failed_turns(result: Result) -> Iterator[tuple[str, str]]:
    """Yield blame and reason of each turn or conversation without success."""
    facts = (result.conversation,) if result.conversation is not None else result.turns
    yield from ((each.blame, _cut(each.why)) for each in facts if not each.success)


# The names are the fields of the filter, which docs/reference/report.md documents. Most of them
# are attributes of a result.
_NAMES: Final = (
    *("scenario", "normalizer", "outcome", "blame", "title", "cassette", "provider", "model"),
    *(
        "prompt",
        "dialect",
        "text",
        "origin",
        "kind",
        "success",
        "quirk",
        "rule",
        "unjudged",
        "cause",
    ),
    "replays",
)
_COLUMNS: Final[dict[str, Callable[[Result], _Value]]] = {
    **{name: attrgetter(name) for name in _NAMES},
    "outcome": lambda each: each.outcome.value,
    "title": lambda each: _cut(each.title),
    "provider": lambda each: _cut(each.provider),
    "model": lambda each: _cut(each.model),
    "prompt": lambda each: _cut(each.prompt),
    "cause": lambda each: _cut(each.cause),
    "text": attrgetter("text_dialect"),
    "success": _success,
    "failed": lambda each: tuple(sorted({blame for blame, _ in _failed_turns(each) if blame})),
    "parse_error": lambda each: tuple(
        sorted({turn.parse_error_blame for turn in each.turns if turn.parse_errors})
    ),
    "why": lambda each: tuple(sorted({why for _, why in _failed_turns(each)})),
    "quirk": attrgetter("quirks"),
    "unjudged": unjudged_fields,
    "rule": lambda each: tuple(sorted({finding.rule for finding in each.reported})),
}

_BADNESS: Final = {outcome.value: outcome.badness for outcome in Outcome}


class ReplaysView(msgspec.Struct, frozen=True):
    """The first cells, worst first, for readers without script; `rows` are all, for the script."""

    listed: tuple[Result, ...]
    rows: str
    total: int


def replays_page(report: Report) -> ReplaysView:
    """Return the rows of the table."""
    results = report.run.results
    listed = sorted(results, key=worst_first)[:MAX_LISTED]
    return ReplaysView(tuple(listed), rows(results), len(results))


def rows(results: Iterable[Result]) -> str:
    """Return `results`, in their order, as base64 of deflated columns.

    The bytes inside: the length of the head as 4 bytes, little-endian; the head, as JSON
    `{"count", "odd", "columns": [{"name", "values", "bytes"}]}`; then the codes of each column,
    `bytes` wide each; head and columns start at multiples of 4. `odd` has the ids of cells
    that are not SCENARIO/NORMALIZER, by row.
    """
    listed = tuple(results)
    heads: list[dict[str, Any]] = []
    codes: list[bytes] = []
    for name, value in _COLUMNS.items():
        head, coded = _column(name, [value(each) for each in listed])
        heads.append(head)
        codes.append(_padded(coded))
    odd = {
        place: each.cell
        for place, each in enumerate(listed)
        if each.cell != f"{each.scenario}/{each.normalizer}"
    }
    text = msgspec.json.encode({"count": len(listed), "odd": odd, "columns": heads})
    columns = b"".join((len(text).to_bytes(4, "little"), _padded(text), *codes))
    return base64.b64encode(zlib.compress(columns, 9)).decode()


def _column(name: str, values: list[_Value]) -> tuple[dict[str, Any], bytes]:
    different = sorted(set(values), key=_order(name))
    places = {value: place for place, value in enumerate(different)}
    kind = next(kind for most, kind in _CODES if len(different) <= most + 1)
    coded = array(kind, [places[value] for value in values])
    return {"name": name, "values": different, "bytes": coded.itemsize}, coded.tobytes()


def _order(name: str) -> Callable[[Any], Any]:
    return _BADNESS.__getitem__ if name == "outcome" else lambda value: value


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % _ALIGNED)
