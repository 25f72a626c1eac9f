"""`expectations.toml`: accepted failures, each with a reason, enforced strictly.

An entry applies only while it is true: an unexpected pass, an entry that has expired and a
pattern that matches nothing are `stale`, and a stale entry fails the run. The date comes from the
caller; nothing here reads a clock.
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
    """One entry: its cells, their expected failure, and the reason.

    Fields:
        id: glob over ids of scenarios, such as `dashscope/*`.
        normalizer: glob over names of normalizers and agents.
        expect: `fail` (each cell must fail), `flaky` (may fail) or `skip` (does not run).
        reason: why the failure is accepted.
        issue: where it is tracked.
        expires: the last day on which the entry applies.
    """

    id: Text
    normalizer: Text
    expect: Literal["fail", "flaky", "skip"]
    reason: Text
    issue: str = ""
    expires: date | None = None

    def names(self, scenario: str, normalizer: str) -> bool:
        """Whether it names this cell."""
        return bool(_glob(self.id)(scenario) and _glob(self.normalizer)(normalizer))

    def holds(self, today: date) -> bool:
        """Whether it has not expired."""
        return self.expires is None or today <= self.expires


class ExpectationsFile(File, frozen=True):
    """The file: `[[expectation]]` tables; of several that name a cell, the first applies."""

    expectation: tuple[AcceptedFailure, ...] = ()


class ExistingNames(msgspec.Struct, frozen=True):
    """Ids of scenarios and of cassettes without one; names of normalizers and agents."""

    scenarios: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()


class AcceptedCell(msgspec.Struct, frozen=True):
    """A cell that counts in no rule, and the reason."""

    cell: str
    expect: Literal["fail", "flaky", "skip", "baseline"]
    reason: str


class StaleEntry(msgspec.Struct, frozen=True):
    """An entry that is no longer true; `cells` are the evidence."""

    kind: StaleKind
    entry: AcceptedFailure
    cells: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """One line of text."""
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
        UnreadableError: it is not TOML, or has an unknown key or value.
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
    """Return the entry that applies to a cell; None if there is none."""
    return next((e for e in entries if e.names(scenario, normalizer) and e.holds(today)), None)


def apply_entries(
    run: Run, entries: Sequence[AcceptedFailure], today: date, known: ExistingNames
) -> AppliedEntries:
    """Apply `entries` to the cells of `run`.

    Args:
        run: its unsupported and unjudged cells are ignored.
        entries: of the project.
        today: the date for entries that expire.
        known: the names that exist in addition to those of the run. An entry is not stale if it
            names only cells that the user did not select.
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
    cells += map(_parts, run.header.selection.skipped)
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
    """Return why `entry` is stale before any cell runs; None if it is not.

    Args:
        entry: of the project.
        today: the date for entries that expire.
        cells: scenario and normalizer of each supported cell.
        ran: all scenarios and names that took part, supported or not.
        known: the names that exist in addition; an entry for only those is not stale.
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
