"""How often `harness drift` alarms without a change, and how many days it needs for one.

    python -m benchmarks.drift [--json] [--series N] [--svg FILE]

Synthetic series of days are drawn with a fixed seed. Without a change, the share of series with an
alarm should be at most `--alpha`, also if days differ by more than chance, or in their numbers of
turns.
Series whose days depend on the days before them are outside of what the test assumes; their rows
show by how much it fails then. `--svg` writes a picture of both results.
"""

import argparse
import json
from collections.abc import Iterator
from itertools import chain, groupby
from math import exp, sqrt
from pathlib import Path
from random import Random
from typing import Final, Literal

import msgspec

from harness.measuring.change_point import find_rise
from harness.verdicts.statistics import Cluster, wilson
from harness.wording import pluralize

# The default of `harness drift`, with which delays are measured, and a less strict one.
ALPHA: Final = 0.01
ALPHAS: Final = (0.05, ALPHA)
SERIES: Final = 1_000
DRAWS: Final = 999
HISTORY: Final = 28
MOST_DAYS: Final = 14
FALLS: Final = (0.01, 0.02, 0.05, 0.10)
DAILY_RUNS: Final = 30
_NORMAL_FROM: Final = 25
_WEEKDAYS: Final = 5
_HALF: Final = 0.5


class Steady(msgspec.Struct, frozen=True):
    """Series without a change.

    Fields:
        name: what is special about them.
        turns: of a day.
        rate: of failures.
        spread: correlation of the turns of one day: days differ by more than chance.
        sizes: whether days have equal numbers of turns, ever more, or few at weekends.
        memory: correlation of the rate of a day with that of the day before.
    """

    name: str
    days: int
    turns: int
    rate: float
    spread: float = 0.0
    sizes: Literal["equal", "growing", "weekly"] = "equal"
    memory: float = 0.0


STEADY: Final = (
    Steady("few days", 7, 2_000, 0.10),
    Steady("two weeks", 14, 200, 0.05),
    Steady("few failures", 30, 50, 0.02),
    Steady("days differ", 14, 1_000, 0.05, 0.01),
    Steady("days differ, many turns", 30, 10_000, 0.05, 0.02),
    Steady("days differ, few failures", 20, 300, 0.003, 0.01),
    Steady("days differ, growing traffic", 30, 300, 0.05, 0.01, "growing"),
    Steady("days differ, quiet weekends", 28, 300, 0.05, 0.01, "weekly"),
    Steady("each day depends on the last, 0.3", 30, 1_000, 0.05, memory=0.3),
    Steady("each day depends on the last, 0.6", 30, 1_000, 0.05, memory=0.6),
)


class Alarms(msgspec.Struct, frozen=True):
    """Series of one kind with an alarm at `alpha`, with the 95 % interval of their share."""

    name: str
    alpha: float
    series: int
    alarms: int
    low: float
    high: float


class Delay(msgspec.Struct, frozen=True):
    """Series whose success fell from 95 %.

    Fields:
        fall: in rate.
        turns: of a day.
        found: the share of the series with an alarm after 1, 2, ... days.
        median: days until the first alarm of half of the series; None if there were fewer.
    """

    fall: float
    turns: int
    found: tuple[float, ...]
    median: int | None


class Results(msgspec.Struct, frozen=True):
    """What was measured.

    Fields:
        alarms: of each kind of series, at each alpha; the last kind is tested on each of 30 days,
            with the last 28 days.
    """

    alarms: tuple[Alarms, ...]
    delays: tuple[Delay, ...]


def binomial(random: Random, n: int, rate: float) -> int:
    """Draw a number of failures in `n` turns; a normal one if many are expected."""
    if n * rate * (1 - rate) < _NORMAL_FROM:
        return sum(random.random() < rate for _ in range(n))
    return min(n, max(0, round(random.gauss(n * rate, sqrt(n * rate * (1 - rate))))))


def steady_days(kind: Steady, random: Random) -> list[Cluster]:
    """Draw one series without a change."""
    days, state = [], 0.0
    for day in range(kind.days):
        n = kind.turns
        if kind.sizes == "growing":
            n += 3 * n * day // kind.days
        elif kind.sizes == "weekly" and day % 7 >= _WEEKDAYS:
            n //= 5
        rate = kind.rate
        if kind.spread:
            both = (1 - kind.spread) / kind.spread
            rate = random.betavariate(rate * both, (1 - rate) * both)
        if kind.memory:
            state = kind.memory * state + random.gauss(0, sqrt(1 - kind.memory**2))
            rate = min(rate * exp(0.3 * state), 0.9)
        days.append(Cluster(binomial(random, n, rate), n))
    return days


def count_alarms(kind: Steady, series: int) -> tuple[Alarms, ...]:
    """Return how many of `series` series have an alarm, at each alpha."""
    random = Random(kind.name)  # noqa: S311 - can be repeated
    ps = [find_rise(steady_days(kind, random), str(each), DRAWS).p for each in range(series)]
    return tuple(_alarms(kind.name, alpha, ps) for alpha in ALPHAS)


def _alarms(name: str, alpha: float, ps: list[float]) -> Alarms:
    alarms = sum(p <= alpha for p in ps)
    return Alarms(name, alpha, len(ps), alarms, *wilson(alarms, len(ps)))


def count_daily_alarms(series: int) -> tuple[Alarms, ...]:
    """Return how many steady series have an alarm in any of the runs of 30 days."""
    kind = Steady("any of 30 daily runs", HISTORY + DAILY_RUNS - 1, 1_000, 0.05, 0.002)
    random, ps = Random(kind.name), []  # noqa: S311 - can be repeated
    for each in range(series):
        days = steady_days(kind, random)
        windows = (days[first : first + HISTORY] for first in range(DAILY_RUNS))
        ps.append(min(find_rise(window, str(each), DRAWS).p for window in windows))
    return tuple(_alarms(kind.name, alpha, ps) for alpha in ALPHAS)


def measure_delay(fall: float, turns: int, series: int) -> Delay:
    """Return how many days after a fall the alarm comes, if each day tests the days so far."""
    random, firsts = Random(f"{fall} {turns}"), []  # noqa: S311 - can be repeated
    for each in range(series):
        days = steady_days(Steady("", HISTORY, turns, 0.05, 0.002), random)
        after = steady_days(Steady("", MOST_DAYS, turns, 0.05 + fall, 0.002), random)
        firsts.append(
            next(
                (
                    day
                    for day in range(1, MOST_DAYS + 1)
                    if find_rise([*days, *after[:day]], str(each), DRAWS).p <= ALPHA
                ),
                MOST_DAYS + 1,
            )
        )
    found = tuple(sum(first <= day for first in firsts) / series for day in range(1, MOST_DAYS + 1))
    median = next((day for day, share in enumerate(found, 1) if share >= _HALF), None)
    return Delay(fall, turns, found, median)


def measure(series: int) -> Results:
    """Measure everything; a fall is searched for in a quarter of the series."""
    fewer = max(series // 4, 1)
    return Results(
        (*chain(*(count_alarms(kind, series) for kind in STEADY)), *count_daily_alarms(fewer)),
        tuple(measure_delay(fall, 1_000, fewer) for fall in FALLS),
    )


def lines(results: Results) -> Iterator[str]:
    """Yield the results as tables in Markdown."""
    yield f"| series without a change | {' | '.join(f'`--alpha {it}`' for it in ALPHAS)} |"
    yield f"|---|{'---|' * len(ALPHAS)}"
    for name, found in groupby(results.alarms, key=lambda it: it.name):
        cells = (f"{it.alarms / it.series:.1%} ({it.low:.1%} to {it.high:.1%})" for it in found)
        yield f"| {name} | {' | '.join(cells)} |"
    yield ""
    yield "| fall of the success rate | after 1 day | 2 days | 7 days | 14 days | median |"
    yield "|---|---|---|---|---|---|"
    for it in results.delays:
        shares = " | ".join(f"{it.found[day - 1]:.0%}" for day in (1, 2, 7, 14))
        median = pluralize(it.median, "day") if it.median else f"over {MOST_DAYS} days"
        yield f"| 95 % to {0.95 - it.fall:.0%} | {shares} | {median} |"


_COLOURS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
_SVG: Final = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 340" font-family="sans-serif" '
    'font-size="12" role="img" aria-label="False alarms and delay of harness drift">'
)
_TEXT: Final = '<text x="{}" y="{}" text-anchor="{}">{}</text>'


def picture(results: Results) -> str:
    """Return both results as an SVG: alarms without a change, and those after a fall by day."""
    parts = [
        _SVG,
        '<rect width="900" height="340" fill="white"/>',
        _TEXT.format(20, 24, "start", "Alarms without a change (95 % interval)"),
        _TEXT.format(520, 24, "start", "Alarms by days after a fall from 95 %, 1,000 turns a day"),
        *_alarm_marks(results.alarms),
        *_delay_marks(results.delays),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _alarm_marks(alarms: tuple[Alarms, ...]) -> Iterator[str]:
    left, width, most = 230, 230, 0.65
    for percent in (0, 10, 20, 30, 40, 50, 60):
        x = left + width * percent / 100 / most
        yield f'<line x1="{x:.1f}" y1="40" x2="{x:.1f}" y2="310" stroke="#cccccc"/>'
        yield _TEXT.format(f"{x:.1f}", 326, "middle", f"{percent} %")
    for place, alpha in enumerate(ALPHAS):
        x = left + width * alpha / most
        colour = _COLOURS[place]
        yield (
            f'<line x1="{x:.1f}" y1="40" x2="{x:.1f}" y2="310" stroke="{colour}" '
            'stroke-dasharray="4 3"/>'
        )
        yield _TEXT.format(330, 60 + 18 * place, "start", f"alpha {alpha}")
        yield f'<circle cx="320" cy="{56 + 18 * place}" r="4" fill="{colour}"/>'
    names = list(dict.fromkeys(each.name for each in alarms))
    for row, name in enumerate(names):
        yield _TEXT.format(left - 10, 59 + 24 * row, "end", name)
    for each in alarms:
        y, colour = 55 + 24 * names.index(each.name), _COLOURS[ALPHAS.index(each.alpha)]
        low, x, high = (
            left + width * min(rate, most) / most
            for rate in (each.low, each.alarms / each.series, each.high)
        )
        yield (
            f'<line x1="{low:.1f}" y1="{y}" x2="{high:.1f}" y2="{y}" stroke="{colour}" '
            f'stroke-width="2"/><circle cx="{x:.1f}" cy="{y}" r="4" fill="{colour}"/>'
        )


def _delay_marks(delays: tuple[Delay, ...]) -> Iterator[str]:
    left, bottom, width, height = 560, 295, 250, 240
    for percent in (0, 25, 50, 75, 100):
        y = bottom - height * percent / 100
        yield f'<line x1="{left}" y1="{y}" x2="{left + width}" y2="{y}" stroke="#cccccc"/>'
        yield _TEXT.format(left - 6, y + 4, "end", f"{percent} %")
    step = width / (MOST_DAYS - 1)
    for day in (1, 2, 4, 7, 10, 14):
        yield _TEXT.format(f"{left + step * (day - 1):.1f}", 312, "middle", day)
    yield _TEXT.format(left + width / 2, 330, "middle", "days after the fall")
    for colour, delay in zip(_COLOURS, delays, strict=False):
        points = [
            (left + step * day, bottom - height * share) for day, share in enumerate(delay.found)
        ]
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        yield f'<polyline points="{joined}" fill="none" stroke="{colour}" stroke-width="2"/>'
    for row, (colour, delay) in enumerate(zip(_COLOURS, delays, strict=False)):
        y = 180 + 20 * row
        yield f'<line x1="825" y1="{y}" x2="845" y2="{y}" stroke="{colour}" stroke-width="3"/>'
        yield _TEXT.format(850, y + 4, "start", f"to {0.95 - delay.fall:.0%}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--series", type=int, default=SERIES)
    parser.add_argument("--svg", type=Path)
    given = parser.parse_args()
    results = measure(given.series)
    if given.svg:
        given.svg.write_text(picture(results), encoding="utf-8")
    print(json.dumps(msgspec.to_builtins(results)) if given.json else "\n".join(lines(results)))


if __name__ == "__main__":
    main()
