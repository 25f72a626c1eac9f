"""A folder of rows -> for each series of days, whether its rate became worse, and from which day.

A series is the turns of one model, prompt, provider or dialect, or all of them. The p-values are
adjusted for the number of tested series, so that the chance of any false alarm is at most `alpha`.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from harness.measuring.change_point import DRAWS, FEWEST_DAYS, Rise, find_rise
from harness.measuring.rates import Share, share_of
from harness.measuring.rows import open_rows
from harness.verdicts.statistics import Cluster, holm, intraclass_correlation

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SCHEMA: Final = 1
DriftMetric = Literal["turn_success", "parse_error_rate"]
DriftAxis = Literal["all", "model", "prompt", "provider", "dialect", "model x prompt"]
METRICS: Final[dict[DriftMetric, str]] = {
    "turn_success": "success",
    "parse_error_rate": "parse_errors > 0",
}
AXES: Final[dict[DriftAxis, tuple[str, ...]]] = {
    "all": (),
    "model": ("model",),
    "prompt": ("prompt",),
    "provider": ("provider",),
    "dialect": ("dialect",),
    "model x prompt": ("model", "prompt"),
}
# The series of an axis that are tested: those with the most turns.
_MOST_SERIES: Final = 100
_MOST_NEW: Final = 5
# Enough simulated series for each one tested, so that the adjusted p-value can be small enough.
_DRAWS_EACH: Final = 40


class GrownSignature(msgspec.Struct, frozen=True):
    """Failed turns of one cause, and their share of the turns before and after the change.

    Fields:
        file, position: of the first such turn after the change.
    """

    signature: str
    before: float
    after: float
    why: str
    file: str
    position: int


class Change(msgspec.Struct, frozen=True):
    """The change of a rate.

    Fields:
        day: the first day with the other rate.
        signature: that whose share grew most; None if none grew.
        new: models and prompts of the series that have no turn before that day.
    """

    day: str
    before: Share
    after: Share
    signature: GrownSignature | None
    new: tuple[str, ...]


class DriftSeries(msgspec.Struct, frozen=True):
    """The rates of a metric by day.

    Fields:
        names: one for each dimension of `by`.
        status: `worse` if the rate is significantly worse, `untested` if it has too few days.
        days: day -> the number of successes or parse_errors, and of turns.
        p, adjusted: of the most likely change; see `harness.measuring.change_point`.
        change: the most likely one, if the status is `worse`.
    """

    metric: DriftMetric
    by: DriftAxis
    names: tuple[str, ...]
    status: Literal["worse", "steady", "untested"]
    days: dict[str, tuple[int, int]]
    p: float
    adjusted: float
    change: Change | None = None


class Drift(msgspec.Struct, frozen=True):
    """The series of a folder, worse ones first.

    Fields:
        undated: turns that are in no series, because the log does not say when they were sent.
        left_out: series that are not among those with the most turns of their axis.
    """

    schema: int
    alpha: float
    least: float
    undated: int
    left_out: int
    series: tuple[DriftSeries, ...]


class DriftOptions(msgspec.Struct, frozen=True):
    """What to test.

    Fields:
        since: the first day, as YYYY-MM-DD; "" for all.
        alpha: the highest chance of a false alarm.
        least: the smallest change of a rate that counts.
    """

    axes: tuple[DriftAxis, ...] = ("all",)
    metrics: tuple[DriftMetric, ...] = tuple(METRICS)
    since: str = ""
    alpha: float = 0.01
    least: float = 0.0


class _Series(msgspec.Struct, frozen=True):
    """A series before it is tested."""

    metric: DriftMetric
    by: DriftAxis
    names: tuple[str, ...]
    days: dict[str, tuple[Cluster, ...]]

    def counts(self) -> dict[str, Cluster]:
        """Return the turns of each day, and how many of them the metric counts."""
        return {
            day: Cluster(sum(it.k * it.times for it in each), sum(it.n * it.times for it in each))
            for day, each in self.days.items()
        }

    def rise(self, draws: int) -> Rise:
        """Return the most likely change for the worse: of failures for turn success."""
        days = list(self.counts().values())
        if self.metric == "turn_success":
            days = [Cluster(day.n - day.k, day.n) for day in days]
        return find_rise(days, repr((self.metric, self.by, self.names)), draws)

    def shares(self, first: int) -> tuple[Share, Share]:
        """Return the rate before the day with the index `first`, and from it on."""
        groups = list(self.days.values())
        alike = intraclass_correlation(groups)
        before, after = (
            [cluster for day in days for cluster in day]
            for days in (groups[:first], groups[first:])
        )
        return share_of(before, alike), share_of(after, alike)


def find_drift(folder: Path, options: DriftOptions) -> Drift:
    """Return the series of the rows in `folder`, tested.

    Raises:
        UsageError: the folder has no rows.
    """
    with open_rows(folder) as database:
        _load(database, options.since)
        undated = database.execute("SELECT count(*) FROM rows WHERE day IS NULL").fetchall()[0][0]
        found = [each for axis in options.axes for each in _read(database, axis, options.metrics)]
        chosen = [each for axis in options.axes for each in _largest(found, axis)]
        series = tuple(_tested(database, chosen, options))
    order = {"worse": 0, "steady": 1, "untested": 2}
    return Drift(
        SCHEMA,
        options.alpha,
        options.least,
        undated,
        len(found) - len(chosen),
        tuple(sorted(series, key=lambda it: order[it.status])),
    )


def _load(database: "DuckDBPyConnection", since: str) -> None:
    """Copy what the series need; a turn counts once if the log has it twice at one time."""
    database.execute(
        "CREATE TEMP TABLE dated AS SELECT DISTINCT ON (digest, asked, model, time) "
        "CAST(day AS VARCHAR) AS day, provider, model, prompt, dialect, success, parse_errors, "
        "signature, why, file, position, "
        "CASE WHEN asked = '' THEN digest ELSE asked END AS cluster "
        "FROM rows WHERE day IS NOT NULL AND day >= coalesce(TRY_CAST(? AS DATE), '-infinity') "
        "ORDER BY digest, asked, model, time, file, position",
        [since],
    )


def _read(
    database: "DuckDBPyConnection", axis: DriftAxis, metrics: Sequence[DriftMetric]
) -> Iterator[_Series]:
    """Yield the series of an axis by name, and of each by metric."""
    columns = "".join(f"{name}, " for name in AXES[axis])
    counts = ", ".join(f"count(*) FILTER ({METRICS[each]}) AS {each}" for each in metrics)
    rows = database.execute(
        f"SELECT {columns}day, n, {', '.join(metrics)}, count(*) FROM ("  # noqa: S608 - own names
        f"SELECT {columns}day, count(*) AS n, {counts} FROM dated GROUP BY {columns}day, cluster"
        ") GROUP BY ALL ORDER BY ALL"
    ).fetchall()
    width = len(AXES[axis])
    for names, found in groupby(rows, key=lambda row: row[:width]):
        days = {
            day: [row[width + 1 :] for row in of_day]
            for day, of_day in groupby(found, key=lambda row: row[width])
        }
        for place, metric in enumerate(metrics, 1):
            clusters = {
                day: tuple(Cluster(row[place], row[0], row[-1]) for row in groups)
                for day, groups in days.items()
            }
            yield _Series(metric, axis, names, clusters)


def _largest(series: Sequence[_Series], axis: DriftAxis) -> list[_Series]:
    """Return the series of an axis of the names that have the most turns."""
    turns = {
        each.names: sum(day.n for day in each.counts().values())
        for each in series
        if each.by == axis
    }
    names = set(sorted(turns, key=lambda name: (-turns[name], name))[:_MOST_SERIES])
    return [each for each in series if each.by == axis and each.names in names]


def _tested(
    database: "DuckDBPyConnection", series: Sequence[_Series], options: DriftOptions
) -> Iterator[DriftSeries]:
    draws = max(DRAWS, _DRAWS_EACH * len(series))
    rises = [each.rise(draws) if len(each.days) >= FEWEST_DAYS else None for each in series]
    adjusted = iter(holm([rise.p for rise in rises if rise]))
    for each, rise in zip(series, rises, strict=True):
        days = {day: (it.k, it.n) for day, it in each.counts().items()}
        about = (each.metric, each.by, each.names)
        if rise is None:
            yield DriftSeries(*about, "untested", days, 1.0, 1.0)
            continue
        sure, change = next(adjusted), None
        if rise.first and sure <= options.alpha:
            change = _change(database, each, rise.first)
            if abs(_rate(change.after) - _rate(change.before)) < options.least:
                change = None
        yield DriftSeries(*about, "worse" if change else "steady", days, rise.p, sure, change)


def _change(database: "DuckDBPyConnection", series: _Series, first: int) -> Change:
    day = list(series.days)[first]
    before, after = series.shares(first)
    return Change(
        day,
        before,
        after,
        _grown(database, series, day, before.n, after.n),
        _new(database, series, day),
    )


def _grown(
    database: "DuckDBPyConnection", series: _Series, day: str, before: int, after: int
) -> GrownSignature | None:
    counted = "parse_errors > 0" if series.metric == "parse_error_rate" else "NOT success"
    rows = database.execute(
        "SELECT signature, count(*) FILTER (day < ?) / ? AS before, "  # noqa: S608 - own names
        "count(*) FILTER (day >= ?) / ? AS after, "
        "arg_min(struct_pack(why, file, position), (day, file, position)) FILTER (day >= ?) "
        f"FROM dated WHERE {counted}{_of(series)} GROUP BY signature HAVING max(day) >= ? "
        "ORDER BY after - before DESC, signature LIMIT 1",
        [day, before, day, after, day, *series.names, day],
    ).fetchall()
    if not rows or rows[0][2] <= rows[0][1]:
        return None
    *shares, example = rows[0]
    return GrownSignature(*shares, **example)


def _new(database: "DuckDBPyConnection", series: _Series, day: str) -> tuple[str, ...]:
    found: list[str] = []
    for column in ("model", "prompt"):
        rows: list[tuple[Any, ...]] = database.execute(
            f"SELECT {column} FROM dated WHERE true{_of(series)} GROUP BY 1 "  # noqa: S608
            "HAVING min(day) = ? ORDER BY count(*) DESC, 1 LIMIT ?",
            [*series.names, day, _MOST_NEW],
        ).fetchall()
        found += [f"{column} {name}" for (name,) in rows]
    return tuple(found)


def _of(series: _Series) -> str:
    return "".join(f" AND {name} = ?" for name in AXES[series.by])


def _rate(share: Share) -> float:
    return share.k / share.n
