"""Calculate rates of the measured turns in a folder, grouped by model, prompt, day and others.

DuckDB reads the Parquet files. It writes data that does not fit in memory to disk.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import msgspec

from harness.measuring.rows import FIRST_PLACES, open_rows
from harness.providers import UNKNOWN
from harness.results.outcome import Blame
from harness.verdicts.statistics import Cluster, clustered_interval, intraclass_correlation

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Dimension = Literal["provider", "model", "prompt", "dialect", "day"]

SCHEMA: Final = 3
# What names a line of a table.
AXES: Final[tuple[tuple[Dimension, ...], ...]] = (
    ("model",),
    ("prompt",),
    ("model", "prompt"),
    ("provider",),
    ("day",),
)
_MOST_SIGNATURES: Final = 50
_SAMPLES: Final = 3
# The turns that count, as the questions need them: only their places are copied. Without a request,
# nothing tells which turns repeat each other.
_KEPT: Final = f"CREATE TEMP TABLE kept AS {FIRST_PLACES}"
_COUNTED: Final = """
CREATE TEMP VIEW counted AS
SELECT
    provider, model, prompt, dialect, success, blame, signature, lacks, why, file, position,
    digest, outcome, record, success OR blame NOT IN ('request', 'harness') AS ranked,
    parse_errors > 0 AS rejected,
    coalesce(CAST(day AS VARCHAR), '') AS day,
    CASE WHEN asked = '' THEN digest ELSE asked END AS cluster
FROM placed WHERE place IN (SELECT place FROM kept)
"""
_SIGNATURES: Final = """
SELECT
    signature, blame, count(*) AS n, list(DISTINCT model ORDER BY model),
    arg_min(why, (file, position)), min((file, position, digest, record), $samples)
FROM counted WHERE NOT success
GROUP BY signature, blame ORDER BY n DESC, signature, blame LIMIT $most
"""


class Share(msgspec.Struct, frozen=True):
    """A rate: `k` of `n` turns, with its 95 % confidence interval from `low` to `high`."""

    k: int
    n: int
    low: float
    high: float


class RateLine(msgspec.Struct, frozen=True):
    """The rates of the turns of one model, prompt, provider or day.

    Fields:
        names: the name for each dimension of the axis, such as a model and a prompt.
        requests: the number of different requests that the turns answer.
        failed: blame -> number of failed turns.
    """

    names: tuple[str, ...]
    turn_success: Share
    parse_error_rate: Share
    requests: int
    failed: dict[Blame, int]


class Signature(msgspec.Struct, frozen=True):
    """Failed turns with the same signature, which means the same cause.

    Fields:
        n: the number of these turns.
        models: the models that produced them.
        why: the failure of the first of these turns, as text.
        samples: file, position, digest and id of the record of the first few of these turns.
    """

    signature: str
    blame: Blame
    n: int
    models: tuple[str, ...]
    why: str
    samples: tuple[tuple[str, int, str, str], ...]


class Measured(msgspec.Struct, frozen=True):
    """The rates of a log.

    Fields:
        turns: the number of turns, without duplicates.
        duplicates: the number of turns that are equal to an earlier turn, and so do not count.
        success: the share of successful turns.
        lacks: kind of data that the log does not contain -> number of turns without it.
        outcomes: outcome of the measured normalizer -> number of turns; empty if none was measured.
        by: axis, such as `model x prompt` -> a line for each combination, best first.
        signatures: the failed turns, grouped by cause.
    """

    schema: int
    turns: int
    duplicates: int
    success: Share
    parse_error_rate: Share
    lacks: dict[str, int]
    outcomes: dict[str, int]
    by: dict[str, tuple[RateLine, ...]]
    signatures: tuple[Signature, ...]


def share_of(clusters: Sequence[Cluster], alike: float) -> Share:
    """Return the share of all turns in `clusters`, if turns of one cluster correlate by `alike`."""
    k, n = (sum(getattr(it, name) * it.times for it in clusters) for name in ("k", "n"))
    return Share(k, n, *clustered_interval(clusters, alike).interval)


def measured(folder: Path) -> Measured:
    """Return the rates of the turns in the files of `folder`.

    Raises:
        UsageError: the folder has no rows.
    """
    with open_rows(folder) as database:
        database.execute(_KEPT)
        database.execute(_COUNTED)
        return _Rates(database).measured()


class _Rates:
    """Calculates parts of the rates with SQL from the database table `counted`."""

    def __init__(self, database: "DuckDBPyConnection") -> None:
        self._database = database

    def measured(self) -> Measured:
        total = self._ask("SELECT count(*) FROM rows")[0][0]
        turns = self._ask("SELECT count(*) FROM counted")[0][0]
        lines = {" x ".join(axis): self._lines(axis) for axis in AXES}
        everything = self._lines(())
        nothing = Share(0, 0, 0.0, 1.0)
        return Measured(
            schema=SCHEMA,
            turns=turns,
            duplicates=total - turns,
            success=everything[0].turn_success if everything else nothing,
            parse_error_rate=everything[0].parse_error_rate if everything else nothing,
            lacks=dict(
                self._ask(
                    "SELECT unnest(lacks) AS lack, count(*) FROM counted GROUP BY 1 ORDER BY 1"
                )
            ),
            outcomes=dict(
                self._ask(
                    "SELECT outcome, count(*) FROM counted WHERE outcome <> '' "
                    "GROUP BY 1 ORDER BY 1"
                )
            ),
            by=lines,
            signatures=self._signatures(),
        )

    def _lines(self, axis: Sequence[Dimension]) -> tuple[RateLine, ...]:
        """Return a line for each combination of names: the best rate first, unknown names last."""
        success, rejected = (self._shares(axis, column) for column in ("success", "rejected"))
        failed: dict[tuple[str, ...], dict[Blame, int]] = {}
        columns = "".join(f"{each}, " for each in axis)
        for *names, blame, count in self._ask(
            f"SELECT {columns}blame, count(*) FROM counted WHERE NOT success "  # noqa: S608
            f"GROUP BY ALL ORDER BY ALL"
        ):
            failed.setdefault(tuple(names), {})[blame] = count
        lines = [
            RateLine(names, share, rejected[names][0], requests, failed.get(names, {}))
            for names, (share, requests) in success.items()
        ]
        return tuple(sorted(lines, key=_rank))

    def _shares(
        self, axis: Sequence[Dimension], column: str
    ) -> Mapping[tuple[str, ...], tuple[Share, int]]:
        columns = "".join(f"{each}, " for each in axis)
        sql = (
            f"SELECT {columns}k, n, count(*) FROM (SELECT {columns}"  # noqa: S608
            f"count(*) FILTER ({column}) AS k, count(*) AS n FROM counted WHERE ranked "
            f"GROUP BY {columns}cluster) GROUP BY ALL ORDER BY ALL"
        )
        found: dict[tuple[str, ...], list[Cluster]] = {}
        for *each, k, n, times in self._ask(sql):
            found.setdefault(tuple(each), []).append(Cluster(k, n, times))
        alike = intraclass_correlation(found.values())
        shares: dict[tuple[str, ...], tuple[Share, int]] = {}
        for names, clusters in found.items():
            shares[names] = share_of(clusters, alike), sum(it.times for it in clusters)
        return shares

    def _signatures(self) -> tuple[Signature, ...]:
        values = {"samples": _SAMPLES, "most": _MOST_SIGNATURES}
        rows = self._database.execute(_SIGNATURES, values).fetchall()
        return tuple(
            Signature(signature, blame, n, tuple(models), why, tuple(map(tuple, places)))
            for signature, blame, n, models, why, places in rows
        )

    def _ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        return self._database.execute(sql, list(values)).fetchall()


def _rank(line: RateLine) -> tuple[bool, float, tuple[str, ...]]:
    is_unknown = not {UNKNOWN, ""}.isdisjoint(line.names)
    return is_unknown, -line.turn_success.low, line.names
