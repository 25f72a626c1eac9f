"""Compute the compare page: the changes since an earlier run (the base), by kind of change."""

from typing import Final

import msgspec

from harness.reporting.report import NamedRun, Report
from harness.verdicts.compare import Change, ChangeKind, Comparison, compare

MAX_CHANGES: Final = 300


class Changes(msgspec.Struct, frozen=True):
    """The cells that changed in one way, worst first; at most `MAX_CHANGES` of `total`."""

    way: ChangeKind
    title: str
    meaning: str
    total: int
    cells: tuple[Change, ...]


class CompareView(msgspec.Struct, frozen=True):
    """The changes since the run `label`: rates, warnings, and the cells by kind of change.

    Fields:
        now: the label of the newer run.
        sizes: the numbers of cells of the older and of the newer run.
    """

    label: str
    comparison: Comparison
    changes: tuple[Changes, ...]
    now: str
    sizes: tuple[int, int]

    def count(self, way: ChangeKind) -> int:
        """Return how many cells changed in this way."""
        return next(each.total for each in self.changes if each.way == way)


_CHANGE_TEXTS: Final[dict[ChangeKind, tuple[str, str]]] = {
    "broken": ("Broken", "conformed before and fail now"),
    "fixed": ("Fixed", "failed before and conform now"),
    "changed": ("With another outcome", "fail in both runs, or that only one run judged"),
    "new": ("New", "are judged and not in the base run"),
    "missing": ("Missing", "were judged and are not in this run"),
}


def compare_page(report: Report) -> CompareView | None:
    """Return what changed since the base run; None if the user named no base run."""
    base = report.context.base
    return compare_view(base, NamedRun(report.context.label, report.run)) if base else None


def compare_view(base: NamedRun, run: NamedRun) -> CompareView:
    """Return what changed from `base` to `run`."""
    found = compare(base.run, run.run)
    changes = tuple(_changes(way, found.changes) for way in _CHANGE_TEXTS)
    sizes = len(base.run.results), len(run.run.results)
    return CompareView(base.label, found, changes, run.label, sizes)


def _changes(way: ChangeKind, changes: tuple[Change, ...]) -> Changes:
    cells = tuple(each for each in changes if each.way == way)
    return Changes(way, *_CHANGE_TEXTS[way], len(cells), cells[:MAX_CHANGES])
