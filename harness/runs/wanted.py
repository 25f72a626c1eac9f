"""What was asked for -> the cells to judge.

`harness run` and the suite of pytest both ask here, so that they judge the same.
"""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from harness.project import project
from harness.runs.choose import Chosen
from harness.runs.narrow import narrow
from harness.runs.plan import Job, Subject, plan
from harness.runs.policy import project_paths
from harness.runs.recorded import Recorded, recorded_conversations
from harness.runs.select import select


class Wanted(msgspec.Struct, frozen=True):
    """See above.

    Fields:
        paths: those that were given, else those of the project; none for what ships.
        words: which of what they hold; "" for all.
        subjects: scenarios, cassettes that none labels, and logs.
        jobs: a cell each; a cassette that holds a conversation has some of agents too.
        refused: why agents cannot have other cassettes of several requests -> how many.
    """

    paths: tuple[Path, ...]
    words: str
    subjects: tuple[Subject, ...]
    jobs: tuple[Job, ...]
    refused: dict[str, int]


def wanted(
    chosen: Chosen, paths: Iterable[Path] = (), words: str | None = None, dialect: str = ""
) -> Wanted:
    """Return what is to be judged.

    Args:
        chosen: the normalizers and agents.
        paths: files and folders; none for those of the project, else the scenarios and
            recordings that ship.
        words: as `narrow` takes them; None for those of the project, or all where `paths` are
            given: what is named is wanted whole.
        dialect: what the cassettes hold, whatever they say; "" where they are right.

    Raises:
        UsageError: a path, a word or the dialect is none, or two files would have the same id.
        UnreadableError: a file that was named, or must be looked into, cannot be used.
    """
    given = tuple(paths)
    if words is None:
        words = "" if given else project().table.select
    places = given or project_paths()
    subjects = tuple(narrow(select(places, dialect, recordings=True), words))
    recorded = recorded_conversations(subjects) if chosen.agents else Recorded()
    jobs = plan((*subjects, *recorded.subjects), chosen.normalizers, chosen.agents).jobs
    return Wanted(places, words, subjects, jobs, recorded.refused)
