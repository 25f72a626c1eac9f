"""The text of a query -> its answer, from a database that is sealed.

Only one statement that reads is run. The caller's database must have access to no other file and to
no network; this module checks the statement, and never makes SQL.
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
    """The answer of a query.

    Fields:
        columns: their names.
        rows: read from the database as they are needed.
    """

    columns: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]


def ask(database: "DuckDBPyConnection", sql: str) -> Answer:
    """Run one query.

    Raises:
        UsageError: the text is not one statement that reads, or the database rejects it.
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
    """Return the error of the database; an interrupt is not one.

    Raises:
        KeyboardInterrupt: DuckDB has taken it for itself.
    """
    lines = [line.rstrip() for line in str(error).splitlines() if line.strip()]
    if "INTERRUPT" in str(error).upper().partition(":")[0]:
        raise KeyboardInterrupt from error
    hint = "`harness query 'SHOW TABLES'` lists the tables, `DESCRIBE turns` their columns."
    return UsageError("\n".join(lines), where=_WHERE, hint=hint)
