"""A search over processes: each has its share of what is tried in order, and draws of its own.

Foreign code may do anything: where it kills its process, that is a finding, and what the other
processes found is kept.
"""

import multiprocessing
import sys
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import redirect_stdout
from typing import Literal

import msgspec

from harness.conversation.discovery import load_agent
from harness.fuzzing.agents import hunt_agent
from harness.fuzzing.hunt import Hunt, hunt, merged
from harness.fuzzing.profiles import Profile
from harness.fuzzing.seeds import seeds
from harness.normalizers.discovery import load_normalizer
from harness.runs.interruption import sigint_heard, sigint_held
from harness.runs.plan import Subject


class Task(msgspec.Struct, frozen=True):
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


def search_here(task: Task) -> Hunt:
    """Search in this process."""
    # What a normalizer prints must not mix with the findings on standard output.
    with redirect_stdout(sys.stderr):
        shared = {"random": task.random, "share": task.share, "shares": task.shares}
        if task.kind == "agent":
            return hunt_agent(load_agent(task.name), task.profile, **shared)
        normalizer = load_normalizer(task.name)
        found = seeds(task.subjects, normalizer, clean=task.clean)
        return hunt(normalizer, found, task.profile, **shared)


def search(task: Task, processes: int) -> Hunt:
    """Search in `processes` of their own; one that dies is counted in `lost`.

    Raises:
        HarnessError: the normalizer or a seed cannot be loaded.
    """
    context = multiprocessing.get_context("spawn")
    shares = [
        msgspec.structs.replace(task, share=number, shares=processes) for number in range(processes)
    ]
    with ProcessPoolExecutor(processes, context) as pool:
        with sigint_held():
            futures = [pool.submit(search_share, share) for share in shares]
        return _joined(_ended(futures))


def search_share(task: Task) -> Hunt:
    """Search in a process that was started with SIGINT held, so that it dies of none.

    While it searches, Ctrl-C ends the search, which then gives what it has.
    """
    try:
        with sigint_heard():
            return search_here(task)
    except KeyboardInterrupt:
        return Hunt(interrupted=True)


def _ended(futures: Sequence[Future[Hunt]]) -> list[Hunt]:
    ended = []
    for future in futures:
        try:
            ended.append(_waited(future))
        except BrokenProcessPool:
            ended.append(Hunt(lost=1))
    return ended


def _waited(future: Future[Hunt]) -> Hunt:
    """Return what a process found; Ctrl-C, which it got too, makes it end soon."""
    try:
        return future.result()
    except KeyboardInterrupt:
        return future.result()


def _joined(hunts: Sequence[Hunt]) -> Hunt:
    return Hunt(
        findings=merged(finding for each in hunts for finding in each.findings),
        examples=sum(each.examples for each in hunts),
        chunkings=sum(each.chunkings for each in hunts),
        interrupted=any(each.interrupted for each in hunts),
        lost=sum(each.lost for each in hunts),
    )
