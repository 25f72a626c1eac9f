"""Scenarios as pytest items: one for each normalizer, red where its cell does not conform."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.judging.results import Outcome, Result
from harness.normalizers.discovery import default_names
from harness.reporting.visible import marked, plain
from harness.runs.gate import reproduce
from harness.runs.plan import Job, Subject
from harness.runs.select import select
from harness.runs.worker import judge_job


class CellFailedError(Exception):
    """A cell does not conform; carries its result."""

    def __init__(self, result: Result) -> None:
        super().__init__(result.cell)
        self.result = result


class ScenarioFile(pytest.File):
    """A scenario; collects one item for each normalizer that is to be judged."""

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the items, in the order in which normalizers were named."""
        names = self.config.getoption("--harness-normalizer") or default_names()
        subject = select([self.path])[0]
        for name in dict.fromkeys(names):
            yield CellItem.from_parent(self, name=name, subject=subject)


class CellItem(pytest.Item):
    """One cell."""

    def __init__(self, *, subject: Subject, **kwargs: Any) -> None:  # noqa: ANN401 - pytest's own arguments
        super().__init__(**kwargs)
        self._job = Job(subject, self.name)

    def runtest(self) -> None:
        """Judge the cell; an unsupported one is skipped."""
        result, _ = judge_job(self._job, self.config.getoption("--harness-cuts"))
        if result.outcome is Outcome.UNSUPPORTED:
            pytest.skip(f"{self.name} does not declare what the scenario asks for")
        if not result.outcome.conforms:
            raise CellFailedError(result)

    def repr_failure(
        self,
        excinfo: pytest.ExceptionInfo[BaseException],
        style: Any = None,  # noqa: ANN401 - pytest's own type is private
    ) -> Any:  # noqa: ANN401 - as style
        """Show the findings and the command that replays the cell."""
        if isinstance(excinfo.value, CellFailedError):
            return "\n".join(_told(excinfo.value.result))
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Name the cell as scenario::normalizer."""
        return self.path, None, f"{self.parent.name if self.parent else ''}::{self.name}"


def _told(result: Result) -> Iterator[str]:
    yield f"{marked(result.cell)}: {result.outcome.value}, blame {result.blame}"
    for finding in result.findings:
        yield f"  {finding.level} {finding.rule} at {marked(finding.path)}"
        yield f"    expected {plain(finding.expected)}"
        yield f"    actual   {plain(finding.actual)}"
    yield f"  {marked(reproduce(result.cell))}"
