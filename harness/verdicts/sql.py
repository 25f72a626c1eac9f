"""Run one SQL query of the user on a database that can reach neither files nor the network.

Only a single statement that reads is allowed. The caller must open the database with the options
`SEALED` and `ISOLATED`. This module checks the statement, and never builds SQL itself.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

import msgspec

from harness.errors import UsageError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# A database with these options cannot reach anything that it was not given, nor change them.
SEALED: Final = {"enable_external_access": "false", "lock_configuration": "true"}
# Names of the Python program are not tables, and no extension is downloaded or loaded.
ISOLATED: Final = {
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "python_enable_replacements": "false",
}
_READING: Final = frozenset(("SELECT", "EXPLAIN"))
_FETCHED: Final = 1000
_WHERE: Final = "SQL"


class Answer(msgspec.Struct, frozen=True):
    """The answer to a query.

    Fields:
        columns: the names of the columns.
        rows: an iterator that reads the rows from the database when they are needed.
    """

    columns: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]


def ask(database: "DuckDBPyConnection", sql: str) -> Answer:
    """Run one SQL query on `database`, and return its answer.

    Raises:
        UsageError: `sql` is not a single statement that reads, or the database rejects it.
    """
    import duckdb  # noqa: PLC0415 - slow to import

    try:
        statements = database.extract_statements(sql)
    except duckdb.Error as error:
        raise _rejected(error) from None
    if len(statements) != 1:
        raise UsageError(
            f"expected one statement, found {len(statements)}",
            where=_WHERE,
            hint="Write one SELECT, such as 'SELECT count(*) FROM turns'.",
        )
    kind = statements[0].type.name
    if kind not in _READING:
        raise UsageError(
            f"expected a statement that reads, found {kind}",
            where=_WHERE,
            hint="Write a SELECT. `SHOW TABLES` and `DESCRIBE turns` list what it can read.",
        )
    try:
        cursor = database.execute(statements[0])
        columns = tuple(str(column[0]) for column in cursor.description or ())
    except duckdb.Error as error:
        raise _rejected(error) from None
    return Answer(columns, _rows(cursor))


def _rows(cursor: "DuckDBPyConnection") -> Iterator[tuple[Any, ...]]:
    import duckdb  # noqa: PLC0415 - slow to import

    try:
        while rows := cursor.fetchmany(_FETCHED):
            yield from rows
    except duckdb.Error as error:
        raise _rejected(error) from None


def _rejected(error: Exception) -> UsageError:
    """Return an error of the database as a UsageError.

    Raises:
        KeyboardInterrupt: the error is the user's Ctrl-C, which DuckDB has caught.
    """
    lines = [line.rstrip() for line in str(error).splitlines() if line.strip()]
    if "INTERRUPT" in str(error).upper().partition(":")[0]:
        raise KeyboardInterrupt from error
    hint = "`harness query 'SHOW TABLES'` lists the tables, `DESCRIBE turns` their columns."
    return UsageError("\n".join(lines), where=_WHERE, hint=hint)
