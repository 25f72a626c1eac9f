"""The database of a folder of rows reads these files and nothing else."""

import os
from pathlib import Path

import duckdb
import pytest

from harness.errors import UnreadableError, UsageError
from harness.measuring.rows import open_rows
from tests.measuring.measuring_samples import A_ROW, a_folder

FORBIDDEN = (
    "SELECT * FROM read_text('{other}')",
    "SELECT * FROM '{other}'",
    "SELECT * FROM glob('{folder}/*')",
    "SELECT * FROM read_parquet('https://example.com/x.parquet')",
    "COPY turns TO '{folder}/new.parquet'",
    "ATTACH '{folder}/new.db'",
    "SET enable_external_access = true",
    "SET threads = 9",
    "LOAD httpfs",
    "SELECT * FROM outside",
)


@pytest.mark.parametrize("sql", FORBIDDEN)
def test_nothing_but_the_rows_can_be_reached(tmp_path: Path, sql: str) -> None:
    outside = duckdb.connect().sql("SELECT 1 AS a")  # a name that DuckDB could find in Python
    other = tmp_path / "other.parquet"
    other.write_text("secret")
    folder = a_folder(tmp_path / "rows", [A_ROW])
    with open_rows(folder) as database, pytest.raises(duckdb.Error):
        database.execute(sql.format(other=other, folder=folder)).fetchall()
    assert outside is not None
    names = sorted(each.name for each in folder.iterdir())
    assert names == ["complete.json", "turns-000000.parquet"]


def test_equal_turns_are_one_turn_and_every_row(tmp_path: Path) -> None:
    with open_rows(a_folder(tmp_path / "it's", [A_ROW, A_ROW])) as database:
        assert database.execute("SELECT count(*) FROM turns").fetchall() == [(1,)]
        assert database.execute("SELECT count(*) FROM rows").fetchall() == [(2,)]


def test_files_that_are_not_rows_are_refused(tmp_path: Path) -> None:
    (tmp_path / "turns-1.parquet").write_text("no")
    with pytest.raises(UsageError, match="unreadable rows"), open_rows(tmp_path):
        pass
    duckdb.connect().execute(f"COPY (SELECT '' AS time) TO '{tmp_path}/turns-1.parquet'")
    with pytest.raises(UsageError, match="expected the column 'asked'"), open_rows(tmp_path):
        pass


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_with_the_name_of_rows_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "turns-1.parquet")
    with pytest.raises(UnreadableError, match="expected a regular file"), open_rows(tmp_path):
        pass
