"""Names, paths and filters of the command line -> the cells to judge.

`harness run` and the pytest suite both use this module, so that they judge the same cells.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from harness.conversation.discovery import default_agent_names
from harness.errors import UsageError
from harness.files.names import nearest
from harness.judging.conversations.recording import NotReplayable, script_from_recording
from harness.judging.judge import LoadedSubject
from harness.normalizers.discovery import default_normalizer_names
from harness.project import project
from harness.runs.plan import Job, Subject, plan, subject_id
from harness.runs.policy import project_paths
from harness.runs.selection import area_of, select_subjects
from harness.runs.worker import load_subject


class SelectedClients(msgspec.Struct, frozen=True):
    """Names, each once, in the order in which they were given."""

    normalizers: tuple[str, ...]
    agents: tuple[str, ...]


def selected_clients(normalizers: Iterable[str], agents: Iterable[str]) -> SelectedClients:
    """Return what is to run."""
    chosen = SelectedClients(tuple(dict.fromkeys(normalizers)), tuple(dict.fromkeys(agents)))
    if chosen.normalizers or chosen.agents:
        return chosen
    table = project().table
    if table.normalizers or table.agents:
        return SelectedClients(tuple(table.normalizers), tuple(table.agents))
    return SelectedClients(default_normalizer_names(), default_agent_names())


_Term: TypeAlias = tuple[str, str]

_BY_ID: Final[dict[str, Callable[[str], str]]] = {"id": str, "area": area_of}
_BY_CONTENT: Final[dict[str, Callable[[LoadedSubject], Iterable[str]]]] = {
    "dialect": lambda loaded: {each.dialect for each in loaded.cassette.interactions},
    "provider": lambda loaded: (loaded.cassette.provider,),
    "model": lambda loaded: (loaded.cassette.model,),
    "prompt": lambda loaded: (loaded.cassette.prompt,),
    "quirk": lambda loaded: loaded.scenario.quirks if loaded.scenario else (),
}
FILTER_KEYS: Final = (*_BY_ID, *_BY_CONTENT)


def filter_subjects(subjects: Iterable[Subject], words: str) -> Iterator[Subject]:
    """Yield those of `subjects` that fit each of `words`; all of them where there are none.

    Args:
        subjects: in their order.
        words: `key:glob`, separated by blanks; the keys are `KEYS`.

    Raises:
        UsageError: a word is none of these.
        UnreadableError: a file that must be looked into cannot be used.
    """
    terms = [_parse_term(word) for word in words.split()]
    return (subject for subject in subjects if all(_fits(subject, term) for term in terms))


def _parse_term(word: str) -> _Term:
    key, _, glob = word.partition(":")
    if key in FILTER_KEYS and glob:
        return key, glob
    near = "" if key in FILTER_KEYS else nearest(key, FILTER_KEYS)
    hint = f"{near} " if near else ""
    raise UsageError(
        f"expected words `key:glob`, found {word!r}",
        where="select",
        hint=f"{hint}keys: {', '.join(FILTER_KEYS)}",
    )


def _fits(subject: Subject, term: _Term) -> bool:
    key, glob = term
    if key in _BY_ID:
        return fnmatchcase(_BY_ID[key](subject_id(subject)), glob)
    if subject.kind == "log":  # it has no bytes to look into
        return False
    return any(fnmatchcase(value, glob) for value in _BY_CONTENT[key](load_subject(subject)))


class RecordedConversations(msgspec.Struct, frozen=True):
    """What the cassettes of a selection hold.

    Fields:
        subjects: those with a conversation.
        refused: why others of several requests have none -> how many.
    """

    subjects: tuple[Subject, ...] = ()
    refused: dict[str, int] = msgspec.field(default_factory=dict)


def recorded_conversations(subjects: Iterable[Subject]) -> RecordedConversations:
    """Return what the cassettes among `subjects` hold for agents.

    Raises:
        UnreadableError: a cassette cannot be used.
    """
    found: list[Subject] = []
    refused: Counter[str] = Counter()
    for subject in subjects:
        if subject.kind != "cassette":
            continue
        cassette = load_subject(subject).cassette
        script = script_from_recording(cassette)
        if not isinstance(script, NotReplayable):
            found.append(msgspec.structs.replace(subject, conversation=True))
        elif len(cassette.interactions) > 1:
            refused[script.why] += 1
    return RecordedConversations(tuple(found), dict(refused.most_common()))


class RequestedCells(msgspec.Struct, frozen=True):
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


def requested_cells(
    chosen: SelectedClients, paths: Iterable[Path] = (), words: str | None = None, dialect: str = ""
) -> RequestedCells:
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
    subjects = tuple(filter_subjects(select_subjects(places, dialect, recordings=True), words))
    recorded = recorded_conversations(subjects) if chosen.agents else RecordedConversations()
    jobs = plan((*subjects, *recorded.subjects), chosen.normalizers, chosen.agents).jobs
    return RequestedCells(places, words, subjects, jobs, recorded.refused)
