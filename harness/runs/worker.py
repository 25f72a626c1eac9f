"""One job -> one result: load what the job names, here or in a worker process, and judge it."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from functools import lru_cache
from pathlib import Path
from typing import Final, Literal

import msgspec

from harness import shipped
from harness.conversation.discovery import load_agent
from harness.conversation.history.jsonl import LoggedConversation, decode, is_conversation
from harness.conversation.history.third_party import read_messages
from harness.dialects.table import DIALECTS
from harness.errors import UnreadableError
from harness.files.kept import kept_while_unchanged
from harness.files.load import read_file, read_head, refuse_bom
from harness.files.names import did_you_mean, nearest
from harness.files.paths import path_below
from harness.judging.conversations.judge import (
    agent_of,
    count_log,
    crashed_conversation_result,
    is_supported_by_agent,
    judge_conversation,
)
from harness.judging.conversations.recording import NotReplayable, script_from_recording
from harness.judging.conversations.session import tools_of_cassette
from harness.judging.judge import (
    LoadedSubject,
    crashed_result,
    is_supported_by_normalizer,
    judge_subject,
)
from harness.judging.replaying import Cuts
from harness.judging.results import CassetteFacts, Result
from harness.judging.rules import RULES
from harness.judging.scenario import CASSETTE_PREFIX, Scenario
from harness.judging.scenario_file import load_scenario
from harness.normalizers.discovery import load_normalizer
from harness.normalizers.protocol import CAPABILITIES
from harness.providers import UNKNOWN
from harness.recording.identify import identify
from harness.recording.importing import only_answers
from harness.recording.secrets import credentials
from harness.runs.declared import declared_agent, declared_normalizer, third_party_client
from harness.runs.plan import Job, Subject, subject_id
from harness.runs.requirement_sets import rules_of_set
from harness.runs.rows import clean_if_possible, clean_rows
from harness.runs.run import AnyCase, UnreadableFile
from harness.wire import cassette_file
from harness.wire.cassette import Cassette
from harness.wire.interaction import Request

LOG_SUFFIX: Final = ".jsonl"
_FILES_KEPT: Final = 4


def each_log(subject: Subject) -> Iterator[Subject]:
    """Yield a subject for each conversation in the file of one.

    Raises:
        UnreadableError: the file holds none, or is damaged.
    """
    for index, logged in enumerate(_logs(subject.path)):
        yield msgspec.structs.replace(subject, index=index, agent=agent_of(logged))


def load_log(subject: Subject) -> LoggedConversation:
    """Return the conversation of one subject.

    Raises:
        UnreadableError: the file is not what it was when the run began.
    """
    logs = _logs(subject.path)
    if subject.index >= len(logs):
        raise UnreadableError("conversations are missing at its end", where=subject.path)
    return logs[subject.index]


@lru_cache(_FILES_KEPT)
def _logs(path: str) -> tuple[LoggedConversation, ...]:
    data = read_file(Path(path))
    refuse_bom(data, path)
    found = decode(data, path) if is_conversation(data) else read_messages(data)
    if not found:
        raise UnreadableError(
            "expected conversations, one message or one list of `messages` a line",
            where=path,
            hint="Convert a recording of another tool with `harness import FILE`.",
        )
    return found


def source_of(cassette: Cassette) -> CassetteFacts:
    """Return the facts about `cassette` that each of its results contains."""
    origin, interactions = cassette.origin, cassette.interactions
    return CassetteFacts(
        by=origin.by,
        at=origin.at,
        source=origin.source,
        licence=origin.licence,
        reads=_reads([each.reads_kept for each in interactions]),
        leaks=sum(len(credentials.unscrubbed_parts(each)) for each in interactions),
        interactions=len(interactions),
        size=sum(len(each.body) for each in interactions),
    )


def _reads(kept: list[bool]) -> Literal["recorded", "synthetic", "mixed"]:
    if all(kept):
        return "recorded"
    return "mixed" if any(kept) else "synthetic"


_NORMALIZERS_KEPT = 64

_normalizer = lru_cache(_NORMALIZERS_KEPT)(load_normalizer)
_agent = lru_cache(_NORMALIZERS_KEPT)(load_agent)


def judge_job(job: Job, cuts: Cuts = "standard", lead: str = "") -> tuple[Result, AnyCase | None]:
    """Judge the cell that `job` names.

    Args:
        job: the cell.
        cuts: chunkings to replay.
        lead: the normalizer through which models are measured; its failed turns have a case.

    Raises:
        UnreadableError: the scenario or its cassette cannot be used.
    """
    if job.subject.kind == "log":
        return clean_rows(*count_log(subject_id(job.subject), load_log(job.subject)))
    loaded = load_subject(job.subject)
    with rules_of_set(job.requirement_set):
        result, case = _judge(job, loaded, cuts, shows_turns=_is_measured(job, loaded, lead))
    result = msgspec.structs.replace(result, source=_source(job.subject))
    if shipped.is_bundled(job.subject.path) and not third_party_client(job):
        return result, case
    return clean_rows(result, case, _recorded_requests(job.subject, loaded))


def _is_measured(job: Job, loaded: LoadedSubject, lead: str) -> bool:
    """Return whether the turns of a cell measure their model."""
    return job.normalizer == lead and loaded.cassette.origin.kind != "emulated"


def _recorded_requests(subject: Subject, loaded: LoadedSubject) -> Iterator[Request]:
    """Yield the requests whose credentials must not be shown; an emulated one has none."""
    cassette = _recording(subject) if subject.kind == "cassette" else loaded.cassette
    if cassette.origin.kind != "emulated":
        yield from (each.request for each in cassette.interactions)


def judge_if_readable(
    job: Job, cuts: Cuts = "standard", lead: str = ""
) -> tuple[Result, AnyCase | None] | UnreadableFile:
    """Judge the cell that `job` names as `judge_job`, or return the file that cannot be used."""
    return unreadable_file(job.subject) or judge_job(job, cuts, lead)


def unreadable_file(subject: Subject) -> UnreadableFile | None:
    """Return the file of `subject` if it cannot be used, and why; None if it can."""
    try:
        if subject.kind == "log":
            load_log(subject)
        else:
            load_subject(subject)
    except UnreadableError as error:
        return UnreadableFile(subject.path, str(error))
    return None


def readable_subjects(
    subjects: Iterable[Subject],
) -> tuple[tuple[Subject, ...], tuple[UnreadableFile, ...]]:
    """Return the subjects whose files can be used, and the files of the others; loads all."""
    found = [(subject, unreadable_file(subject)) for subject in subjects]
    good = tuple(subject for subject, broken in found if broken is None)
    return good, tuple(broken for _, broken in found if broken is not None)


def _judge(
    job: Job, loaded: LoadedSubject, cuts: Cuts, *, shows_turns: bool
) -> tuple[Result, AnyCase | None]:
    # The output of a normalizer must not mix with the results on standard output.
    with redirect_stdout(sys.stderr):
        if job.subject.conversation:
            return judge_conversation(loaded, _agent(job.normalizer), cuts=cuts)
        by = _normalizer(job.normalizer)
        return judge_subject(loaded, by, cuts=cuts, shows_turns=shows_turns)


def is_job_supported(job: Job) -> bool:
    """Return whether the normalizer or agent of `job` declares all that its subject requires.

    Raises:
        UnreadableError: the scenario or its cassette cannot be used.
    """
    if job.subject.kind == "log":
        return False  # it is never judged
    loaded = load_subject(job.subject)
    if job.subject.conversation:
        return is_supported_by_agent(loaded, declared_agent(job.normalizer))
    return is_supported_by_normalizer(loaded, declared_normalizer(job.normalizer))


def crash_result(job: Job, reason: str) -> Result:
    """Return the result of a job that killed its process, without secrets."""
    return clean_rows(_crash_result(job, reason), None)[0]


def _crash_result(job: Job, reason: str) -> Result:
    if job.subject.kind == "log":
        return count_log(subject_id(job.subject), load_log(job.subject))[0]
    loaded, source = load_subject(job.subject), _source(job.subject)
    if job.subject.conversation:
        lost = crashed_conversation_result(loaded, job.normalizer, reason)
    else:
        lost = crashed_result(loaded, job.normalizer, reason)
    return msgspec.structs.replace(lost, source=source)


@kept_while_unchanged
def load_subject(subject: Subject) -> LoadedSubject:
    """Load a scenario with its cassette, or a cassette alone, then without its secrets.

    It is loaded once while its files do not change.

    A scenario states what its cassette contains, so that its bytes stay as they are.

    Raises:
        UnreadableError: one of them cannot be used, or the two do not fit.
    """
    path = Path(subject.path)
    if subject.kind == "unreadable":
        read_head(path)
        raise UnreadableError(
            "expected a scenario (key `expect` or `conversation`) or a cassette "
            "(key `interactions`)",
            where=subject.path,
            hint="Convert a recording of another tool with `harness import FILE`.",
        )
    if subject.kind == "cassette":
        alone = _recording(subject)
        if not shipped.is_bundled(subject.path):
            alone = clean_if_possible(alone)
        return LoadedSubject(
            alone, _recorded_scenario(alone, subject.path) if subject.conversation else None
        )
    scenario = load_scenario(path, Path(subject.roots[0]))
    _check_names(scenario, subject.path)
    cassette = _cassette(scenario.cassette, subject)
    if scenario.conversation is not None:
        _check_conversation(scenario, cassette, subject.path)
    elif len(scenario.expect) != len(cassette.interactions):
        raise UnreadableError(
            f"expect: {len(cassette.interactions)} turns wanted, one for each interaction of "
            f"{scenario.cassette}; found {len(scenario.expect)}",
            where=subject.path,
        )
    return LoadedSubject(cassette, scenario)


@kept_while_unchanged
def _recording(subject: Subject) -> Cassette:
    """Return a cassette without a scenario as it is in its file."""
    root = Path(subject.roots[0]) if subject.roots else None
    return _unlabelled_cassette(_load_cassette(Path(subject.path), root), subject.dialect)


@kept_while_unchanged
def _source(subject: Subject) -> CassetteFacts:
    is_alone = subject.kind == "cassette"
    return source_of(_recording(subject) if is_alone else load_subject(subject).cassette)


def _load_cassette(path: Path, root: Path | None) -> Cassette:
    """Return the cassette at `path`; a misspelled dialect would leave it without a judge."""
    cassette = cassette_file.load_cassette(path, root)
    if cassette.interactions and cassette.dialect not in (UNKNOWN, *DIALECTS):
        raise UnreadableError(
            f"unknown dialect {cassette.dialect!r}",
            where=f"{path}: harness.dialect",
            hint=did_you_mean(cassette.dialect, DIALECTS, "Choose one of"),
        )
    return cassette


def _recorded_scenario(cassette: Cassette, where: str) -> Scenario:
    """Return the scenario of the conversation in a recording."""
    script = script_from_recording(cassette)
    if isinstance(script, NotReplayable):
        raise UnreadableError(f"agents cannot replay this conversation: {script.why}", where=where)
    subject = f"{CASSETTE_PREFIX}{cassette.id}"
    return Scenario(subject, cassette.id, cassette.id, conversation=script)


def _check_conversation(scenario: Scenario, cassette: Cassette, where: str) -> None:
    """Check that the agent is offered each mock tool: one that it cannot call tests nothing."""
    if not cassette.interactions:
        raise UnreadableError(f"{cassette.id} has no interaction", where=where)
    tools = tools_of_cassette(cassette) if scenario.tools is None else scenario.tools
    names = [tool.name for tool in tools]
    for name in scenario.conversation.tools if scenario.conversation else ():
        if name not in names:
            known = f"the agent is offered {', '.join(names) or 'none'}"
            raise UnreadableError(
                f"conversation.tools: there is no tool {name!r}",
                where=where,
                hint=nearest(name, names) or f"{known}; see the key `tools`",
            )


def _unlabelled_cassette(cassette: Cassette, dialect: str) -> Cassette:
    """Return a cassette without a scenario, without responses that cannot be judged."""
    if dialect:
        return identify(cassette.with_each(dialect=dialect))
    return identify(only_answers(cassette))


def _check_names(scenario: Scenario, where: str) -> None:
    """Check the names: with a misspelt capability, no normalizer would be judged."""
    for key, names, known in (
        ("capabilities", scenario.capabilities, CAPABILITIES),
        ("rules", scenario.rules, RULES),
    ):
        for name in names:
            if name not in known:
                hint = did_you_mean(name, known, "known")
                raise UnreadableError(f"{key}: there is no {name!r}", where=where, hint=hint)


def _cassette(name: str, subject: Subject) -> Cassette:
    for root in map(Path, subject.roots[1:]):
        path = root / f"{name}.yaml"
        if path.is_file() and path_below(path, root) is not None:
            cassette = _load_cassette(path, root)
            read = cassette.with_each(dialect=subject.dialect) if subject.dialect else cassette
            return identify(read)
    raise UnreadableError(
        f"there is no cassette {name!r}",
        where=subject.path,
        hint=f"looked for {name}.yaml in {' and '.join(subject.roots[1:])}",
    )
