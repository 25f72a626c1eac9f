"""`harness query`: answer a read-only SQL query about the rows of a measurement, or about a run."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
import msgspec

from harness.cli.options import format_option
from harness.cli.run_files import find_run
from harness.errors import UsageError
from harness.measuring.rows import DEFAULT_FOLDER, FILES, open_rows
from harness.reporting.text.files import csv_rows
from harness.reporting.visible import aligned_columns, marked, plain
from harness.results.store import read_run
from harness.verdicts.database import Questions
from harness.verdicts.sql import Answer, ask
from harness.wording import pluralize

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_SHOWN: Final = 200
_LONGEST: Final = 120
_JSON: Final = msgspec.json.Encoder(decimal_format="number", enc_hook=str)


@click.command("query")
@click.argument("sql", metavar="SQL")
@click.argument("place", required=False, type=click.Path(path_type=Path), metavar="[FOLDER|RUN]")
@format_option("pretty", "json", "csv")
def query_command(sql: str, place: Path | None, style: str) -> None:
    """Print the answer of SQL, in DuckDB's dialect, about the rows of FOLDER or about RUN.

    FOLDER is what `harness measure` wrote, by default reports/measure. Its tables are `turns`,
    which has equal turns once, and `rows`. RUN is a file of `harness run`, and has the tables
    `results`, `turns`, `conversations` and `findings`. The statement can read nothing else and
    change nothing. `pretty` prints the first 200 rows.
    """
    with _database(place or DEFAULT_FOLDER) as database:
        answer = ask(database, sql)
        printed = {"json": _json_lines, "csv": _csv_lines}.get(style, _pretty_lines)
        for line in printed(answer):
            click.echo(line)


@contextmanager
def _database(place: Path) -> Iterator["DuckDBPyConnection"]:
    if place.is_dir() and any(place.glob(FILES)):
        with open_rows(place) as database:
            yield database
        return
    if not place.exists():
        raise UsageError(
            "expected a folder of rows or a run file, found nothing",
            where=str(place),
            hint="Write rows with `harness measure SOURCE`, or a run with `harness run`.",
        )
    with Questions(read_run(find_run(place))) as questions:
        yield questions.database


def _pretty_lines(answer: Answer) -> Iterator[str]:
    shown = [tuple(map(_cell, row)) for row in islice(answer.rows, _SHOWN)]
    yield from aligned_columns([tuple(map(marked, answer.columns)), *shown])
    more = next(answer.rows, None) is not None
    limit = ", and more: print them all with --format csv or json" if more else ""
    yield f"({pluralize(len(shown), 'row')}{limit})"


def _cell(value: object) -> str:
    return plain("" if value is None else _text(value), _LONGEST)


def _text(value: object) -> str:
    """Return a value as text: text unchanged, other values as JSON without quotes around them."""
    return value if isinstance(value, str) else _JSON.encode(value).decode().strip('"')


def _json_lines(answer: Answer) -> Iterator[str]:
    """Yield the rows as one JSON array, with an object on each line."""
    twice = next((each for each, n in Counter(answer.columns).items() if n > 1), "")
    if twice:
        hint = "Name one of them with AS."
        raise UsageError(f"two columns have the name {twice!r}", where="SQL", hint=hint)
    before = "["
    for row in answer.rows:
        yield before + _JSON.encode(dict(zip(answer.columns, row, strict=True))).decode()
        before = ","
    yield "]" if before == "," else "[]"


def _csv_lines(answer: Answer) -> Iterator[str]:
    yield csv_rows([answer.columns]).removesuffix("\n")
    while rows := list(islice(answer.rows, _SHOWN)):
        yield csv_rows(map(_csv_cells, rows)).removesuffix("\n")


def _csv_cells(row: tuple[Any, ...]) -> list[object]:
    return [
        "" if each is None else each if isinstance(each, int | float) else _text(each)
        for each in row
    ]
