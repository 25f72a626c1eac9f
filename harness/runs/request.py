"""Find the cells to judge from the names, paths and filters of the command line.

`harness run` and the pytest suite both use this module, so that they judge the same cells.
"""

from collections import Counter
from collections.abc import Collection, Iterable
from pathlib import Path

import msgspec

from harness.conversation.discovery import default_agent_names
from harness.dialects.table import DIALECTS
from harness.errors import HarnessError, UnreadableError, UsageError
from harness.judging.conversations.recording import NotReplayable, script_from_recording
from harness.normalizers.discovery import default_normalizer_names
from harness.project import SelectedEvidence, project
from harness.runs.declared import declared_normalizer
from harness.runs.filters import filter_subjects
from harness.runs.judge_job import is_left_out
from harness.runs.load import load_subject
from harness.runs.plan import Job, Subject, cell_id, plan, subject_id
from harness.runs.requirement_sets import within_set
from harness.runs.selection import select_subjects
from harness.verdicts.expectations import entry_for_cell
from harness.verdicts.policy import GatePolicy, project_paths
from harness.wording import did_you_mean


def check_dialect(dialect: str) -> None:
    """Check that `dialect` exists; "" means the dialect that each cassette states.

    Raises:
        UsageError: the dialect does not exist.
    """
    if dialect and dialect not in DIALECTS:
        raise UsageError(
            f"no reader knows the dialect {dialect!r}",
            hint=did_you_mean(dialect, DIALECTS, "Choose one of"),
        )


class SelectedClients(msgspec.Struct, frozen=True):
    """The names of the clients under test, each once, in the order given."""

    normalizers: tuple[str, ...]
    agents: tuple[str, ...]


def selected_clients(normalizers: Iterable[str], agents: Iterable[str]) -> SelectedClients:
    """Return the names of the clients to run.

    If you name only normalizers or only agents, only these run. If you name none, the clients that
    the project lists run, or else all bundled conforming ones.
    """
    chosen = SelectedClients(tuple(dict.fromkeys(normalizers)), tuple(dict.fromkeys(agents)))
    if chosen.normalizers or chosen.agents:
        return chosen
    table = project().table
    if table.normalizers or table.agents:
        return SelectedClients(tuple(table.normalizers), tuple(table.agents))
    return SelectedClients(default_normalizer_names(), default_agent_names())


class RecordedConversations(msgspec.Struct, frozen=True):
    """Cassettes without a scenario that contain a conversation which agents can repeat.

    Such a cassette is judged twice: its turns through normalizers, and the conversation through
    agents.

    Fields:
        subjects: the cassettes with such a conversation.
        refused: why agents cannot repeat a conversation -> number of such cassettes.
    """

    subjects: tuple[Subject, ...] = ()
    refused: dict[str, int] = msgspec.field(default_factory=dict)


def recorded_conversations(subjects: Iterable[Subject]) -> RecordedConversations:
    """Return the conversations that agents can repeat, in the cassettes among `subjects`.

    The result includes a cassette that cannot be used, so that its cells report the error.
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
    """The cells to judge, and how they were selected.

    Fields:
        paths: the given paths, else the paths of the project; () for the bundled files.
        words: the filters; "" for all subjects.
        requirement_set: the name of the requirement set; "" for none.
        subjects: scenarios, cassettes without a scenario, and logged conversations.
        jobs: one job for each cell. A cassette with a conversation also has cells of agents.
        refused: why agents cannot repeat a recorded conversation -> number of such cassettes.
        clients: the names of the normalizers and agents.
        evidence: `own` if cells of streams that no server is known to send are in `jobs` for each
            client; "" if not.
        left_out: supported cells that are not in `jobs`, because no server is known to send their
            streams and this repository does not ship their clients.
    """

    paths: tuple[Path, ...]
    words: str
    requirement_set: str
    subjects: tuple[Subject, ...]
    jobs: tuple[Job, ...]
    refused: dict[str, int]
    clients: SelectedClients
    evidence: SelectedEvidence = ""
    left_out: tuple[Job, ...] = ()


def requested_cells(  # noqa: PLR0913, PLR0917 - the options of a command
    chosen: SelectedClients,
    paths: Iterable[Path] = (),
    words: str | None = None,
    dialect: str = "",
    requirement_set: str | None = None,
    evidence: SelectedEvidence = "",
    *,
    without: Collection[Path] = (),
) -> RequestedCells:
    """Return the cells to judge, from the options of the command line or the project.

    Args:
        chosen: the names of the normalizers and agents.
        paths: files and folders; if there are none, those of the project, else the bundled
            scenarios and recordings.
        words: the filters of `filter_subjects`; None for the filters of the project, or for no
            filter if `paths` are given.
        dialect: the dialect of all cassettes; "" for the dialect that each states.
        requirement_set: the name of the set that limits bundled subjects and rules; None for the
            set of the project, "" for no limit.
        evidence: `own` to judge third-party clients also by streams that no server is known to
            send; "" for the setting of the project.
        without: files to leave out, such as recordings of other tools that were imported.

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
    found = select_subjects(places, dialect, recordings=True, without=without)
    selected = within_set(found, requirement_set)
    subjects = tuple(filter_subjects(selected, words))
    recorded = recorded_conversations(subjects) if chosen.agents else RecordedConversations()
    evidence = evidence or project().table.evidence
    judged = (*subjects, *recorded.subjects)
    named = plan(judged, chosen.normalizers, chosen.agents, requirement_set, evidence)
    planned = tuple(job for job in named if not job.subject.timing or _takes_part(job.normalizer))
    left_out = dict.fromkeys(filter(is_left_out, planned))
    return RequestedCells(
        paths=places,
        words=words,
        requirement_set=requirement_set,
        subjects=subjects,
        jobs=tuple(job for job in planned if job not in left_out),
        refused=recorded.refused,
        clients=chosen,
        evidence=evidence,
        left_out=tuple(left_out),
    )


def _takes_part(normalizer: str) -> bool:
    """Return whether a client sends its own requests, and so takes part in timing scenarios."""
    try:
        return declared_normalizer(normalizer).timed is not None
    except HarnessError:  # a run of the cell says what is wrong
        return True


def without_skipped(
    jobs: tuple[Job, ...], policy: GatePolicy
) -> tuple[tuple[Job, ...], tuple[str, ...]]:
    """Return the jobs to run, and the ids of the cells that `expectations.toml` skips."""
    cells = {job: _skipped(job, policy) for job in jobs} if policy.expectations else {}
    running = tuple(job for job in jobs if not cells.get(job))
    return running, tuple(sorted(cell for cell in cells.values() if cell))


def _skipped(job: Job, policy: GatePolicy) -> str:
    """Return the id of the job's cell if an entry of `expectations.toml` skips it, else ""."""
    scenario = subject_id(job.subject)
    entry = entry_for_cell(policy.expectations, scenario, job.normalizer, policy.today)
    skip = entry is not None and entry.expect == "skip"
    return cell_id(job) if skip else ""
