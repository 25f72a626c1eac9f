"""What an item of pytest does with a cell: judge it, tell its failure, honour expectations."""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from harness import shipped
from harness.judging.chunkings import Cuts
from harness.judging.results import Outcome, Result
from harness.reporting.findings_text import findings_lines
from harness.reporting.visible import marked
from harness.runs.expectations import Expectation, expected_of
from harness.runs.gate import reproduce
from harness.runs.plan import Job
from harness.runs.select import subject_id
from harness.runs.worker import judge_job

CellFailed = pytest.fail.Exception


def today() -> date:
    """Return the day on which expectations must hold; pytest items have no other clock."""
    return datetime.now(UTC).date()


def check(job: Job, cuts: Cuts, folder: Path) -> None:
    """Judge a cell; fail where it does not conform, skip where it is unsupported.

    Args:
        job: the cell.
        cuts: how its bytes are cut.
        folder: where the reader of a failure stands.
    """
    result, _ = judge_job(job, cuts)
    if result.outcome is Outcome.UNSUPPORTED:
        pytest.skip(f"{job.normalizer} does not declare what the scenario asks for")
    if not result.outcome.conforms:
        pytest.fail("\n".join(_told(result, _places(job, folder))), pytrace=False)


def marks(job: Job, entries: Sequence[Expectation]) -> tuple[pytest.MarkDecorator, ...]:
    """Return what the expectations of the project say of a cell, as marks."""
    entry = expected_of(entries, subject_id(job.subject), job.normalizer, today())
    return () if entry is None else (_mark(entry),)


def _mark(entry: Expectation) -> pytest.MarkDecorator:
    why = " ".join(filter(None, (entry.reason, entry.issue)))
    reason = marked(f"{why} (expectation {entry.id} x {entry.normalizer})")
    match entry.expect:
        case "skip":
            return pytest.mark.skip(reason=reason)
        case "fail" | "flaky":
            return pytest.mark.xfail(
                strict=entry.expect == "fail", raises=CellFailed, reason=reason
            )


def _places(job: Job, folder: Path) -> tuple[str, ...]:
    """Return what `harness replay` must be told to find the subject again."""
    path = Path(job.subject.path).resolve()
    if any(map(path.is_relative_to, map(shipped.folder, ("scenarios", "cassettes")))):
        return ()
    return (os.path.relpath(path, folder),)


def _told(result: Result, places: tuple[str, ...]) -> Iterator[str]:
    yield f"{marked(result.cell)}: {result.outcome.value}, blame {result.blame}"
    yield from findings_lines(result.findings)
    yield f"  {marked(reproduce(result.cell, places))}"
