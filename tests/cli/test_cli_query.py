"""`harness query`: answers as a table, as JSON and as CSV, from rows and from a run."""

import json
from pathlib import Path

import pytest

from harness.results.store import RunWriter
from tests.cli.conftest import Harness
from tests.measuring.measuring_samples import A_ROW, a_folder, failed
from tests.runs.runs_samples import a_result, a_run

VALUES = (
    "SELECT 'a\x1b[31m' AS x, NULL AS y, [1, 2] AS z, '=1+1' AS f, 1.50 AS d, "
    "DATE '2026-01-02' AS t"
)


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> str:
    return str(a_folder(tmp_path / "rows", [A_ROW, failed(A_ROW)]))


def test_rows_answer_in_each_format(harness: Harness, folder: str) -> None:
    left = harness("query", VALUES, folder)
    assert (left.code, left.err) == (0, "")
    assert left.out.splitlines()[-1] == "(1 row)"
    assert "\x1b" not in left.out
    assert harness("query", VALUES, folder, "--format", "json").json == [
        {"x": "a\x1b[31m", "y": None, "z": [1, 2], "f": "=1+1", "d": 1.5, "t": "2026-01-02"}
    ]
    head, row = harness("query", VALUES, folder, "--format", "csv").out.splitlines()
    assert head == "x,y,z,f,d,t"
    assert "'=1+1" in row
    assert "\x1b" not in row


def test_long_answers_are_complete_but_for_the_table(harness: Harness, folder: str) -> None:
    shown = harness("query", "FROM range(450)", folder).out.splitlines()
    assert len(shown) == 202
    assert shown[-1].startswith("(200 rows, and more")
    assert (
        len(harness("query", "FROM range(450)", folder, "--format", "csv").out.splitlines()) == 451
    )
    assert len(harness("query", "FROM range(450)", folder, "--format", "json").json) == 450
    assert harness("query", "FROM turns WHERE false", folder, "--format", "json").json == []


def test_a_run_answers(harness: Harness, tmp_path: Path) -> None:
    path, run = tmp_path / "run.jsonl", a_run([a_result("s")])
    with RunWriter(path) as writer:
        writer.header(run.header)
        writer.add(run.results[0])
        writer.finish()
    sql = "SELECT scenario FROM results"
    assert json.loads(harness("query", sql, str(path), "--format", "json").out) == [
        {"scenario": "s"}
    ]


@pytest.mark.parametrize(
    ("sql", "place", "text"),
    [
        ("DROP VIEW turns", "rows", "SQL: expected a statement that reads, found DROP"),
        ("SELECT 1 AS a, 2 AS a", "rows", "two columns have the name 'a'"),
        ("SELECT 1", "nowhere", "expected a folder of rows or a run file, found nothing"),
    ],
)
def test_what_cannot_be_answered_is_an_error(
    harness: Harness, folder: str, sql: str, place: str, text: str
) -> None:
    left = harness("query", sql, str(Path(folder).parent / place), "--format", "json")
    assert (left.code, left.out) == (2, "")
    assert text in left.err
