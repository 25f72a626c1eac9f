"""Read and apply `expectations.toml`: accepted failures, each with a reason.

An entry is `stale` if a cell passes unexpectedly, if it has expired, or if it matches no cell. A
stale entry fails the run. The caller passes the date, because nothing here reads a clock.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import date
from fnmatch import translate
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec

from harness.errors import UnreadableError
from harness.files.load import load_toml_file
from harness.files.typed import File, Text, convert
from harness.results.result import Result
from harness.results.run import Run

MAX_BYTES = 1 << 20

StaleKind = Literal["unexpected_pass", "expired", "matches_nothing"]


class AcceptedFailure(File, frozen=True, omit_defaults=True):
    """One entry of `expectations.toml`: which cells may fail, and why.

    Fields:
        id: a glob pattern for ids of scenarios, such as `dashscope/*`.
        normalizer: a glob pattern for names of normalizers and agents.
        expect: `fail` (each cell must fail), `flaky` (may fail) or `skip` (does not run).
        reason: why the failure is accepted.
        issue: URL of the issue about the failure; "" for none.
        expires: the last day on which the entry applies; None for no end.
    """

    id: Text
    normalizer: Text
    expect: Literal["fail", "flaky", "skip"]
    reason: Text
    issue: str = ""
    expires: date | None = None

    def names(self, scenario: str, normalizer: str) -> bool:
        """Return whether the patterns of the entry match a cell."""
        return bool(_glob(self.id)(scenario) and _glob(self.normalizer)(normalizer))

    def holds(self, today: date) -> bool:
        """Return whether the entry has not expired at the date `today`."""
        return self.expires is None or today <= self.expires


class ExpectationsFile(File, frozen=True):
    """The content of the file: tables `[[expectation]]`. The first that matches a cell applies."""

    expectation: tuple[AcceptedFailure, ...] = ()


class ExistingNames(msgspec.Struct, frozen=True):
    """Names that exist: ids of scenarios and cassettes, and names of normalizers and agents."""

    scenarios: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()


class AcceptedCell(msgspec.Struct, frozen=True):
    """A cell that may fail, so that gate rules do not count it, and the reason."""

    cell: str
    expect: Literal["fail", "flaky", "skip", "baseline"]
    reason: str


class StaleEntry(msgspec.Struct, frozen=True):
    """An entry that is no longer true, why, and the ids of the cells that show it."""

    kind: StaleKind
    entry: AcceptedFailure
    cells: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """The problem in one line of text."""
        name = f"stale expectation {self.entry.id} x {self.entry.normalizer}"
        match self.kind:
            case "unexpected_pass":
                return f"{name}: {self.cells[0]} conforms; remove the entry or narrow it"
            case "expired":
                return f"{name}: expired on {self.entry.expires}"
            case "matches_nothing":
                return f"{name}: matches no cell"


class AppliedEntries(msgspec.Struct, frozen=True):
    """The accepted cells of a run, and the entries that are no longer true."""

    excused: tuple[AcceptedCell, ...]
    stale: tuple[StaleEntry, ...]


def read_expectations(path: Path) -> tuple[AcceptedFailure, ...]:
    """Read the entries of the file at `path`.

    Raises:
        UnreadableError: the file is not TOML, or has an unknown key, a wrong value or no reason.
    """
    table = load_toml_file(path, most=MAX_BYTES)
    entries = convert(table, ExpectationsFile, str(path)).expectation
    for index, entry in enumerate(entries):
        if not entry.reason.strip():
            raise UnreadableError(f"expectation[{index}].reason: is empty", where=str(path))
    return entries


def entry_for_cell(
    entries: Sequence[AcceptedFailure], scenario: str, normalizer: str, today: date
) -> AcceptedFailure | None:
    """Return the first entry that applies to a cell on the date `today`; None if there is none."""
    return next((e for e in entries if e.names(scenario, normalizer) and e.holds(today)), None)


def apply_entries(
    run: Run, entries: Sequence[AcceptedFailure], today: date, known: ExistingNames
) -> AppliedEntries:
    """Return the cells of `run` that `entries` accept, and the entries that are stale.

    Args:
        run: the run. Unsupported and unjudged cells do not count.
        entries: the entries of the project.
        today: the date for entries that expire.
        known: the names that exist in addition to those of the run. An entry is not stale if it
            matches only cells that the user did not select.
    """
    judged = [result for result in run.results if result.outcome.judged]
    skipped = run.header.selection.skipped
    excused = (*_accepted_cells(judged, entries, today), *_skipped_cells(skipped, entries, today))
    found = (_stale_after_run(entry, judged, run, today, known) for entry in entries)
    return AppliedEntries(excused, tuple(each for each in found if each is not None))


def _accepted_cells(
    judged: Collection[Result], entries: Sequence[AcceptedFailure], today: date
) -> Iterator[AcceptedCell]:
    for result in judged:
        entry = entry_for_cell(entries, result.scenario, result.normalizer, today)
        if entry is not None and not (entry.expect == "fail" and result.outcome.conforms):
            yield AcceptedCell(result.cell, entry.expect, entry.reason)


def _skipped_cells(
    skipped: Collection[str], entries: Sequence[AcceptedFailure], today: date
) -> Iterator[AcceptedCell]:
    for cell in skipped:
        entry = entry_for_cell(entries, *_parts(cell), today)
        yield AcceptedCell(cell, "skip", entry.reason if entry else "")


def _stale_after_run(
    entry: AcceptedFailure, judged: Collection[Result], run: Run, today: date, known: ExistingNames
) -> StaleEntry | None:
    named = [result for result in judged if entry.names(result.scenario, result.normalizer)]
    passed = tuple(result.cell for result in named if result.outcome.conforms)
    if entry.holds(today) and entry.expect == "fail" and passed:
        return StaleEntry("unexpected_pass", entry, passed)
    cells = [(result.scenario, result.normalizer) for result in named]
    selection = run.header.selection
    cells += map(_parts, (*selection.skipped, *selection.left_out))
    ran = ExistingNames(
        frozenset(result.scenario for result in run.results), frozenset(run.header.names)
    )
    return stale_entry(entry, today, cells, ran, known)


def stale_entry(
    entry: AcceptedFailure,
    today: date,
    cells: Collection[tuple[str, str]],
    ran: ExistingNames,
    known: ExistingNames,
) -> StaleEntry | None:
    """Return why `entry` is stale: expired, or without a matching cell; None if it is not.

    Args:
        entry: an entry of the project.
        today: the date for entries that expire.
        cells: the id of the scenario and the name of the client of each supported cell.
        ran: all scenarios and clients that took part in the run, supported or not.
        known: the names that exist in addition. An entry that matches only these is not stale.
    """
    if not entry.holds(today):
        return StaleEntry("expired", entry)
    if any(entry.names(*cell) for cell in cells):
        return None
    scenarios = {each for each in known.scenarios | ran.scenarios if _glob(entry.id)(each)}
    names = {each for each in known.names | ran.names if _glob(entry.normalizer)(each)}
    elsewhere = scenarios and names and not (scenarios <= ran.scenarios and names <= ran.names)
    return None if elsewhere else StaleEntry("matches_nothing", entry)


def _parts(cell: str) -> tuple[str, str]:
    scenario, _, normalizer = cell.rpartition("/")
    return scenario, normalizer


@lru_cache(maxsize=1024)
def _glob(pattern: str) -> Callable[[str], object]:
    return re.compile(translate(pattern)).match
