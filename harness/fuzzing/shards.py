"""A search in several processes: each has its share of the ordered inputs, and its own draws.

If the code under test kills its process, the report counts that, and keeps what the other
processes found.
"""

import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import BrokenExecutor, Future, wait
from contextlib import redirect_stdout
from pathlib import Path
from typing import Literal

import msgspec

from harness.conversation.discovery import load_agent
from harness.fuzzing.conversations.search import fuzz_agent
from harness.fuzzing.found import FuzzFinding, FuzzReport, merge_findings
from harness.fuzzing.search import Profile, find_profile
from harness.fuzzing.turns.search import fuzz_normalizer
from harness.fuzzing.turns.seeds import seeds
from harness.normalizers.discovery import load_normalizer
from harness.runs.plan import Subject
from harness.runs.pool import Batch, Exited, interruptible, open_processes
from harness.runs.selection import select_subjects

_POLL_SECONDS = 0.1


class FuzzTask(msgspec.Struct, frozen=True):
    """The search of one process; small, so that it can be pickled.

    Fields:
        name: as the user gave it.
        clean: start from scenarios without quirks only.
        random: the seed of the entire search.
    """

    kind: Literal["normalizer", "agent"]
    name: str
    subjects: tuple[Subject, ...]
    profile: Profile
    clean: bool = False
    random: int = 0
    share: int = 0
    shares: int = 1


def fuzz_here(task: FuzzTask) -> FuzzReport:
    """Search in this process."""
    # The output of a normalizer must not mix with the findings on standard output.
    with redirect_stdout(sys.stderr):
        shared = {"random": task.random, "share": task.share, "shares": task.shares}
        if task.kind == "agent":
            return fuzz_agent(load_agent(task.name), task.profile, **shared)
        normalizer = load_normalizer(task.name)
        found = seeds(task.subjects, normalizer, clean=task.clean)
        return fuzz_normalizer(normalizer, found, task.profile, **shared)


def fuzz_in_processes(task: FuzzTask, processes: int) -> FuzzReport:
    """Search in several worker processes; the report counts those that crashed.

    Ctrl-C ends each search, which then reports what it has.

    Raises:
        HarnessError: the normalizer or a seed cannot be loaded.
    """
    shares = (
        msgspec.structs.replace(task, share=number, shares=processes) for number in range(processes)
    )
    with interruptible() as interruption, open_processes(processes) as pool:
        futures = [pool.submit(fuzz_here, (share,)) for share in shares]
        while wait(futures, timeout=_POLL_SECONDS).not_done:
            if interruption.requested:
                pool.stop(futures)
                break
        return _join_reports([_report(future) for future in futures])


def _report(future: Future[Batch[FuzzReport]]) -> FuzzReport:
    try:
        batch = future.result()
    except BrokenExecutor:
        return FuzzReport(crashed=1)
    if batch.fault is not None:
        raise batch.fault.rebuild()
    if not batch.results:  # stopped before it began
        return FuzzReport(interrupted=True)
    (report,) = batch.results
    return FuzzReport(crashed=1) if isinstance(report, Exited) else report


def _join_reports(reports: Sequence[FuzzReport]) -> FuzzReport:
    return FuzzReport(
        findings=merge_findings(finding for each in reports for finding in each.findings),
        examples=sum(each.examples for each in reports),
        chunkings=sum(each.chunkings for each in reports),
        interrupted=any(each.interrupted for each in reports),
        crashed=sum(each.crashed for each in reports),
    )


def fuzz_findings(
    name: str,
    profile: str = "ci",
    *,
    kind: Literal["normalizer", "agent"] = "normalizer",
    paths: Iterable[Path] = (),
    random: int = 0,
) -> tuple[FuzzFinding, ...]:
    """Search one normalizer or agent in this process and return its bugs, the worst first.

    Args:
        name: its name or `module:callable`.
        profile: `dev`, `ci` or `deep`.
        kind: what `name` is.
        paths: scenarios and cassettes to start from; without any, the bundled scenarios. The
            conversations of an agent are generated.
        random: the seed of the search.

    Raises:
        UsageError: there is no normalizer, agent or profile of that name.
        NormalizerLoadError, AgentLoadError: it cannot be loaded.
        UnreadableError: a file of `paths` cannot be used.
    """
    task = FuzzTask(kind, name, select_subjects(paths), find_profile(profile), random=random)
    return fuzz_here(task).findings
