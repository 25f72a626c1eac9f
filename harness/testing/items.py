"""Make pytest items of cells: judge, report and mark each cell, and collect scenario files."""

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

import pytest

from harness import shipped
from harness.errors import HarnessError
from harness.judging.replaying import Cuts
from harness.project import project
from harness.reporting.failures import repro_command
from harness.reporting.text.failure import failure_lines
from harness.reporting.visible import marked
from harness.reporting.words import unjudged_fields
from harness.repro.code import reproducible_clients
from harness.results.catalogue import Quirk, load_catalogue
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.results.run import AnyCase
from harness.runs.existing_names import existing_names
from harness.runs.isolated import IsolatedJudge
from harness.runs.judge_job import is_job_supported, is_left_out, judge_job, unreadable_file
from harness.runs.plan import Job, subject_id
from harness.runs.request import SelectedClients, check_dialect, selected_clients
from harness.runs.selection import select_subjects
from harness.testing.gate import accepted_reason, encode_cell
from harness.testing.session import (
    SCENARIO_FILES,
    CellOfSuite,
    JudgedCell,
    cell_of_job,
    collected_files,
    plan_of,
)
from harness.verdicts.expectations import AcceptedFailure, entry_for_cell
from harness.verdicts.gate import replay_command
from harness.verdicts.policy import GatePolicy, expectations_of, policy_of

CellFailed = pytest.fail.Exception


def today() -> date:
    """Return the date for comparisons with expiry dates; pytest items use no other clock."""
    return datetime.now(UTC).date()


LEFT_OUT: Final = (
    "no server is known to send this stream (evidence: own); --harness-evidence own judges it"
)
_APART: Final = pytest.StashKey[IsolatedJudge]()
_POLICY: Final = pytest.StashKey[GatePolicy]()
_JUDGED: Final = pytest.StashKey[str]()


def _judge(job: Job, cuts: Cuts, config: pytest.Config) -> tuple[Result, AnyCase | None, str]:
    """Return the result of a cell, its case, and the output of its client.

    The client runs in a worker process. With --harness-in-process, or for a debugger, it runs in
    this process, and pytest captures its output.
    """
    if config.getoption("--harness-in-process") or config.getoption("usepdb"):
        return *judge_job(job, cuts), ""
    if _APART not in config.stash:
        config.stash[_APART] = IsolatedJudge()
        config.add_cleanup(config.stash[_APART].close)
    return config.stash[_APART].judge(job, cuts)


def check_cell(job: Job, cuts: Cuts, config: pytest.Config) -> None:
    """Judge a cell; fail the test if it does not conform, skip it if it is unsupported or unjudged.

    Args:
        job: the cell.
        cuts: the chunkings of its bytes.
        config: the configuration of the pytest session.
    """
    result, case, output = _judge(job, cuts, config)
    policy = _policy(config)
    kept = result if policy.rules else None
    config.stash[_JUDGED] = encode_cell(JudgedCell(result.cell, result.outcome, kept))
    if result.outcome is Outcome.UNSUPPORTED:
        pytest.skip(f"{job.normalizer} does not declare support for the scenario")
    if result.outcome is Outcome.UNJUDGED:
        pytest.skip(marked(f"unjudged: {'; '.join(unjudged_fields(result))}"))
    if result.outcome.fails:
        accepted = accepted_reason(result, policy, rules_judged=plan_of(config).is_whole)
        if accepted and not expectation_marks(job, policy.expectations):
            pytest.xfail(accepted)
        places = _replay_paths(job, config.invocation_params.dir)
        pytest.fail(_failure_text(result, case, output, places), pytrace=False)


def _failure_text(
    result: Result, case: AnyCase | None, output: str, places: tuple[str, ...]
) -> str:
    head = f"{marked(result.cell)}: {result.outcome.value}, blame {result.blame}"
    lines = failure_lines(
        result,
        findings=result.reported,
        case=case,
        output=output,
        command=replay_command(result.cell, places),
        quirks=_quirks(),
        repro=repro_command(result, places, has_script=result.normalizer in reproducible_clients()),
    )
    return "\n".join((head, *lines))


def take_judged_cell(config: pytest.Config) -> str:
    """Return the cell that the last pytest item judged, as text, and remove it from `config`.

    It is "" if the item judged none.
    """
    found = config.stash.get(_JUDGED, "")
    config.stash[_JUDGED] = ""
    return found


@cache
def _quirks() -> dict[str, Quirk]:
    return load_catalogue(shipped.bundled_folder("catalogue") / "quirks")


def _policy(config: pytest.Config) -> GatePolicy:
    """Return the project's gate with its accepted failures, which is loaded once."""
    if _POLICY not in config.stash:
        config.stash[_POLICY] = policy_of(project(), today(), known=existing_names)
    return config.stash[_POLICY]


def expectation_marks(
    job: Job, entries: Sequence[AcceptedFailure]
) -> tuple[pytest.MarkDecorator, ...]:
    """Return a pytest mark for a cell that the project accepts to fail; () for other cells."""
    if not entries:
        return ()
    entry = entry_for_cell(entries, subject_id(job.subject), job.normalizer, today())
    return () if entry is None else (_expectation_mark(entry),)


def left_out_marks(job: Job) -> tuple[pytest.MarkDecorator, ...]:
    """Return a pytest mark that skips a cell of a stream that no server is known to send."""
    return (pytest.mark.skip(reason=LEFT_OUT),) if is_left_out(job) else ()


def _expectation_mark(entry: AcceptedFailure) -> pytest.MarkDecorator:
    why = " ".join(filter(None, (entry.reason, entry.issue)))
    reason = marked(f"{why} (expectation {entry.id} x {entry.normalizer})")
    match entry.expect:
        case "skip":
            return pytest.mark.skip(reason=reason)
        case "fail" | "flaky":
            return pytest.mark.xfail(
                strict=entry.expect == "fail", raises=CellFailed, reason=reason
            )


def _replay_paths(job: Job, folder: Path) -> tuple[str, ...]:
    """Return the arguments with which `harness replay` in `folder` finds the subject of a job.

    It needs none for a bundled subject.
    """
    if shipped.is_bundled(job.subject.path):
        return ()
    return (os.path.relpath(Path(job.subject.path).resolve(), folder),)


_Selection: TypeAlias = tuple[SelectedClients, tuple[AcceptedFailure, ...]]
_SELECTION: Final = pytest.StashKey[_Selection]()


def _selection(config: pytest.Config) -> _Selection:
    """Return the selected clients and the accepted failures, found once for all scenario files."""
    if _SELECTION not in config.stash:
        names = (config.getoption(f"--harness-{kind}") for kind in ("normalizer", "agent"))
        config.stash[_SELECTION] = (selected_clients(*names), expectations_of(project()))
    return config.stash[_SELECTION]


class ScenarioFile(pytest.File):
    """A scenario as a pytest collector, with an item for each selected normalizer or agent.

    Without the option `--harness-unsupported`, unsupported cells are not items.
    """

    def collect(self) -> Iterator[pytest.Item]:
        """Yield the items, in the order of the names on the command line."""
        option = self.config.getoption
        try:
            chosen, entries = _selection(self.config)
            check_dialect(option("--harness-dialect"))
            subject = select_subjects([self.path], option("--harness-dialect"))[0]
            names = chosen.agents if subject.conversation else chosen.normalizers
            broken = unreadable_file(subject)
            required = project().table.requirement_set
            evidence = option("--harness-evidence") or project().table.evidence
            jobs = [] if broken else [Job(subject, name, required, evidence) for name in names]
            if not option("--harness-unsupported"):
                jobs = list(filter(is_job_supported, jobs))
            marks = [(*expectation_marks(job, entries), *left_out_marks(job)) for job in jobs]
        except HarnessError as error:
            raise self.CollectError(str(error)) from error
        if broken is not None:  # an error of the collection would keep all other files from running
            yield UnreadableItem.from_parent(self, name="unreadable", error=broken.error)
        files = collected_files(self.config)
        files.paths.add(self.path)
        files.clients = (*chosen.normalizers, *chosen.agents)
        for job, decorators in zip(jobs, marks, strict=True):
            skips = any(it.name == "skip" for it in decorators)
            files.jobs += [] if skips else [job]
            cell = cell_of_job(job, SCENARIO_FILES, 0, skips=skips)
            item = CellItem.from_parent(self, name=job.normalizer, job=job, cell=cell)
            for decorator in decorators:
                item.add_marker(decorator)
            yield item


def fail_unreadable(error: str) -> None:
    """Fail the current test, because a file is not usable."""
    pytest.fail("\n".join(map(marked, error.splitlines())), pytrace=False)


class UnreadableItem(pytest.Item):
    """The pytest item of a scenario file that is not usable; it fails with the reason."""

    def __init__(self, *, error: str, **kwargs: Any) -> None:  # noqa: ANN401 - pytest's own arguments
        super().__init__(**kwargs)
        self._error = error

    def runtest(self) -> None:
        """Fail with the reason."""
        fail_unreadable(self._error)


class CellItem(pytest.Item):
    """The pytest item of one cell."""

    def __init__(self, *, job: Job, cell: CellOfSuite, **kwargs: Any) -> None:  # noqa: ANN401 - pytest's own arguments
        super().__init__(**kwargs)
        self.job, self.cell_of_suite = job, cell

    def runtest(self) -> None:
        """Judge the cell."""
        cuts = self.config.getoption("--harness-cuts") or project().table.cuts
        check_cell(self.job, cuts, self.config)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return the file, its first line and the name `scenario::normalizer` for pytest's reports.

        pytest cannot report a skipped item without a line.
        """
        return self.path, 0, f"{self.parent.name if self.parent else ''}::{self.name}"
