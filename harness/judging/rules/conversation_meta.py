"""Define rules about an agent's own records: complete, as expected, and true.

The records are compared with the requests that the agent sent and the calls that it executed.
"""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Final

from msgspec.structs import replace

from harness.conversation.history.storing import incomplete_reason
from harness.conversation.prompts import PROMPTS
from harness.judging.conversations.evidence import (
    ConversationEvidence,
    RequestEvidence,
    conversation_rule,
)
from harness.judging.conversations.oracle_reply import OracleReply
from harness.judging.conversations.script import ExpectedReport, ProbeResult
from harness.judging.rule import Violation
from harness.results.conversation import Probe, TurnRecord
from harness.results.outcome import Outcome
from harness.turns.deltas import FinishReason, ParseError

# With these, servers refuse tools that they do not take.
_REFUSALS: Final = frozenset(
    {
        HTTPStatus.BAD_REQUEST,
        HTTPStatus.NOT_FOUND,
        HTTPStatus.UNPROCESSABLE_ENTITY,
        HTTPStatus.NOT_IMPLEMENTED,
    }
)


@conversation_rule(
    "CONV-PARSE-ERRORS",
    Outcome.MISMATCH,
    yields_to=("CONV-CALL-FROM-BROKEN-TURN", "CONV-ENDING", "CONV-LIMITS", "CONV-REPORT-SNIPPET"),
)
def _parse_errors(evidence: ConversationEvidence) -> Iterator[Violation]:
    expected = evidence.script.expect.parse_errors
    reported = [error for record in evidence.records for error in record.meta.parse_errors]
    if expected == "any" or "parse_errors" in evidence.hides:
        return
    unknown = sum(len(names) for names in _unknown_in_text(evidence))
    if isinstance(expected, int):
        if len(reported) != expected:
            came = evidence.own_design if len(reported) + unknown == expected else ""
            yield Violation("parse_errors", expected, _errors_text(reported), came=came)
        return
    names = [name for each in _unknown_in_text(evidence) for name in each]
    for index, report in enumerate(expected):
        match = next((error for error in reported if _fits(report, error)), None)
        if match is not None:
            reported.remove(match)
            continue
        came = evidence.own_design if report.name in names else ""
        nameless = next(
            (it for it in reported if not it.name and _fits(_any_name(report), it)), None
        )
        if nameless is not None and nameless.mode == "json_fallback":
            # What the documents record of broken JSON in a text is its mode, error and snippet.
            reported.remove(nameless)
            came = evidence.own_design
        yield Violation(f"parse_errors[{index}]", report, _errors_text(reported), came=came)
    if reported:
        yield Violation("parse_errors", "no others", _errors_text(reported))


def _any_name(report: ExpectedReport) -> ExpectedReport:
    return replace(report, name=None)


def _fits(expected: ExpectedReport, error: ParseError) -> bool:
    return (
        expected.name in (None, error.name)
        and expected.snippet in error.snippet
        and expected.mode in (None, error.mode)
    )


def _unknown_in_text(evidence: ConversationEvidence) -> Iterator[list[str]]:
    """Yield, for each turn, the names of the unknown tools that calls in its text name.

    An agent may answer such a call like a call in the field of the API: with a result that says
    that the tool is unknown, in place of a parse error and a retry.
    """
    known = {tool.name for tool in evidence.task.tools}
    is_text = PROMPTS[evidence.task.prompt].describes_tools
    for record in evidence.records:
        if is_text or record.meta.strategy == "json_fallback":
            calls = (it for it in record.turn.tool_calls if it.id not in record.executed)
            yield [call.name for call in calls if call.name not in known]


def _errors_text(errors: list[ParseError]) -> str:
    texts = "; ".join(f"{error.mode} {error.name} {error.snippet!r}" for error in errors)
    return f"{len(errors)}: {texts}" if errors else "0"


@conversation_rule("CONV-REPORT-ERROR", Outcome.MISMATCH)
def _report_error(evidence: ConversationEvidence) -> Iterator[Violation]:
    for path, _, error in _reports(evidence):
        if not error.error.strip():
            came = evidence.own_design
            yield Violation(f"{path}.error", "what is wrong with the call", "no text", came=came)


@conversation_rule("CONV-REPORT-SNIPPET", Outcome.MISMATCH)
def _report_snippet(evidence: ConversationEvidence) -> Iterator[Violation]:
    bare = {name for each in evidence.requests for name in each.reply.without_arguments}
    for path, record, error in _reports(evidence):
        # A stream may end after the name of a call, and a call without a name may have no
        # arguments either: then there is nothing to quote.
        has_something = error.name not in {"", *bare} and not incomplete_reason(record.turn)
        if has_something and not error.snippet.strip():
            yield Violation(f"{path}.snippet", "the start of what the model wrote", "no text")


def _reports(evidence: ConversationEvidence) -> Iterator[tuple[str, TurnRecord, ParseError]]:
    """Yield each parse error that the agent reported: its path, its turn's record, the error."""
    for index, record in enumerate(evidence.records):
        for number, error in enumerate(record.meta.parse_errors):
            yield f"turns[{index}].meta.parse_errors[{number}]", record, error


@conversation_rule(
    "CONV-RETRIES",
    Outcome.MISMATCH,
    yields_to=(
        "CONV-CALL-FROM-BROKEN-TURN",
        "CONV-ENDING",
        "CONV-LIMITS",
        "CONV-UNPLAYED",
        "CONV-SURPLUS-REQUEST",
    ),
)
def _retries(evidence: ConversationEvidence) -> Iterator[Violation]:
    expected = evidence.script.expect.retries
    found = sum(record.meta.retries for record in evidence.records)
    if found != expected:
        answered = sum(map(bool, _unknown_in_text(evidence)))
        came = evidence.own_design if found < expected <= found + answered else ""
        yield Violation("retries", expected, found, came=came)


@conversation_rule("CONV-STRATEGY", Outcome.MISMATCH)
def _strategy(evidence: ConversationEvidence) -> Iterator[Violation]:
    expected = evidence.script.expect.strategy
    for index, record in enumerate(evidence.records):
        actual = record.meta.strategy
        if expected is not None and actual and actual != expected:
            yield Violation(f"turns[{index}].meta.strategy", expected, actual)


@conversation_rule("CONV-STRATEGY-MISSING", Outcome.MISMATCH)
def _strategy_missing(evidence: ConversationEvidence) -> Iterator[Violation]:
    recorded = [record.meta.strategy for record in evidence.records]
    # Only an agent that chooses by capability sends a probe.
    if evidence.policies.get("probe") == "undeclared" or any(recorded):
        for index, strategy in enumerate(recorded):
            if not strategy:
                yield Violation(f"turns[{index}].meta.strategy", "a strategy", "none")


@conversation_rule("CONV-PROBE", Outcome.MISMATCH)
def _probe(evidence: ConversationEvidence) -> Iterator[Violation]:
    expected = evidence.script.expect.probe
    probes = [record.meta.probe for record in evidence.records if record.meta.probe]
    found: ProbeResult = probe_result(probes[0]) if probes else "none"
    if expected is None or found == expected:
        return
    # An agent may probe at the start of each session, and may take a refusal of the tools (a
    # status of the client's errors) for the answer that there are none.
    needless = expected == "none" and not evidence.task.tools
    statuses = {each.sent.answer.status for each in evidence.requests[:1]}
    refused = (expected, found) == ("error", "no") and statuses <= _REFUSALS
    came = evidence.own_design if needless or refused else ""
    yield Violation("turns[0].meta.probe", expected, found, came=came)


def probe_result(probe: Probe) -> ProbeResult:
    """Return how a probe for tool support ended: `ok`, `no` or `error`."""
    if probe.error:
        return "error"
    return "ok" if probe.ok else "no"


@conversation_rule("CONV-META-HONEST", Outcome.MISMATCH)
def _honest(evidence: ConversationEvidence) -> Iterator[Violation]:
    """Check that the agent has a true record of each request, and no other records."""
    left = list(enumerate(evidence.requests))
    for index, record in enumerate(evidence.records):
        if record.meta.probe is not None and left:
            _, probe = left.pop(0)
            yield from _honest_probe(index, record.meta.probe, probe)
        if not left:
            yield Violation(f"turns[{index}]", "a turn for which a request was sent", "none was")
            return
        number, request = left.pop(0)
        yield from _honest_turn(evidence, index, record, number, request)
    if left:
        missing = " ".join(f"requests[{number}]" for number, _ in left)
        yield Violation("turns", "a record of each request", f"none of {missing}")


def _honest_probe(index: int, recorded: Probe, probe: RequestEvidence) -> Iterator[Violation]:
    actual = _has_native_calls(probe.reply)
    if actual is not None and recorded.ok != actual:
        found = f"ok: {recorded.ok}, and the reply contains {'a call' if actual else 'no call'}"
        yield Violation(f"turns[{index}].meta.probe", f"ok: {actual}", found)


def _has_native_calls(reply: OracleReply) -> bool | None:
    """Return whether a reply has calls in the API's field; None if that is ambiguous."""
    if reply.calls is None or reply.truncated:
        return None
    return bool(reply.calls or reply.rejected)


def _honest_turn(
    evidence: ConversationEvidence,
    index: int,
    record: TurnRecord,
    number: int,
    request: RequestEvidence,
) -> Iterator[Violation]:
    declares = request.tools is not None
    claims = {"tool_use": True, "json_fallback": False}.get(record.meta.strategy)
    if claims is not None and evidence.task.tools and claims != declares:
        actual = f"the request declares {'tools' if declares else 'no tools'}"
        yield Violation(f"turns[{index}].meta.strategy", record.meta.strategy, actual)
    executed = sum(each.after == number + 1 for each in evidence.executions)
    if len(record.executed) != executed:
        expected = f"calls: {executed}"
        yield Violation(f"turns[{index}].executed", expected, f"ids: {len(record.executed)}")
    finish = record.turn.finish
    if finish is None or "finish" in evidence.hides or not request.reply.ends_for_calls:
        return
    if record.turn.tool_calls and finish.reason is not FinishReason.TOOL_CALLS:
        yield Violation(f"turns[{index}].turn.finish", "tool_calls", finish.reason.value)
