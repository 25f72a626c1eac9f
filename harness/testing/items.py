"""Scenario files as items of the plugin, one for each normalizer or agent."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.errors import HarnessError
from harness.project import project
from harness.runs.choose import chosen_names
from harness.runs.plan import Job
from harness.runs.policy import expectations_of
from harness.runs.select import select
from harness.runs.worker import is_supported
from harness.testing.cells import check, marks


class ScenarioFile(pytest.File):
    """A scenario; collects one item for each normalizer, or agent, that is to be judged.

    Cells that are unsupported by declaration are no items, unless they are asked for.
    """

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the items, in the order in which normalizers or agents were named."""
        option = self.config.getoption
        chosen = chosen_names(option("--harness-normalizer"), option("--harness-agent"))
        try:
            subject = select([self.path], option("--harness-dialect"))[0]
            names = chosen.agents if subject.conversation else chosen.normalizers
            jobs = [Job(subject, name) for name in names]
            wanted = [job for job in jobs if is_supported(job) or option("--harness-unsupported")]
            entries = expectations_of(project())
            marked = [(job, marks(job, entries)) for job in wanted]
        except HarnessError as error:
            raise self.CollectError(str(error)) from error
        for job, decorators in marked:
            item = CellItem.from_parent(self, name=job.normalizer, job=job)
            for decorator in decorators:
                item.add_marker(decorator)
            yield item


class CellItem(pytest.Item):
    """One cell."""

    def __init__(self, *, job: Job, **kwargs: Any) -> None:  # noqa: ANN401 - pytest's own arguments
        super().__init__(**kwargs)
        self._job = job

    def runtest(self) -> None:
        """Judge the cell."""
        folder = self.config.invocation_params.dir
        check(self._job, self.config.getoption("--harness-cuts"), folder)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Name the cell as scenario::normalizer."""
        return self.path, None, f"{self.parent.name if self.parent else ''}::{self.name}"
