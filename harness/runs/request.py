"""Names, paths and filters of the command line -> the cells to judge.

`harness run` and the pytest suite both use this module, so that they judge the same cells.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import msgspec

from harness.conversation.discovery import default_agent_names
from harness.dialects.table import DIALECTS
from harness.errors import UnreadableError, UsageError
from harness.judging.conversations.recording import NotReplayable, script_from_recording
from harness.normalizers.discovery import default_normalizer_names
from harness.project import project
from harness.runs.filters import filter_subjects
from harness.runs.load import load_subject
from harness.runs.plan import Job, Subject, cell_id, plan, subject_id
from harness.runs.requirement_sets import within_set
from harness.runs.selection import select_subjects
from harness.verdicts.expectations import entry_for_cell
from harness.verdicts.policy import GatePolicy, project_paths
from harness.wording import did_you_mean


def check_dialect(dialect: str) -> None:
    """Check that a dialect that the user names exists; "" means the one that each cassette states.

    Raises:
        UsageError: it does not exist.
    """
    if dialect and dialect not in DIALECTS:
        raise UsageError(
            f"no reader knows the dialect {dialect!r}",
            hint=did_you_mean(dialect, DIALECTS, "Choose one of"),
        )


class SelectedClients(msgspec.Struct, frozen=True):
    """Names of the clients under test, each once, in the order given."""

    normalizers: tuple[str, ...]
    agents: tuple[str, ...]


def selected_clients(normalizers: Iterable[str], agents: Iterable[str]) -> SelectedClients:
    """Return the clients to run.

    If you name only one kind, only that one runs. If you name none, those that the project lists
    run, or else all conforming ones of both kinds.
    """
    chosen = SelectedClients(tuple(dict.fromkeys(normalizers)), tuple(dict.fromkeys(agents)))
    if chosen.normalizers or chosen.agents:
        return chosen
    table = project().table
    if table.normalizers or table.agents:
        return SelectedClients(tuple(table.normalizers), tuple(table.agents))
    return SelectedClients(default_normalizer_names(), default_agent_names())


class RecordedConversations(msgspec.Struct, frozen=True):
    """The unlabelled cassettes with a conversation, for agents.

    Such a cassette is judged twice: its turns through normalizers, the conversation through
    agents. The reasons for refusing others are counted, so that they are reported.

    Fields:
        subjects: those with a conversation.
        refused: reason -> number of other cassettes with several requests.
    """

    subjects: tuple[Subject, ...] = ()
    refused: dict[str, int] = msgspec.field(default_factory=dict)


def recorded_conversations(subjects: Iterable[Subject]) -> RecordedConversations:
    """Return the conversations in the cassettes among `subjects`.

    A cassette that cannot be used is one of them, so that its cells report it.
    """
    found: list[Subject] = []
    refused: Counter[str] = Counter()
    for subject in subjects:
        if subject.kind != "cassette":
            continue
        try:
            cassette = load_subject(subject).cassette
        except UnreadableError:
            found.append(msgspec.structs.replace(subject, conversation=True))
            continue
        script = script_from_recording(cassette)
        if not isinstance(script, NotReplayable):
            found.append(msgspec.structs.replace(subject, conversation=True))
        elif len(cassette.interactions) > 1:
            refused[script.why] += 1
    return RecordedConversations(tuple(found), dict(refused.most_common()))


class RequestedCells(msgspec.Struct, frozen=True):
    """The cells to judge.

    Fields:
        paths: those given, else those of the project; none for the bundled files.
        words: the filters; "" for all subjects.
        requirement_set: the name of the set; "" for none.
        subjects: scenarios, cassettes without a scenario, and logs.
        jobs: one for each cell; a cassette with a conversation also has cells of agents.
        refused: reason -> number of cassettes whose conversation agents cannot run.
        clients: the normalizers and agents.
    """

    paths: tuple[Path, ...]
    words: str
    requirement_set: str
    subjects: tuple[Subject, ...]
    jobs: tuple[Job, ...]
    refused: dict[str, int]
    clients: SelectedClients


def requested_cells(
    chosen: SelectedClients,
    paths: Iterable[Path] = (),
    words: str | None = None,
    dialect: str = "",
    requirement_set: str | None = None,
) -> RequestedCells:
    """Return the cells to judge.

    Args:
        chosen: the normalizers and agents.
        paths: files and folders; without any, those of the project, else the bundled scenarios
            and recordings.
        words: the filters of `filter_subjects`; None for those of the project, or for no filter
            if `paths` are given.
        dialect: that of all cassettes; "" for the one that each states.
        requirement_set: the name of the set that limits bundled subjects and rules; None for that
            of the project, "" for none.

    Raises:
        UsageError: a path, filter, dialect or set is unknown, or two files have the same id.
    """
    check_dialect(dialect)
    given = tuple(paths)
    if words is None:
        words = "" if given else project().table.select
    if requirement_set is None:
        requirement_set = project().table.requirement_set
    places = given or project_paths()
    selected = within_set(select_subjects(places, dialect, recordings=True), requirement_set)
    subjects = tuple(filter_subjects(selected, words))
    recorded = recorded_conversations(subjects) if chosen.agents else RecordedConversations()
    jobs = plan((*subjects, *recorded.subjects), chosen.normalizers, chosen.agents, requirement_set)
    return RequestedCells(places, words, requirement_set, subjects, jobs, recorded.refused, chosen)


def without_skipped(
    jobs: tuple[Job, ...], policy: GatePolicy
) -> tuple[tuple[Job, ...], tuple[str, ...]]:
    """Return the jobs to run, and the sorted cells that an entry skips."""
    cells = {job: _skipped(job, policy) for job in jobs} if policy.expectations else {}
    running = tuple(job for job in jobs if not cells.get(job))
    return running, tuple(sorted(cell for cell in cells.values() if cell))


def _skipped(job: Job, policy: GatePolicy) -> str:
    """Return the id of the cell if an entry skips it, else ""."""
    scenario = subject_id(job.subject)
    entry = entry_for_cell(policy.expectations, scenario, job.normalizer, policy.today)
    skip = entry is not None and entry.expect == "skip"
    return cell_id(job) if skip else ""
