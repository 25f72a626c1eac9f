"""Several runs, the oldest first -> one small chart for each name: its rate, with its interval.

Rates over different scenarios are not comparable: where the set of scenarios changed between
two runs the line breaks, and the break is drawn and told.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from harness.reporting.report import NamedRun
from harness.reporting.words import percent
from harness.runs.questions import Questions
from harness.runs.rankings import Ranked, Rankings, rank

MOST_NAMES: Final = 24
WIDTH: Final = 600
HEIGHT: Final = 90
_EDGE: Final = 12


class Point(msgspec.Struct, frozen=True):
    """One rate at one run; y grows downwards on a chart of `WIDTH` by `HEIGHT`."""

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
    """One name over the runs.

    Fields:
        points: by run; None where it was not measured.
        line: SVG path data, broken where points are missing or scenarios changed.
    """

    name: str
    points: tuple[Point | None, ...]
    line: str


class Trend(msgspec.Struct, frozen=True):
    """What one rate did, for at most `MOST_NAMES` names; `more` are left out."""

    title: str
    series: tuple[Series, ...]
    more: int


class Trends(msgspec.Struct, frozen=True):
    """All of it.

    Fields:
        labels: of the runs.
        breaks: (place, words): before which run the scenarios changed, and by how much.
        marks: the x of each break.
    """

    labels: tuple[str, ...]
    breaks: tuple[tuple[int, str], ...]
    marks: tuple[float, ...]
    trends: tuple[Trend, ...]


_RATES: Final[dict[str, Callable[[Rankings], tuple[Ranked, ...]]]] = {
    "Conformance of normalizers": lambda rankings: rankings.normalizers,
    "Conformance of agents": lambda rankings: rankings.agents,
    "Turn success of models": lambda rankings: rankings.models,
    "Turn success of prompts": lambda rankings: rankings.prompts,
}


def trends(editions: Sequence[NamedRun]) -> Trends:
    """Return the rates over `editions`, the oldest first; nothing is drawn of a single one."""
    if len(editions) < 2:  # noqa: PLR2004 - a line needs two ends
        return Trends(tuple(each.label for each in editions), (), (), ())
    ranked = [_rankings(each) for each in editions]
    breaks = tuple(_breaks(editions))
    cuts = {place for place, _ in breaks}
    count = len(editions)
    return Trends(
        tuple(each.label for each in editions),
        breaks,
        tuple(round((_x(place - 1, count) + _x(place, count)) / 2, 1) for place, _ in breaks),
        tuple(
            _trend(title, [of(each) for each in ranked], editions, cuts)
            for title, of in _RATES.items()
        ),
    )


def _rankings(edition: NamedRun) -> Rankings:
    with Questions(edition.run) as questions:
        return rank(questions)


def _breaks(editions: Sequence[NamedRun]) -> Iterable[tuple[int, str]]:
    before: frozenset[str] | None = None
    for place, each in enumerate(editions):
        now = frozenset(result.scenario for result in each.run.results)
        if before is not None and now != before:
            yield place, f"scenarios added: {len(now - before):,}, removed: {len(before - now):,}"
        before = now


def _trend(
    title: str, rankings: list[tuple[Ranked, ...]], editions: Sequence[NamedRun], cuts: set[int]
) -> Trend:
    by_name: dict[str, dict[int, Ranked]] = defaultdict(dict)
    for place, ranked in enumerate(rankings):
        for each in ranked:
            by_name[each.name][place] = each
    names = sorted(
        by_name, key=lambda name: (-max(each.n for each in by_name[name].values()), name)
    )
    shown = sorted(names[:MOST_NAMES])
    series = tuple(_series(name, by_name[name], editions, cuts) for name in shown)
    return Trend(title, series, len(names) - len(shown))


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
        interval=f"{percent(ranked.low)} to {percent(ranked.high)}",
        x=x,
        y=_y(share),
        low=_y(ranked.low),
        high=_y(ranked.high),
    )


def _x(place: int, count: int) -> float:
    return round(_EDGE + place / (count - 1) * (WIDTH - 2 * _EDGE), 1)


def _y(share: float) -> float:
    return round(_EDGE / 2 + (1 - share) * (HEIGHT - _EDGE), 1)
