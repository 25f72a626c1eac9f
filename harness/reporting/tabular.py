"""A run -> two CSV tables, of cells and of turns, that no spreadsheet takes for formulas."""

import csv
import io
from collections.abc import Iterable, Iterator

from harness.judging.results import Result, TurnFacts
from harness.reporting.visible import marked
from harness.runs.run import Run

_FORMULA = ("=", "+", "-", "@")
_CELL = (
    *("cell", "kind", "scenario", "normalizer", "outcome", "blame", "replays"),
    *("cassette", "provider", "model", "prompt", "dialect", "text_dialect", "origin"),
)
_TURN = (
    *("interaction", "success", "why", "blame", "calls", "parse_errors", "parse_error_blame"),
    *("finish", "failure", "digest", "asked"),
)


def results_csv(run: Run) -> str:
    """Return a line for each cell; `rules` are those that it broke, `quirks` its scenario's."""
    head = (*_CELL, "rules", "quirks")
    return _table(head, (_result(result) for result in run.results))


def turns_csv(run: Run) -> str:
    """Return a line for each turn of each cell."""
    turns = ((result, turn) for result in run.results for turn in result.turns)
    return _table(("cell", *_TURN), (_turn(result, turn) for result, turn in turns))


def _result(result: Result) -> Iterator[object]:
    yield from (getattr(result, name) for name in _CELL)
    yield " ".join(dict.fromkeys(finding.rule for finding in result.findings))
    yield " ".join(result.quirks)


def _turn(result: Result, turn: TurnFacts) -> Iterator[object]:
    yield result.cell
    yield from (getattr(turn, name) for name in _TURN)


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(map(_safe, row) for row in rows)
    return out.getvalue()


def _safe(value: object) -> str:
    """Return `value` as text; what a spreadsheet would compute begins with an apostrophe."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    said = marked(str(value))
    return f"'{said}" if said.startswith(_FORMULA) else said
