"""Files of rows -> rates of the turns, by any of their dimensions.

Equal turns, a response to a request that the log has twice, count once. DuckDB reads the files, and
keeps on disk what does not fit in memory.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from harness.judging.results import Blame
from harness.measuring.parquet import database
from harness.providers import UNKNOWN
from harness.runs.statistics import Cluster, clustered_interval, intraclass_correlation

Dimension = Literal["provider", "model", "prompt", "dialect", "day"]

SCHEMA: Final = 1
# What names a row of a table; `*` joins dimensions.
AXES: Final[tuple[tuple[Dimension, ...], ...]] = (
    ("model",),
    ("prompt",),
    ("model", "prompt"),
    ("provider",),
    ("day",),
)
_MOST_SIGNATURES: Final = 50
_SAMPLES: Final = 3
# Without a request, nothing tells which turns repeat each other.
_TURNS: Final = """
CREATE OR REPLACE TEMP TABLE turns AS
SELECT
    provider, model, prompt, dialect, success, blame, signature, lacks, why, file, position,
    parse_errors > 0 AS rejected,
    coalesce(CAST(TRY_CAST(time AS TIMESTAMP) AS DATE)::VARCHAR, '') AS day,
    CASE WHEN asked = '' THEN digest ELSE asked END AS cluster
FROM (
    SELECT DISTINCT ON (digest, asked, model) * FROM read_parquet(?)
    ORDER BY digest, asked, model, file, position
)
"""
_SIGNATURES: Final = """
SELECT
    signature, blame, count(*) AS n, list_sort(list_distinct(list(model))),
    arg_min(why, (file, position)), min((file, position), $samples)
FROM turns WHERE NOT success
GROUP BY signature, blame ORDER BY n DESC, signature, blame LIMIT $most
"""


class Share(msgspec.Struct, frozen=True):
    """`k` of `n` turns, and the bounds of the rate (95 %); see `harness.runs.statistics`."""

    k: int
    n: int
    low: float
    high: float


class RateLine(msgspec.Struct, frozen=True):
    """The turns of one model, prompt, provider or day.

    Fields:
        names: one for each dimension of the axis.
        requests: how many different ones they answer.
        failed: by blame.
    """

    names: tuple[str, ...]
    turn_success: Share
    parse_error_rate: Share
    requests: int
    failed: dict[Blame, int]


class Signature(msgspec.Struct, frozen=True):
    """Failed turns that have one cause.

    Fields:
        why: of the first of them.
        samples: file and position of the first few.
    """

    signature: str
    blame: Blame
    n: int
    models: tuple[str, ...]
    why: str
    samples: tuple[tuple[str, int], ...]


class Measured(msgspec.Struct, frozen=True):
    """The rates of a log.

    Fields:
        turns: those that count.
        duplicates: those that are equal to one that counts.
        lacks: what the log does not contain -> in how many turns.
        by: axis, such as `model x prompt` -> a line for each, best first.
    """

    schema: int
    turns: int
    duplicates: int
    success: Share
    parse_error_rate: Share
    lacks: dict[str, int]
    by: dict[str, tuple[RateLine, ...]]
    signatures: tuple[Signature, ...]


def measured(folder: Path) -> Measured:
    """Return the rates of the turns in the files of `folder`."""
    tables = _Tables(folder)
    try:
        return tables.measured()
    finally:
        tables.close()


class _Tables:
    """The rows of a folder, in a table that DuckDB may move to the disk."""

    def __init__(self, folder: Path) -> None:
        self._database = database().cursor()
        files = str(folder / "turns-*.parquet")
        self._ask("SET temp_directory = " + _quoted(str(folder / ".spilled")))
        self._ask(
            "CREATE OR REPLACE TEMP TABLE every AS SELECT count(*) AS n FROM read_parquet(?)",
            files,
        )
        self._ask(
            _TURNS,
            files,
        )

    def close(self) -> None:
        self._ask("DROP TABLE turns")
        self._ask("DROP TABLE every")
        self._database.close()

    def measured(self) -> Measured:
        total = self._ask("SELECT n FROM every")[0][0]
        turns = self._ask("SELECT count(*) FROM turns")[0][0]
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
                self._ask("SELECT unnest(lacks) AS lack, count(*) FROM turns GROUP BY 1 ORDER BY 1")
            ),
            by=lines,
            signatures=self._signatures(),
        )

    def _lines(self, axis: Sequence[Dimension]) -> tuple[RateLine, ...]:
        """Return the line of each combination of names, best first, unknown last."""
        success, rejected = (self._shares(axis, column) for column in ("success", "rejected"))
        failed: dict[tuple[str, ...], dict[Blame, int]] = {}
        columns = "".join(f"{each}, " for each in axis)
        for *names, blame, count in self._ask(
            f"SELECT {columns}blame, count(*) FROM turns WHERE NOT success "  # noqa: S608
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
            f"count(*) FILTER ({column}) AS k, count(*) AS n FROM turns GROUP BY {columns}cluster) "
            f"GROUP BY ALL ORDER BY ALL"
        )
        found: dict[tuple[str, ...], list[Cluster]] = {}
        for *each, k, n, times in self._ask(sql):
            found.setdefault(tuple(each), []).append(Cluster(k, n, times))
        alike = intraclass_correlation(found.values())
        shares: dict[tuple[str, ...], tuple[Share, int]] = {}
        for names, clusters in found.items():
            sure = clustered_interval(clusters, alike)
            k = sum(it.k * it.times for it in clusters)
            n = sum(it.n * it.times for it in clusters)
            shares[names] = Share(k, n, *sure.interval), sure.groups
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


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
