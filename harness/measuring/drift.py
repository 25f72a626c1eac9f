"""Find, in the rows of `harness measure`, series of days whose rate became worse, and the day.

A series contains the daily counts of one model, prompt, provider or dialect, or of all turns. The
p-values are adjusted for the number of tested series, so that the chance of any false alarm is at
most `alpha`.
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
    """The signature of failed turns whose share grew, with its share before and after the change.

    Fields:
        signature: the text that failures of one cause have in common.
        before, after: shares of all turns before the change, and from it on.
        why: the failure of the first such turn after the change.
        file, position: the location of this turn in the log.
    """

    signature: str
    before: float
    after: float
    why: str
    file: str
    position: int


class Change(msgspec.Struct, frozen=True):
    """A day on which a rate became worse.

    Fields:
        day: the first day with the worse rate.
        before, after: the rate before this day, and from it on.
        signature: the signature whose share grew most; None if none grew.
        new: models and prompts of the series that have no turn before this day.
    """

    day: str
    before: Share
    after: Share
    signature: GrownSignature | None
    new: tuple[str, ...]


class DriftSeries(msgspec.Struct, frozen=True):
    """The daily counts of one metric for the turns with certain names, and the result of the test.

    Fields:
        by: the dimensions of the series, such as model and prompt.
        names: the name for each dimension of `by`.
        status: `worse` if the rate is significantly worse, `untested` if there are too few days.
        days: day -> the number of turns that the metric counts (successes or calls with parse
            errors), and of all turns.
        p, adjusted: the p-value of the most likely change, and the same adjusted for the number of
            series; see `harness.measuring.change_point`.
        change: the most likely change, if the status is `worse`.
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
    """The tested series of the rows in a folder, worse series first.

    Fields:
        alpha: the highest chance of a false alarm.
        least: the smallest change of a rate that counts.
        undated: the number of turns without a time in the log, which are in no series.
        left_out: the number of series that were not tested, because others have more turns.
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
        axes: the dimensions by which turns are grouped into series.
        metrics: the rates to test.
        since: the first day, as YYYY-MM-DD; "" for all days.
        alpha: the highest chance of a false alarm.
        least: the smallest change of a rate that counts.
    """

    axes: tuple[DriftAxis, ...] = ("all",)
    metrics: tuple[DriftMetric, ...] = tuple(METRICS)
    since: str = ""
    alpha: float = 0.01
    least: float = 0.0


class _Series(msgspec.Struct, frozen=True):
    """The daily counts of a series that has not been tested."""

    metric: DriftMetric
    by: DriftAxis
    names: tuple[str, ...]
    days: dict[str, tuple[Cluster, ...]]

    def counts(self) -> dict[str, Cluster]:
        """Return, for each day, the number of all turns and of turns that the metric counts."""
        return {
            day: Cluster(sum(it.k * it.times for it in each), sum(it.n * it.times for it in each))
            for day, each in self.days.items()
        }

    def rise(self, draws: int) -> Rise:
        """Return the most likely change for the worse; for turn success, more failures."""
        days = list(self.counts().values())
        if self.metric == "turn_success":
            days = [Cluster(day.n - day.k, day.n) for day in days]
        return find_rise(days, repr((self.metric, self.by, self.names)), draws)

    def shares(self, first: int) -> tuple[Share, Share]:
        """Return the rate of the days before index `first`, and of the days from `first` on."""
        groups = list(self.days.values())
        alike = intraclass_correlation(groups)
        before, after = (
            [cluster for day in days for cluster in day]
            for days in (groups[:first], groups[first:])
        )
        return share_of(before, alike), share_of(after, alike)


def find_drift(folder: Path, options: DriftOptions) -> Drift:
    """Test the series of the rows in `folder`, and return the result for each.

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
    """Copy the columns that the series need; equal turns with the same time count once."""
    database.execute(
        "CREATE TEMP TABLE dated AS SELECT DISTINCT ON (digest, asked, model, time) "
        "CAST(day AS VARCHAR) AS day, provider, model, prompt, dialect, success, parse_errors, "
        "signature, why, file, position, "
        "CASE WHEN asked = '' THEN digest ELSE asked END AS cluster "
        "FROM rows WHERE (success OR blame NOT IN ('request', 'harness')) "
        "AND day IS NOT NULL AND day >= coalesce(TRY_CAST(? AS DATE), '-infinity') "
        "ORDER BY digest, asked, model, time, file, position",
        [since],
    )


def _read(
    database: "DuckDBPyConnection", axis: DriftAxis, metrics: Sequence[DriftMetric]
) -> Iterator[_Series]:
    """Yield the series of `axis`, ordered by name; for each name, one series for each metric."""
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
    """Return the series of the names that have the most turns in `axis`."""
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
