"""Queries of the user: one statement that reads, with the errors of the database in words."""

import duckdb
import pytest

from harness.errors import UsageError
from harness.verdicts.database import Questions
from harness.verdicts.sql import ask
from tests.runs.runs_samples import a_result, a_run, a_turn


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("", "expected one statement, found 0"),
        ("SELECT 1; SELECT 2", "expected one statement, found 2"),
        ("CREATE TABLE a (b INTEGER)", "a statement that reads, found CREATE"),
        ("DROP TABLE results", "a statement that reads, found DROP"),
        ("INSERT INTO findings VALUES ('', '', '', '')", "found INSERT"),
        ("COPY results TO 'x.csv'", "found COPY"),
        ("PRAGMA version", "found PRAGMA"),
        ("SELEC 1", "syntax error"),
        ("SELECT nope FROM results", 'column "nope" not found'),
        ("SELECT * FROM read_text('/etc/hostname')", "Cannot access file"),
        ("SELECT error('as it is read')", "as it is read"),
    ],
)
def test_what_does_not_only_read_the_tables_is_refused(sql: str, text: str) -> None:
    with Questions(a_run([a_result("s")])) as questions, pytest.raises(UsageError, match=text):
        list(ask(questions.database, sql).rows)


def test_a_run_answers() -> None:
    run = a_run([a_result("s", turns=(a_turn(), a_turn(1)))])
    with Questions(run) as questions:
        answer = ask(
            questions.database, "SELECT normalizer, count(*) AS n FROM measured GROUP BY 1"
        )
        assert answer.columns == ("normalizer", "n")
        assert list(answer.rows) in ([("reference", 2)], [])
        many = ask(questions.database, "FROM range(2500)")
        assert sum(1 for _ in many.rows) == 2_500


def test_an_interrupt_stays_one() -> None:
    class Interrupted:
        def extract_statements(self, sql: str) -> list[object]:
            del sql
            raise duckdb.InterruptException("INTERRUPT Error: Interrupted!")

    with pytest.raises(KeyboardInterrupt):
        ask(Interrupted(), "SELECT 1")  # type: ignore[arg-type]  # the part of it that is called
