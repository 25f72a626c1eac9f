"""Compute the trends page: for each name, a small chart of its rate over several runs.

Rates for different scenarios are not comparable. If the set of scenarios changed between two runs,
the line has a gap, and the page marks and names the change.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import msgspec

from harness.reporting.report import NamedRun, Report
from harness.verdicts.flips import CellHistory, flipped_cells
from harness.verdicts.rankings import Ranked, Rankings, rankings
from harness.verdicts.statistics import percent, percent_range

MAX_NAMES: Final = 24
MAX_FLIPPED: Final = 200
WIDTH: Final = 600
HEIGHT: Final = 120
_EDGE: Final = 14
# Room for the labels of the axes.
_LEFT: Final = 72
_BELOW: Final = 24


class Point(msgspec.Struct, frozen=True):
    """The rate of one run, with its position on a chart of `WIDTH` by `HEIGHT`; y grows down."""

    label: str
    k: int
    n: int
    share: str
    interval: str
    x: float
    y: float
    low: float
    high: float


class Series(msgspec.Struct, frozen=True):
    """The rates of one name in all runs.

    Fields:
        points: a point for each run; None if the name was not measured in it.
        line: SVG path data, with gaps if points are missing or scenarios changed.
    """

    name: str
    points: tuple[Point | None, ...]
    line: str


class Trend(msgspec.Struct, frozen=True):
    """A chart: one kind of rate in all runs, for at most `MAX_NAMES` names; `more` are left out.

    Fields:
        unit: what the numbers k and n of the rate count.
    """

    title: str
    unit: str
    series: tuple[Series, ...]
    more: int


class TrendsRun(msgspec.Struct, frozen=True):
    """A run of the charts: its number on the axes, its name, and what it counted."""

    number: int
    label: str
    cells: int
    scenarios: int
    x: float


class TrendsView(msgspec.Struct, frozen=True):
    """The data of the trends page.

    Fields:
        runs: the oldest first.
        breaks: the index of each run before which the scenarios changed, and a text about the
            change.
        marks: the x position of each break.
        flipped: cells that conformed in one run and failed in the next, the flaky ones first; at
            most `MAX_FLIPPED`, and `more` are left out.
    """

    runs: tuple[TrendsRun, ...]
    breaks: tuple[tuple[int, str], ...]
    marks: tuple[float, ...]
    trends: tuple[Trend, ...]
    flipped: tuple[CellHistory, ...] = ()
    more: int = 0
    flaky: int = 0

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(each.label for each in self.runs)


_TURNS: Final = "recorded and imported turns that succeeded"
_RATES: Final[dict[tuple[str, str], Callable[[Rankings], tuple[Ranked, ...]]]] = {
    ("Conformance of normalizers", "judged cells that conform"): lambda it: it.normalizers,
    ("Conformance of agents", "judged conversations that conform"): lambda it: it.agents,
    ("Turn success of models", _TURNS): lambda it: it.models,
    ("Turn success of prompts", _TURNS): lambda it: it.prompts,
}


def trends_page(report: Report) -> TrendsView:
    """Return the rates in all runs, the oldest first; none if there is only this run."""
    context = report.context
    editions = (*context.history, NamedRun(context.label, report.run))
    if len(editions) < 2:  # noqa: PLR2004 - a line needs two ends
        return TrendsView((), (), (), ())
    ranked = [*(rankings(each.run) for each in context.history), report.rankings]
    breaks = tuple(_breaks(editions))
    cuts = {place for place, _ in breaks}
    count = len(editions)
    flipped = report.of(cell_histories)
    return TrendsView(
        tuple(_runs(editions)),
        breaks,
        tuple(round((_x(place - 1, count) + _x(place, count)) / 2, 1) for place, _ in breaks),
        tuple(
            _trend(named, [of(each) for each in ranked], editions, cuts)
            for named, of in _RATES.items()
        ),
        tuple(flipped.values())[:MAX_FLIPPED],
        max(0, len(flipped) - MAX_FLIPPED),
        sum(each.is_flaky for each in flipped.values()),
    )


def _runs(editions: Sequence[NamedRun]) -> Iterator[TrendsRun]:
    for place, each in enumerate(editions):
        results = each.run.results
        scenarios = len({result.scenario for result in results})
        x = _x(place, len(editions))
        yield TrendsRun(place + 1, each.label, len(results), scenarios, x)


def cell_histories(report: Report) -> dict[str, CellHistory]:
    """Return cell -> history of each cell that changed from passing to failing between two runs."""
    context = report.context
    commit = context.about.clean_commit if context.about else ""
    runs = [*((each.run, each.commit) for each in context.history), (report.run, commit)]
    return {each.cell: each for each in flipped_cells(runs)}


def _breaks(editions: Sequence[NamedRun]) -> Iterable[tuple[int, str]]:
    before: frozenset[str] | None = None
    for place, each in enumerate(editions):
        now = frozenset(result.scenario for result in each.run.results)
        if before is not None and now != before:
            yield place, f"scenarios added: {len(now - before):,}, removed: {len(before - now):,}"
        before = now


def _trend(
    named: tuple[str, str],
    ranks: list[tuple[Ranked, ...]],
    editions: Sequence[NamedRun],
    cuts: set[int],
) -> Trend:
    by_name: dict[str, dict[int, Ranked]] = defaultdict(dict)
    for place, ranked in enumerate(ranks):
        for each in ranked:
            by_name[each.name][place] = each
    names = sorted(
        by_name, key=lambda name: (-max(each.n for each in by_name[name].values()), name)
    )
    shown = sorted(names[:MAX_NAMES])
    series = tuple(_series(name, by_name[name], editions, cuts) for name in shown)
    return Trend(*named, series, len(names) - len(shown))


def _series(
    name: str, found: dict[int, Ranked], editions: Sequence[NamedRun], cuts: set[int]
) -> Series:
    count = len(editions)
    points = tuple(
        _point(each.label, found[place], _x(place, count)) if place in found else None
        for place, each in enumerate(editions)
    )
    line: list[str] = []
    for place, point in enumerate(points):
        if point is not None:
            joined = place and points[place - 1] is not None and place not in cuts
            line.append(f"{'L' if joined else 'M'}{point.x} {point.y}")
    return Series(name, points, "".join(line))


def _point(label: str, ranked: Ranked, x: float) -> Point:
    share = ranked.k / ranked.n
    return Point(
        label=label,
        k=ranked.k,
        n=ranked.n,
        share=percent(share),
        interval=percent_range(ranked.low, ranked.high),
        x=x,
        y=_y(share),
        low=_y(ranked.low),
        high=_y(ranked.high),
    )


def _x(place: int, count: int) -> float:
    return round(_LEFT + place / (count - 1) * (WIDTH - _LEFT - 2 * _EDGE), 1)


def _y(share: float) -> float:
    return round(_EDGE / 2 + (1 - share) * (HEIGHT - _EDGE - _BELOW), 1)
