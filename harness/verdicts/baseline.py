"""The baseline: cells that are allowed to fail, so that only new failures stop a change.

It only shrinks: a cell that conforms is removed, and a better outcome replaces a worse one. It
grows only with `--accept-new`. A cell that fails worse than the baseline allows is a failure. A
file that cannot be read is an error, never an empty baseline.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from harness.errors import UnreadableError, UsageError
from harness.files.load import read_file
from harness.files.write import write_file
from harness.results.outcome import Outcome
from harness.results.run import Run
from harness.verdicts.expectations import ExistingNames

SCHEMA: Final = 1
MAX_BYTES: Final = 64 * 1024**2

_ACCEPT = "Make one with `harness run --accept-new`."


class Baseline(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Cells that are allowed to fail, each with its worst allowed outcome."""

    schema: int
    cells: dict[str, Outcome]


class BaselineUpdate(msgspec.Struct, frozen=True):
    """The changes to a baseline after a run; cells are sorted.

    Fields:
        known: failing cells that it allows.
        fixed: listed cells that conform now.
        better: cells that still fail, but less badly.
        gone: cells whose scenario or normalizer no longer exists.
        added: cells that were accepted now.
    """

    known: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    better: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    @property
    def moved(self) -> bool:
        """Whether the file must be written again."""
        return bool(self.fixed or self.better or self.gone or self.added)


def update_baseline(
    baseline: Baseline, run: Run, excused: frozenset[str], known: ExistingNames, *, accept_new: bool
) -> tuple[Baseline, BaselineUpdate]:
    """Return the next baseline, and the changes.

    Args:
        baseline: the current one.
        run: a complete one; cells that it did not judge are unchanged.
        excused: cells with an entry in `expectations.toml`; they need no baseline.
        known: the names that exist in addition to those of the run.
        accept_new: whether new and worse failures are accepted.
    """
    judged = {
        result.cell: result.outcome
        for result in run.results
        if result.outcome.judged and result.cell not in excused
    }
    failing = {cell: outcome for cell, outcome in judged.items() if outcome.fails}
    listed = baseline.cells
    here = {cell: listed[cell] for cell in failing.keys() & listed.keys()}
    kept = {cell: was for cell, was in here.items() if failing[cell].badness >= was.badness}
    there = ExistingNames(
        known.scenarios.union(result.scenario for result in run.results),
        known.names.union(run.header.names),
    )
    gone = {cell for cell in listed.keys() - judged.keys() if not _exists(cell, there)}
    fixed = {cell for cell in listed.keys() & judged.keys() if judged[cell].conforms}
    added = failing.keys() - kept.keys() if accept_new else frozenset[str]()
    lowered = {cell: failing[cell] for cell in (*kept, *added)}
    staying = {cell: listed[cell] for cell in listed.keys() - gone - fixed - kept.keys() - added}
    moved = BaselineUpdate(
        known=tuple(sorted(lowered)),
        fixed=tuple(sorted(fixed)),
        better=tuple(sorted(cell for cell, was in kept.items() if failing[cell] is not was)),
        gone=tuple(sorted(gone)),
        added=tuple(sorted(added)),
    )
    return Baseline(SCHEMA, {**staying, **lowered}), moved


def _exists(cell: str, known: ExistingNames) -> bool:
    scenario, _, name = cell.rpartition("/")
    return scenario in known.scenarios and name in known.names


def read_baseline(path: Path, *, may_be_missing: bool = False) -> Baseline:
    """Read the baseline at `path`.

    Args:
        path: of the file.
        may_be_missing: whether a missing one is empty: only where it is about to be made.

    Raises:
        UnreadableError: it is missing, damaged, or from a newer harness.
    """
    if not path.exists():
        if may_be_missing:
            return Baseline(SCHEMA, {})
        raise UnreadableError("no such baseline", where=str(path), hint=_ACCEPT)
    data = read_file(path, most=MAX_BYTES)
    try:
        found = msgspec.json.decode(data, type=Baseline)
    except (ValueError, RecursionError) as error:
        raise UnreadableError(f"no baseline: {error}", where=str(path), hint=_ACCEPT) from error
    if found.schema > SCHEMA:
        raise UnreadableError(
            f"written by a newer harness: schema {found.schema}, this one reads {SCHEMA}",
            where=str(path),
        )
    return found


def write_baseline(baseline: Baseline, path: Path) -> None:
    """Write `baseline` to `path`, one cell a line, sorted, in one step.

    Raises:
        UsageError: the path is not writable.
    """
    sorted_cells: Mapping[str, Outcome] = dict(sorted(baseline.cells.items()))
    text = msgspec.json.format(
        msgspec.json.encode({"schema": baseline.schema, "cells": sorted_cells}), indent=1
    )
    try:
        write_file(path, text + b"\n")
    except OSError as error:
        raise UsageError(f"cannot write the baseline: {error.strerror}", where=str(path)) from error
