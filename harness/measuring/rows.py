"""Open the rows of a folder as a database that can read these files and nothing else.

The view `rows` has every row. The view `turns` has the rows that `harness measure` counts: of equal
turns, only the first one.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from harness.errors import UsageError
from harness.files.load import refuse_special
from harness.measuring.measured_turn import COLUMNS
from harness.measuring.parquet import MEMORY
from harness.verdicts.sql import ISOLATED, SEALED
from harness.workers.interruption import defer_interrupts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# Where `harness measure` writes them by default.
DEFAULT_FOLDER: Final = Path("reports/measure")
FILES: Final = "turns-*.parquet"
_LINE_END: Final = "\n"
_MAKE: Final = "Write some with `harness measure SOURCE -o FOLDER`."
# Each row with its place in all files, and its day in UTC; NULL without a time.
_PLACED: Final = r"""
CREATE VIEW placed AS SELECT
    * EXCLUDE (filename, file_row_number),
    CAST(TRY_CAST(time AS TIMESTAMP) AS DATE) AS day,
    regexp_extract(filename, '(\d+)\.parquet$', 1)::BIGINT * 4294967296 + file_row_number AS place
FROM read_parquet({files}, filename = true, file_row_number = true)
"""
_ROWS: Final = "CREATE VIEW rows AS SELECT * EXCLUDE (place) FROM placed"
# The first of equal turns; grouping by it, unlike DISTINCT ON, needs no column of the others.
FIRST_PLACES: Final = "SELECT min(place) AS place FROM placed GROUP BY digest, asked, model"
_TURNS: Final = f"""
CREATE VIEW turns AS
SELECT * EXCLUDE (place) FROM placed WHERE place IN ({FIRST_PLACES})
"""  # noqa: S608 - no values


@contextmanager
def open_rows(folder: Path) -> Iterator["DuckDBPyConnection"]:
    """Yield a read-only database with the views `rows` and `turns`, which cannot open other files.

    Raises:
        UnreadableError: a file of rows is a pipe or a device.
        UsageError: the folder has no rows, or rows of another version of the harness.
    """
    files = sorted(str(each) for each in folder.glob(FILES))
    if not files:
        raise UsageError(f"expected rows ({FILES}), found none", where=str(folder), hint=_MAKE)
    for file in files:
        refuse_special(file)
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
                for view in (_PLACED.format(files=_sql_list(files)), _ROWS):
                    database.execute(view)
                found = {name for name, *_ in database.execute("DESCRIBE rows").fetchall()}
            except duckdb.Error as error:
                what = f"unreadable rows: {str(error).partition(_LINE_END)[0]}"
                raise UsageError(what, where=str(folder), hint=_MAKE) from None
            missing = sorted(COLUMNS.keys() - found)
            if missing:
                what = f"expected the column {missing[0]!r}, found rows without it"
                raise UsageError(what, where=str(folder), hint=_MAKE)
            database.execute(_TURNS)
            for name, value in SEALED.items():
                database.execute(f"SET {name} = {value}")
            yield database


def _sql_list(texts: list[str]) -> str:
    return "[" + ", ".join("'" + text.replace("'", "''") + "'" for text in texts) + "]"
