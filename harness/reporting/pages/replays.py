"""Compute the table of replays: the first rows as HTML, and all rows as data for the script.

A column is a sorted list of its different values, and for each row the index of its value. So the
script sorts numbers, and a filter tests each different value once. The columns are compressed
(deflate) and in base64, because its characters need no escapes in HTML.
"""

import base64
import zlib
from array import array
from collections.abc import Callable, Iterable, Sequence
from heapq import nsmallest
from typing import Any, Final

import msgspec

from harness.reporting.cell_index import COLUMNS, Value
from harness.reporting.report import Report
from harness.reporting.words import worst_first
from harness.results.outcome import Outcome
from harness.results.result import Result

MAX_LISTED: Final = 150
# Of a larger run, the page has only the cells that fail or have a turn that failed, the worst
# first; so too if the names of the cells take more characters than a page should have.
MAX_ROWS: Final = 250_000
MAX_PACKED: Final = 1_000_000
_ALL_CELLS: Final = (
    'harness query "SELECT cell, outcome FROM results ORDER BY cell" RUN --format csv'
)
_CODES: Final = ((0xFF, "B"), (0xFFFF, "H"), (0xFFFFFFFF, "I"))
_ALIGNED: Final = 4


_BADNESS: Final = {outcome.value: outcome.badness for outcome in Outcome}


class ReplaysView(msgspec.Struct, frozen=True):
    """The data of the table: the first cells for readers without a script, and all rows.

    Fields:
        listed: the first cells, worst first.
        rows: all cells, or only the cells that failed, encoded for the script.
        left_out: the number of cells without a row on the page.
        command: prints all cells of the run.
    """

    listed: tuple[Result, ...]
    rows: str
    total: int
    left_out: int = 0
    command: str = _ALL_CELLS


def replays_page(report: Report) -> ReplaysView:
    """Return the data of the table of replays."""
    results = report.run.results
    listed = nsmallest(MAX_LISTED, results, key=worst_first)
    shown = results if len(results) <= MAX_ROWS else _failed(results)
    packed = rows(shown, len(results))
    while len(packed) > MAX_PACKED and len(shown) > MAX_LISTED:
        shown = _failed(results) if len(shown) == len(results) else shown[: len(shown) // 2]
        packed = rows(shown, len(results))
    return ReplaysView(tuple(listed), packed, len(results), len(results) - len(shown))


def _failed(results: Sequence[Result]) -> tuple[Result, ...]:
    """Return the cells that fail or have a turn that failed, at most `MAX_ROWS`, worst first."""
    success = COLUMNS["success"]
    failed = [each for each in results if each.outcome.fails or success(each) == "no"]
    most = min(MAX_ROWS, len(results) - 1)
    return tuple(sorted(failed, key=worst_first)[:most])


def rows(results: Iterable[Result], total: int = 0) -> str:
    """Return the columns of `results`, in their order, compressed and in base64.

    The bytes inside: the length of the head as 4 bytes, little-endian; the head, as JSON `{"count",
    "total", "odd", "columns": [{"name", "values", "bytes"}]}`; then the codes of each column,
    `bytes` wide each; head and columns start at multiples of 4. `odd` has the ids of cells that are
    not SCENARIO/NORMALIZER, by row.

    Args:
        results: the rows.
        total: number of cells of the run, if it has more.
    """
    listed = tuple(results)
    heads: list[dict[str, Any]] = []
    codes: list[bytes] = []
    for name, value in COLUMNS.items():
        head, coded = _column(name, [value(each) for each in listed])
        heads.append(head)
        codes.append(_padded(coded))
    odd = {
        place: each.cell
        for place, each in enumerate(listed)
        if each.cell != f"{each.scenario}/{each.normalizer}"
    }
    text = msgspec.json.encode(
        {"count": len(listed), "total": max(total, len(listed)), "odd": odd, "columns": heads}
    )
    columns = b"".join((len(text).to_bytes(4, "little"), _padded(text), *codes))
    return base64.b64encode(zlib.compress(columns, 9)).decode()


def _column(name: str, values: list[Value]) -> tuple[dict[str, Any], bytes]:
    different = sorted(set(values), key=_order(name))
    places = {value: place for place, value in enumerate(different)}
    kind = next(kind for most, kind in _CODES if len(different) <= most + 1)
    coded = array(kind, [places[value] for value in values])
    return {"name": name, "values": different, "bytes": coded.itemsize}, coded.tobytes()


def _order(name: str) -> Callable[[Any], Any]:
    return _BADNESS.__getitem__ if name == "outcome" else lambda value: value


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % _ALIGNED)
