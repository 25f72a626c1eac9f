"""Subjects x normalizers or agents -> jobs: small values that can be pickled.

A job names files and never contains bytes, so that a plan of any size stays small.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

import msgspec

from harness.files.paths import path_below
from harness.results.result import CASSETTE_PREFIX, LOG_PREFIX

MAX_BATCH = 16
_SUBJECTS = 8192


class Subject(msgspec.Struct, frozen=True):
    """A scenario, a cassette without a scenario, or a logged conversation.

    A file that was named and is none of them is `unreadable`: loading it says why.

    Fields:
        path: of its file.
        roots: the folders that ids are resolved against, in order.
        dialect: of its cassette, if the user sets it; "" for the one that the cassette states.
        conversation: whether it judges agents, and not normalizers.
        index: index of the conversation in a file of logs.
        agent: name of the agent that the log states.
    """

    kind: Literal["scenario", "cassette", "log", "unreadable"]
    path: str
    roots: tuple[str, ...] = ()
    dialect: str = ""
    conversation: bool = False
    index: int = 0
    agent: str = ""

    @property
    def of_turns(self) -> bool:
        """Whether its turns are replayed through normalizers."""
        return self.kind in ("scenario", "cassette") and not self.conversation


@lru_cache(_SUBJECTS)
def subject_id(subject: Subject) -> str:
    """Return the id that `subject` gives to its cells, without loading it."""
    if subject.kind == "unreadable":
        return subject.path
    inside = path_below(subject.path, subject.roots[0])
    relative = inside or Path(Path(subject.path).resolve().name)
    name = relative.with_suffix("").as_posix()
    if subject.kind == "log":
        return f"{LOG_PREFIX}{name}" + (f"#{subject.index + 1}" if subject.index else "")
    return name if subject.kind == "scenario" else CASSETTE_PREFIX + name


def roots_of(subjects: Iterable[Subject]) -> frozenset[str]:
    """Return the folders that the ids of `subjects` are resolved against."""
    return frozenset(root for subject in subjects for root in subject.roots)


class Job(msgspec.Struct, frozen=True):
    """One cell to judge; `normalizer` is a name or a `module:callable`.

    If the subject is a conversation, it is the name of an agent. `requirement_set` is the name of
    the set whose rules are checked; "" for all rules.
    """

    subject: Subject
    normalizer: str
    requirement_set: str = ""


def cell_id(job: Job) -> str:
    """Return the id of the cell that `job` judges."""
    return f"{subject_id(job.subject)}/{job.normalizer}"


def plan(
    subjects: Iterable[Subject],
    normalizers: Sequence[str],
    agents: Sequence[str] = (),
    requirement_set: str = "",
) -> tuple[Job, ...]:
    """Return a job for each subject and each normalizer, or agent if it is a conversation.

    The jobs of one subject are next to each other, because they share its bytes. A log has one
    agent already. An unreadable file has one job, which reports it.
    """

    def names(subject: Subject) -> Sequence[str]:
        if subject.kind in ("log", "unreadable"):
            return (subject.agent,)
        return agents if subject.conversation else normalizers

    return tuple(
        Job(subject, name, requirement_set) for subject in subjects for name in names(subject)
    )


def batches(jobs: Sequence[Job], workers: int) -> tuple[tuple[Job, ...], ...]:
    """Cut `jobs` into batches: large enough to be cheap, small enough to share the work."""
    size = min(MAX_BATCH, max(1, len(jobs) // (workers * 4)))
    return tuple(tuple(jobs[start : start + size]) for start in range(0, len(jobs), size))
