"""Judge one cell, in this process or in a worker process."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from functools import lru_cache

import msgspec

from harness import shipped
from harness.conversation.discovery import load_agent
from harness.errors import HarnessError, UnreadableError
from harness.judging.conversations.judge import (
    count_log,
    crashed_conversation_result,
    is_supported_by_agent,
    judge_conversation,
)
from harness.judging.judge import (
    LoadedSubject,
    OwnTurns,
    crashed_result,
    is_supported_by_normalizer,
    judge_subject,
)
from harness.judging.replaying import Cuts
from harness.normalizers.discovery import load_normalizer
from harness.results.result import Result
from harness.results.run import AnyCase, UnreadableFile
from harness.runs.declared import (
    declared_agent,
    declared_normalizer,
    is_shipped,
    third_party_client,
)
from harness.runs.load import load_recording, load_subject, source_of_subject
from harness.runs.logs import load_log
from harness.runs.plan import Job, Subject, subject_id
from harness.runs.redaction import clean_rows
from harness.runs.requirement_sets import rules_of_set
from harness.wire.interaction import Request

_NORMALIZERS_KEPT = 64

_normalizer = lru_cache(_NORMALIZERS_KEPT)(load_normalizer)
_agent = lru_cache(_NORMALIZERS_KEPT)(load_agent)


def judge_job(job: Job, cuts: Cuts = "standard", lead: str = "") -> tuple[Result, AnyCase | None]:
    """Judge the cell that `job` names; return its result, and its case or None.

    Args:
        job: the cell.
        cuts: the mode of the chunkings to replay.
        lead: the lead normalizer, through which models are ranked. Its failed turns get a case.

    Raises:
        UnreadableError: the scenario or its cassette cannot be used.
    """
    if job.subject.kind == "log":
        return clean_rows(*count_log(subject_id(job.subject), load_log(job.subject)))
    loaded = load_subject(job.subject)
    with rules_of_set(job.requirement_set):
        result, case = _judge(job, loaded, cuts, shows_turns=_is_measured(job, loaded, lead))
    result = msgspec.structs.replace(result, source=source_of_subject(job.subject))
    if shipped.is_bundled(job.subject.path) and not third_party_client(job):
        return result, case
    return clean_rows(result, case, _recorded_requests(job.subject, loaded))


def _is_measured(job: Job, loaded: LoadedSubject, lead: str) -> bool:
    """Return whether the turns of a cell count in the ranking of models."""
    return job.normalizer == lead and loaded.cassette.origin.kind != "emulated"


def _recorded_requests(subject: Subject, loaded: LoadedSubject) -> Iterator[Request]:
    """Yield the recorded requests whose credentials results must not show; none if emulated."""
    cassette = load_recording(subject) if subject.kind == "cassette" else loaded.cassette
    if cassette.origin.kind != "emulated":
        yield from (each.request for each in cassette.interactions)


def judge_if_readable(
    job: Job, cuts: Cuts = "standard", lead: str = ""
) -> tuple[Result, AnyCase | None] | UnreadableFile:
    """Return what `judge_job` returns, or the file of the cell if it cannot be used.

    Args:
        job: the cell.
        cuts: the mode of the chunkings to replay.
        lead: the lead normalizer, as in `judge_job`.
    """
    return unreadable_file(job.subject) or judge_job(job, cuts, lead)


def unreadable_file(subject: Subject) -> UnreadableFile | None:
    """Return the file of `subject` with the error if it cannot be used; None if it can."""
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
    """Load all `subjects`; return those with usable files, and the unusable files of the others."""
    found = [(subject, unreadable_file(subject)) for subject in subjects]
    good = tuple(subject for subject, broken in found if broken is None)
    return good, tuple(broken for _, broken in found if broken is not None)


def _judge(
    job: Job, loaded: LoadedSubject, cuts: Cuts, *, shows_turns: bool
) -> tuple[Result, AnyCase | None]:
    # The output of a normalizer must not mix with the results on standard output.
    with redirect_stdout(sys.stderr):
        if job.subject.conversation:
            agent = _agent(job.normalizer)
            return judge_conversation(loaded, agent, cuts=cuts, own=own_turns(job))
        by = _normalizer(job.normalizer)
        return judge_subject(loaded, by, cuts=cuts, shows_turns=shows_turns, own=own_turns(job))


def own_turns(job: Job) -> OwnTurns:
    """Return what happens to turns that no server is known to send, if `job` has any."""
    if is_shipped(job.normalizer, is_agent=job.subject.conversation):
        return "judged"
    return "lowered" if job.evidence == "own" else "left out"


def is_job_supported(job: Job) -> bool:
    """Return whether the client of `job` declares support for all that its subject requires.

    Raises:
        UnreadableError: the scenario or its cassette cannot be used.
    """
    if job.subject.kind == "log":
        return False  # it is never judged
    loaded = load_subject(job.subject)
    if job.subject.conversation:
        return is_supported_by_agent(loaded, declared_agent(job.normalizer))
    return is_supported_by_normalizer(loaded, declared_normalizer(job.normalizer))


def is_left_out(job: Job) -> bool:
    """Return whether a run leaves out `job`, which the client supports.

    A stream that no server is known to send does not show how a third-party client fares with
    servers. It is judged only if the user asks for it.
    """
    if not job.subject.is_own or own_turns(job) != "left out":
        return False
    try:
        return is_job_supported(job)
    except HarnessError:  # a run of the cell says what is wrong
        return False


def crash_result(job: Job, reason: str) -> Result:
    """Return the result of a job whose client killed its process, without secrets.

    Args:
        job: the cell.
        reason: how the process ended.
    """
    return clean_rows(_crash_result(job, reason), None)[0]


def _crash_result(job: Job, reason: str) -> Result:
    if job.subject.kind == "log":
        return count_log(subject_id(job.subject), load_log(job.subject))[0]
    loaded, source = load_subject(job.subject), source_of_subject(job.subject)
    if job.subject.conversation:
        lost = crashed_conversation_result(loaded, job.normalizer, reason, own_turns(job))
    else:
        lost = crashed_result(loaded, job.normalizer, reason, own_turns(job))
    return msgspec.structs.replace(lost, source=source)
