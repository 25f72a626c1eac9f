"""Read, update and write the baseline: the cells that are allowed to fail.

With a baseline, only new failures fail the gate. After each run, the harness removes cells that
conform, and stores a better outcome of a cell that still fails. Only `--accept-new` adds cells or
worse outcomes. A baseline that cannot be read is an error, and does not count as empty.
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
    """The cells that are allowed to fail, each with the worst outcome that it may have."""

    schema: int
    cells: dict[str, Outcome]


class BaselineUpdate(msgspec.Struct, frozen=True):
    """What changed in a baseline after a run; all cells are sorted.

    Fields:
        known: failing cells that the new baseline allows.
        fixed: cells of the old baseline that conform now.
        better: cells that still fail, but with a better outcome.
        gone: cells of the old baseline whose scenario or client no longer exists.
        added: cells that the run failed and that the new baseline accepts.
    """

    known: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    better: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    @property
    def moved(self) -> bool:
        """Whether the new baseline differs from the old one."""
        return bool(self.fixed or self.better or self.gone or self.added)


def update_baseline(
    baseline: Baseline, run: Run, excused: frozenset[str], known: ExistingNames, *, accept_new: bool
) -> tuple[Baseline, BaselineUpdate]:
    """Return the baseline after a run, and what changed.

    Args:
        baseline: the baseline before the run.
        run: a complete run. Cells that it did not judge do not change.
        excused: cells that `expectations.toml` accepts, which do not go into the baseline.
        known: names of existing scenarios and clients, in addition to those of the run.
        accept_new: whether to add new and worse failures, except those of a client that crashes or
            hangs in each cell.
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
    added = failing.keys() - kept.keys() - _of_broken_clients(run) if accept_new else set[str]()
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


def _of_broken_clients(run: Run) -> set[str]:
    """Return the cells of clients that crash or hang in each cell, as one without a package does.

    Such a client tests nothing, so its failures are never accepted all at once.
    """
    judged = [each for each in run.results if each.outcome.judged]
    working = {it.normalizer for it in judged if it.outcome not in (Outcome.CRASH, Outcome.HANG)}
    return {each.cell for each in judged if each.normalizer not in working}


def _exists(cell: str, known: ExistingNames) -> bool:
    scenario, _, name = cell.rpartition("/")
    return scenario in known.scenarios and name in known.names


def read_baseline(path: Path, *, may_be_missing: bool = False) -> Baseline:
    """Read the baseline at `path`.

    Args:
        path: the path of the file.
        may_be_missing: whether to return an empty baseline if the file does not exist.

    Raises:
        UnreadableError: the file is missing, is damaged, or comes from a newer harness.
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
    """Write `baseline` to `path` in one step: JSON with one sorted cell on each line.

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
