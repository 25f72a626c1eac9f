"""Read and write the rows of Parquet files with DuckDB, in bounded memory."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import msgspec

from harness.errors import UnreadableError
from harness.workers.interruption import defer_interrupts

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MEMORY: Final = "300MB"
_FETCHED: Final = 200


@cache
def database() -> "DuckDBPyConnection":
    """Return this process's DuckDB database, which has one thread and never loads an extension."""
    with defer_interrupts():
        import duckdb  # noqa: PLC0415 - slow to import

        return duckdb.connect(
            ":memory:",
            config={
                "threads": 1,
                "memory_limit": MEMORY,
                "autoload_known_extensions": "false",
                "autoinstall_known_extensions": "false",
            },
        )


def number_of_rows(file: str) -> int:
    """Return the number of rows of a Parquet file.

    Raises:
        UnreadableError: the file is not a Parquet file.
    """
    sql = "SELECT num_rows FROM parquet_file_metadata(?)"
    rows = _fetched(file, sql, [file])
    return sum(count for (count,) in rows)


def read_rows(file: str, start: int, stop: int) -> Iterator[dict[str, Any]]:
    """Yield the rows of a Parquet file from `start` to before `stop`, as mappings.

    Raises:
        UnreadableError: the file is damaged.
    """
    import duckdb  # noqa: PLC0415 - slow to import

    cursor = database().cursor()
    sql = (
        "SELECT * EXCLUDE (file_row_number) FROM read_parquet(?, file_row_number = true) "
        "WHERE file_row_number >= ? AND file_row_number < ? ORDER BY file_row_number"
    )
    try:
        answer = cursor.execute(sql, [file, start, stop])
        names = [str(column[0]) for column in answer.description or ()]
        while rows := answer.fetchmany(_FETCHED):
            for row in rows:
                yield dict(zip(names, row, strict=True))
    except duckdb.Error as error:
        raise UnreadableError(f"no Parquet: {_first_line(error)}", where=file) from None


def _fetched(file: str, sql: str, values: list[object]) -> list[tuple[Any, ...]]:
    import duckdb  # noqa: PLC0415 - slow to import

    try:
        return database().cursor().execute(sql, values).fetchall()
    except duckdb.Error as error:
        raise UnreadableError(f"no Parquet: {_first_line(error)}", where=file) from None


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0]


def write_rows(path: Path, rows: Iterable[msgspec.Struct], columns: Mapping[str, str]) -> int:
    """Write rows as a Parquet file in one step, and return their number.

    Args:
        path: the path of the file; an existing file is replaced.
        rows: structs with the fields of `columns`.
        columns: name of a field -> its type in SQL.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    encoder = msgspec.json.Encoder()
    count = 0
    with TemporaryDirectory(dir=path.parent, prefix=".") as folder:
        lines, part = Path(folder) / "rows.jsonl", Path(folder) / path.name
        with lines.open("wb") as file:
            for row in rows:
                file.write(encoder.encode(row) + b"\n")
                count += 1
        types = ", ".join(f"'{name}': '{kind}'" for name, kind in columns.items())
        # No values of a log are part of the text: the names and types are the program's.
        sql = (
            f"COPY (SELECT * FROM read_json(?, format = 'newline_delimited', "  # noqa: S608
            f"columns = {{{types}}}, maximum_object_size = 1000000)) "
            "TO ? (FORMAT parquet, COMPRESSION zstd)"
        )
        database().cursor().execute(sql, [str(lines), str(part)])
        part.replace(path)
    return count
