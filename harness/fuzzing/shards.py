"""A search over processes: each has its share of what is tried in order, and draws of its own.

Foreign code may do anything: where it kills its process, that is a finding, and what the other
processes found is kept.
"""

import multiprocessing
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import redirect_stdout
from pathlib import Path
from typing import Literal

import msgspec

from harness.conversation.discovery import load_agent
from harness.fuzzing.conversations.search import fuzz_agent
from harness.fuzzing.found import FuzzFinding, FuzzReport, merge_findings
from harness.fuzzing.profiles import Profile, find_profile
from harness.fuzzing.turns.search import fuzz_normalizer
from harness.fuzzing.turns.seeds import seeds
from harness.normalizers.discovery import load_normalizer
from harness.runs.plan import Subject
from harness.runs.pool import block_sigint, unblock_sigint
from harness.runs.selection import select_subjects


class FuzzTask(msgspec.Struct, frozen=True):
    """What one process is to search; small and picklable.

    Fields:
        name: as it was given.
        clean: start from what shows no quirk only.
        random: of the whole search.
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
    # What a normalizer prints must not mix with the findings on standard output.
    with redirect_stdout(sys.stderr):
        shared = {"random": task.random, "share": task.share, "shares": task.shares}
        if task.kind == "agent":
            return fuzz_agent(load_agent(task.name), task.profile, **shared)
        normalizer = load_normalizer(task.name)
        found = seeds(task.subjects, normalizer, clean=task.clean)
        return fuzz_normalizer(normalizer, found, task.profile, **shared)


def fuzz_in_processes(task: FuzzTask, processes: int) -> FuzzReport:
    """Search in `processes` of their own; one that dies is counted in `crashed`.

    Raises:
        HarnessError: the normalizer or a seed cannot be loaded.
    """
    context = multiprocessing.get_context("spawn")
    shares = [
        msgspec.structs.replace(task, share=number, shares=processes) for number in range(processes)
    ]
    with ProcessPoolExecutor(processes, context) as pool:
        with block_sigint():
            futures = [pool.submit(fuzz_share, share) for share in shares]
        return _join_reports(_ended(futures))


def fuzz_share(task: FuzzTask) -> FuzzReport:
    """Search in a process that was started with SIGINT held, so that it dies of none.

    While it searches, Ctrl-C ends the search, which then gives what it has.
    """
    try:
        with unblock_sigint():
            return fuzz_here(task)
    except KeyboardInterrupt:
        return FuzzReport(interrupted=True)


def _ended(futures: Sequence[Future[FuzzReport]]) -> list[FuzzReport]:
    ended = []
    for future in futures:
        try:
            ended.append(_waited(future))
        except BrokenProcessPool:
            ended.append(FuzzReport(crashed=1))
    return ended


def _waited(future: Future[FuzzReport]) -> FuzzReport:
    """Return what a process found; Ctrl-C, which it got too, makes it end soon."""
    try:
        return future.result()
    except KeyboardInterrupt:
        return future.result()


def _join_reports(hunts: Sequence[FuzzReport]) -> FuzzReport:
    return FuzzReport(
        findings=merge_findings(finding for each in hunts for finding in each.findings),
        examples=sum(each.examples for each in hunts),
        chunkings=sum(each.chunkings for each in hunts),
        interrupted=any(each.interrupted for each in hunts),
        crashed=sum(each.crashed for each in hunts),
    )


def fuzz_findings(
    name: str,
    profile: str = "ci",
    *,
    kind: Literal["normalizer", "agent"] = "normalizer",
    paths: Iterable[Path] = (),
    random: int = 0,
) -> tuple[FuzzFinding, ...]:
    """Search one normalizer or agent in this process and return what it does wrong, worst first.

    Args:
        name: its name or `module:callable`.
        profile: `dev`, `ci` or `deep`.
        kind: what `name` is.
        paths: scenarios and cassettes to start from; those that ship where there are none.
            An agent has conversations that are drawn, and starts from none.
        random: the seed of the search.

    Raises:
        UsageError: nothing is called so.
        NormalizerLoadError, AgentLoadError: it cannot be loaded.
        UnreadableError: a file of `paths` cannot be used.
    """
    task = FuzzTask(kind, name, select_subjects(paths), find_profile(profile), random=random)
    return fuzz_here(task).findings
