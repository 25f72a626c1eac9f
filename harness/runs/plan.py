"""Plan a run: make a job for each subject with each normalizer or agent.

A job names files and never contains bytes, so that a plan of any size is small and can be pickled.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import groupby, islice
from typing import Literal

import msgspec

from harness.files.paths import relative_id
from harness.project import SelectedEvidence
from harness.results.result import CASSETTE_PREFIX, LOG_PREFIX

MAX_BATCH = 16
_SUBJECTS = 8192


class Subject(msgspec.Struct, frozen=True):
    """What a cell judges: a scenario, a cassette without a scenario, or a logged conversation.

    If the user names a file that is something else, it is `unreadable`, and loading it raises the
    error.

    Fields:
        path: the path of the file.
        roots: the folder of ids of this kind; for a scenario, then folders of cassettes.
        dialect: the dialect that the user sets for the cassette; "" for the one in the file.
        conversation: whether the subject judges agents instead of normalizers.
        index: index of the conversation in a log file; 0 for other files.
        agent: name of the agent that a log file states; "" for other files.
        timing: whether the scenario is about times and breaks.
        is_own: whether the scenario states that no server is known to send its stream.
    """

    kind: Literal["scenario", "cassette", "log", "unreadable"]
    path: str
    roots: tuple[str, ...] = ()
    dialect: str = ""
    conversation: bool = False
    index: int = 0
    agent: str = ""
    is_own: bool = False
    timing: bool = False

    @property
    def judges(self) -> Literal["turns", "conversation", "timing"]:
        """What the subject judges: turns, a conversation, or times and breaks."""
        if self.timing:
            return "timing"
        return "conversation" if self.conversation or self.kind == "log" else "turns"

    @property
    def of_turns(self) -> bool:
        """Whether the subject judges turns, and not conversations of agents or times."""
        return self.kind in ("scenario", "cassette") and not (self.conversation or self.timing)


@lru_cache(_SUBJECTS)
def subject_id(subject: Subject) -> str:
    """Return the id with which the ids of the subject's cells begin, without loading its file."""
    if subject.kind == "unreadable":
        return subject.path
    name = relative_id(subject.path, subject.roots[0]).with_suffix("").as_posix()
    if subject.kind == "log":
        return f"{LOG_PREFIX}{name}" + (f"#{subject.index + 1}" if subject.index else "")
    return name if subject.kind == "scenario" else CASSETTE_PREFIX + name


def roots_of(subjects: Iterable[Subject]) -> frozenset[str]:
    """Return the folders of `subjects` in which ids of scenarios and cassettes are looked up."""
    return frozenset(root for subject in subjects for root in subject.roots)


class Job(msgspec.Struct, frozen=True):
    """One cell to judge: a subject with the name or `module:callable` of a normalizer.

    If the subject is a conversation, `normalizer` is an agent. `requirement_set` is the name of
    the requirement set whose rules are checked; "" for all rules. `evidence` is `own` to judge
    clients that this repository does not ship also by streams that no server is known to send.
    """

    subject: Subject
    normalizer: str
    requirement_set: str = ""
    evidence: SelectedEvidence = ""


def cell_id(job: Job) -> str:
    """Return the id of the cell that `job` judges."""
    return f"{subject_id(job.subject)}/{job.normalizer}"


def plan(
    subjects: Iterable[Subject],
    normalizers: Sequence[str],
    agents: Sequence[str] = (),
    requirement_set: str = "",
    evidence: SelectedEvidence = "",
) -> tuple[Job, ...]:
    """Return a job for each subject with each normalizer, or with each agent for conversations.

    The jobs of one subject are next to each other, because they share its bytes. A logged
    conversation has only the agent that the log states. An unreadable file has one job, which
    reports the error.
    """

    def names(subject: Subject) -> Sequence[str]:
        if subject.kind in ("log", "unreadable"):
            return (subject.agent,)
        return agents if subject.conversation else normalizers

    return tuple(
        Job(subject, name, requirement_set, evidence)
        for subject in subjects
        for name in names(subject)
    )


def batches(jobs: Sequence[Job], workers: int) -> tuple[tuple[Job, ...], ...]:
    """Divide `jobs` into batches for `workers` processes, of at most `MAX_BATCH` jobs each.

    Each job of a timing scenario is a separate batch, because it waits for seconds.
    """
    size = min(MAX_BATCH, max(1, len(jobs) // (workers * 4)))
    found: list[tuple[Job, ...]] = []
    for is_timed, alike in groupby(jobs, lambda job: job.subject.timing):
        while batch := tuple(islice(alike, 1 if is_timed else size)):
            found.append(batch)
    return tuple(found)
