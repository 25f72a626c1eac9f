"""Make the row of a logged turn: whether it succeeded, and if not, the blame and kind of failure.

`reference` parses the response once, unsplit. If the turn failed, the oracle decides the blame. If
another normalizer is measured, its turn is judged instead, as `harness run --cuts whole` does.
"""

import re
from typing import Final

import msgspec

from harness.dialects.table import known_tools, oracle_reading
from harness.judging.blame import (
    answer_problem,
    blame_of_bytes,
    request_digest,
    turn_problem,
)
from harness.judging.judge import LoadedSubject, crashed_result, judge_subject
from harness.measuring.records import LoggedTurn
from harness.normalizers import reference
from harness.normalizers.protocol import Normalizer
from harness.results.outcome import Blame
from harness.results.result import Result, TurnFacts, body_digest
from harness.turns.deltas import CUT_SHORT
from harness.turns.fold import fold
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction

SCHEMA: Final = 3
_LONGEST: Final = 300
_PARSE_ERROR: Final = "parse error"
_OF_ARGUMENTS: Final = "ARGS-"
# What differs between the errors of one kind: offsets, quotations and numbers.
_DETAILS: Final = re.compile(r"expected one JSON object, found | at offset.*|: .*|'.*'|[0-9]+ ?")
_LEFT_IN_TEXT: Final = "a call was left in the text"


class MeasuredTurn(msgspec.Struct, frozen=True):
    """One turn of a log, as a row of the files `turns-*.parquet`.

    Fields:
        file, position: its location in the log: the file, and a byte offset, a row number, or the
            number of a file in an archive.
        time: ISO 8601; "" if the log does not contain the time.
        success: whether the turn succeeded, as `harness.judging.blame` defines it.
        kind: the kind of failure, such as `parse error`; "" for a success.
        why: the failure as text.
        signature: a text that is equal for failures of one cause: the kind, and the first quirk or
            else the dialect. For a parse error, it is what is wrong with the arguments.
        blame: the responsible party.
        quirks: ids of quirks that the bytes of a failed turn show; empty for a success.
        calls, parse_errors: the number of calls that the client may execute, and of rejected calls.
        finish, failure: the finish reason and the failure of the turn.
        digest, asked: hashes of response and request, which show equal turns.
        bytes: the size of the response.
        lacks: the data that the log does not contain; rules that need it are not checked.
        normalizer: the normalizer that made the turn; "" for `reference`, which is not judged.
        outcome: the outcome of that normalizer, as in a run; "" without one.
        record: the id of the record in the log, such as that of a span; "" if it has none.
    """

    file: str
    position: int
    time: str
    provider: str
    model: str
    prompt: str
    dialect: str
    success: bool
    kind: str
    why: str
    signature: str
    blame: Blame
    quirks: tuple[str, ...]
    calls: int
    parse_errors: int
    finish: str
    failure: str
    digest: str
    asked: str
    bytes: int
    lacks: tuple[str, ...]
    normalizer: str = ""
    outcome: str = ""
    record: str = ""


# The types of the fields in Parquet.
_TYPES: Final = {bool: "BOOLEAN", int: "INTEGER", tuple[str, ...]: "VARCHAR[]"}
_LARGE: Final = ("position", "bytes")
COLUMNS: Final = {
    field.name: "BIGINT" if field.name in _LARGE else _TYPES.get(field.type, "VARCHAR")
    for field in msgspec.structs.fields(MeasuredTurn)
}


def measure_turn(logged: LoggedTurn, file: str, position: int) -> MeasuredTurn:
    """Return the row of a turn at `position` of the log `file`, parsed by `reference`."""
    interaction = logged.interaction
    turn = fold(reference.normalize(interaction.without_body(), (interaction.body,)))
    tools = known_tools(interaction)
    why = turn_problem(turn, tools, interaction.due)
    if not why and tools and turn.tool_calls and "bytes" in logged.lacks:
        why = _left_in_text(interaction)
    blame: Blame = ""
    quirks: tuple[str, ...] = ()
    if not turn.tool_calls and not why:
        why = answer_problem(turn, oracle_reading(interaction))
    if why or turn.parse_errors:
        reading = oracle_reading(interaction)
        # What the bytes contain is usable, so that it was the reader that did not read it.
        blame = blame_of_bytes(reading, tools, interaction.due, interaction.status) or "normalizer"
        quirks = tuple(sorted(reading.quirks))
    facts = TurnFacts(
        interaction=0,
        success=not why,
        why=why,
        blame=blame if why else "",
        calls=len(turn.tool_calls),
        parse_errors=len(turn.parse_errors),
        parse_error_blame=blame,
        finish=turn.finish.reason.value if turn.finish else "",
        failure=turn.failure.code if turn.failure else "",
        digest=body_digest(interaction.body),
        asked=request_digest(interaction.request),
    )
    return _row(logged, file, position, facts, kind=_kind(facts), quirks=quirks)


def _left_in_text(interaction: Interaction) -> str:
    """Return why a logged answer lost its calls; "" if it did not.

    The log has the answer that the application got. Calls that are only in its text are lost, even
    if `reference` could read them.
    """
    reading = oracle_reading(interaction)
    native = reading.calls is not None and any(call.name for call in reading.calls)
    return "" if native else _LEFT_IN_TEXT


def judge_turn(
    logged: LoggedTurn, file: str, position: int, normalizer: Normalizer
) -> MeasuredTurn | None:
    """Return the row of a turn, parsed by `normalizer`; None if it does not support the dialect."""
    subject = _subject_of(logged)
    result, _ = judge_subject(subject, normalizer, cuts="whole")
    if not result.turns:
        return None
    return _judged_row(logged, file, position, result)


def crashed_turn(
    logged: LoggedTurn, file: str, position: int, normalizer: str, reason: str
) -> MeasuredTurn:
    """Return the row of a turn on which the process of a normalizer ended, with the reason."""
    result = crashed_result(_subject_of(logged), normalizer, reason)
    return _judged_row(logged, file, position, result)


def _subject_of(logged: LoggedTurn) -> LoadedSubject:
    labels = (logged.provider, logged.model, logged.prompt)
    origin = Origin("imported", by="harness measure", at=logged.time)
    return LoadedSubject(Cassette("logged", (logged.interaction,), origin, *labels))


def _judged_row(logged: LoggedTurn, file: str, position: int, result: Result) -> MeasuredTurn:
    (facts,), outcome = result.turns, result.outcome
    kind = f"{outcome}: {result.findings[0].rule}" if outcome.fails else _kind(facts)
    quirks = result.quirks if facts.why else ()
    row = _row(logged, file, position, facts, kind=kind, quirks=quirks)
    return msgspec.structs.replace(row, normalizer=result.normalizer, outcome=outcome.value)


def _row(  # noqa: PLR0913 - what makes a row
    logged: LoggedTurn,
    file: str,
    position: int,
    facts: TurnFacts,
    *,
    kind: str,
    quirks: tuple[str, ...],
) -> MeasuredTurn:
    interaction, why = logged.interaction, facts.why
    return MeasuredTurn(
        file=file,
        position=position,
        time=logged.time,
        provider=logged.provider,
        model=logged.model,
        prompt=logged.prompt,
        dialect=interaction.dialect,
        success=facts.success,
        kind=kind if why else "",
        why=why[:_LONGEST],
        signature=_signature(kind, why, quirks, interaction.dialect) if why else "",
        blame=facts.blame,
        quirks=quirks,
        calls=facts.calls,
        parse_errors=facts.parse_errors,
        finish=facts.finish,
        failure=facts.failure,
        digest=facts.digest,
        asked=facts.asked,
        bytes=len(interaction.body),
        lacks=logged.lacks,
        record=logged.record,
    )


def _signature(kind: str, why: str, quirks: tuple[str, ...], dialect: str) -> str:
    """Return the cause of a failure, without details that differ between turns.

    A quirk next to a parse error did not make the arguments unusable, unless it is about arguments.
    """
    if kind == _PARSE_ERROR:
        own = next((quirk for quirk in quirks if quirk.startswith(_OF_ARGUMENTS)), "")
        return f"{kind} · {own or _DETAILS.sub('', why.removeprefix(f'{kind}: '))}"
    return f"{kind} · {quirks[0] if quirks else dialect}"


def _kind(facts: TurnFacts) -> str:
    """Return the kind of failure, without details that differ between turns."""
    if facts.failure or not facts.finish or facts.finish in CUT_SHORT:
        return facts.why
    if facts.parse_errors:
        return _PARSE_ERROR
    if facts.why == _LEFT_IN_TEXT:
        return "lost call"
    return "unusable call" if facts.calls else "no call"
