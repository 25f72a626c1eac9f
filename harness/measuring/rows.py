"""A folder of rows -> a database that reads these files and nothing else.

`rows` has every row. `turns` has those that `harness measure` counts: equal turns count once.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from harness.errors import UsageError
from harness.measuring.parquet import MEMORY
from harness.measuring.turn_row import COLUMNS
from harness.runs.interruption import defer_interrupts
from harness.runs.sql import ISOLATED, SEALED

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# Where `harness measure` writes them by default.
DEFAULT_FOLDER: Final = Path("reports/measure")
FILES: Final = "turns-*.parquet"
_MAKE: Final = "Write some with `harness measure SOURCE -o FOLDER`."
# The day of a turn in UTC; NULL if the log does not say when it was sent.
_DAY: Final = "CAST(TRY_CAST(time AS TIMESTAMP) AS DATE)"


@contextmanager
def open_rows(folder: Path) -> Iterator["DuckDBPyConnection"]:
    """Yield a sealed database with the views `rows` and `turns`.

    Raises:
        UsageError: the folder has no rows, or the rows of another version.
    """
    files = sorted(str(each) for each in folder.glob(FILES))
    if not files:
        raise UsageError(f"expected rows ({FILES}), found none", where=str(folder), hint=_MAKE)
    with defer_interrupts():
        import duckdb  # noqa: PLC0415 - slow to import

    with TemporaryDirectory(prefix="harness-") as spilled:
        limits: dict[str, str | bool | int | float | list[str]] = {
            "threads": 1,
            "memory_limit": MEMORY,
            "temp_directory": spilled,
        }
        with duckdb.connect(":memory:", config=limits | ISOLATED) as database:
            database.execute(f"SET allowed_paths = {_sql_list(files)}")
            try:
                database.execute(
                    f"CREATE VIEW rows AS SELECT *, {_DAY} AS day "  # noqa: S608 - paths, quoted
                    f"FROM read_parquet({_sql_list(files)})"
                )
                found = {name for name, *_ in database.execute("DESCRIBE rows").fetchall()}
            except duckdb.Error as error:
                text = str(error).partition("\n")[0]
                raise UsageError(
                    f"unreadable rows: {text}", where=str(folder), hint=_MAKE
                ) from None
            missing = sorted(COLUMNS.keys() - found)
            if missing:
                what = f"expected the column {missing[0]!r}, found rows without it"
                raise UsageError(what, where=str(folder), hint=_MAKE)
            database.execute(
                "CREATE VIEW turns AS SELECT DISTINCT ON (digest, asked, model) * FROM rows "
                "ORDER BY digest, asked, model, file, position"
            )
            for name, value in SEALED.items():
                database.execute(f"SET {name} = {value}")
            yield database


def _sql_list(texts: list[str]) -> str:
    return "[" + ", ".join("'" + text.replace("'", "''") + "'" for text in texts) + "]"
