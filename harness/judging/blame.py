"""Decide whether a turn is a success for its user, and which party is to blame if it is not.

A turn is a success if it finished, did not fail, has text or a call, and each call names a tool of
the request and has arguments that are valid against the tool's schema. If the question needs a call
or an answer, the turn must contain it. The scenario, the oracle's reading and the tools of the
request decide the blame, never the normalizer.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Any, Final

import msgspec

from harness.dialects.table import known_tools
from harness.judging.error_codes import blame_of_error
from harness.judging.evidence import TurnEvidence
from harness.judging.examine import ExaminedTurn
from harness.judging.expected import (
    NO_ANSWER,
    NOT_EXPOSED,
    hidden_fields,
    reasons_not_judged,
    usable_arguments,
)
from harness.judging.scenario import Scenario
from harness.judging.unusable import blame_of_arguments, is_truncated
from harness.results.duties import undocumented_quirks
from harness.results.expectation import Expectation, Field
from harness.results.outcome import Blame
from harness.results.result import TurnFacts, body_digest
from harness.turns.arguments import parse
from harness.turns.deltas import CUT_SHORT, ToolCall
from harness.turns.oracle_reading import OracleReading
from harness.turns.schema_check import Checker, misfit
from harness.turns.turn import Tool, Turn
from harness.wire.interaction import Due, Request

_UNREAD_CALL: Final = "CALL-IN-UNKNOWN-MEMBER"
_EMPTY_CALLS: Final = "TOOLCALLS-EMPTY-ARRAY"
# What a library hands over that parsed a call without arguments.
_NO_ARGUMENTS: Final = "null"
_OK: Final = 200
_BLOCKED: Final = "GEM-PROMPT-BLOCKED"
# Compiled schemas are kept, because the same tools are called again and again.
_CHECKER: Final = Checker()


def request_digest(request: Request) -> str:
    """Return 16 hex digits that are the same for equal questions; "" if the request is not known.

    The digest ignores the order of JSON keys and the name of the model. So answers to the same
    question count as repeats, and answers of two models to it can be compared as pairs.
    """
    if not request.body:
        return ""
    try:
        body = msgspec.json.decode(request.body)
        if isinstance(body, dict):
            body.pop("model", None)
        canonical = msgspec.json.encode(body, order="deterministic")
    except (ValueError, RecursionError):
        canonical = request.body
    return sha256(canonical).hexdigest()[:16]


def turn_problem(turn: Turn, tools: Sequence[Tool] | None, due: Due = "") -> str:
    """Return why `turn` is not a success; "" if it is one.

    Args:
        turn: the turn that the normalizer returned.
        tools: the tools of the request; None if they are not known. Then this checks neither
            names nor arguments.
        due: the kind of answer that the question needs, as in `Interaction.due`.
    """
    if turn.failure is not None:
        return f"failed: {turn.failure.code}"
    if turn.finish is None:
        return "not finished"
    if turn.finish.reason in CUT_SHORT:
        return f"not finished: {turn.finish.reason}"
    if turn.parse_errors:
        return f"parse error: {turn.parse_errors[0].error}"
    known = _by_name(tools)
    problems = filter(None, (_call_problem(call, known) for call in turn.tool_calls))
    return next(problems, "") or due_problem(due, turn.tool_calls)


def answer_problem(turn: Turn, reading: OracleReading) -> str:
    """Return why a finished turn without calls gives its user nothing; "" if it gives something."""
    if turn.tool_calls or not has_no_answer(reading):
        return ""
    if _UNREAD_CALL in reading.quirks:
        return "a call came in a member that the API does not have"
    return "" if turn.text.strip() else "an empty turn: neither text nor a call"


def has_no_answer(reading: OracleReading) -> bool:
    """Return whether a stream that ended well has neither text nor a call that the API defines."""
    if not reading.ended or reading.error is not None or reading.refusal or reading.text_markup:
        return False
    if _UNREAD_CALL in reading.quirks:
        return not reading.calls
    is_empty = reading.calls == () and reading.knows("text") and not reading.text.strip()
    return (
        is_empty
        and not is_truncated(reading)
        and not reading.other_output
        and NO_ANSWER.isdisjoint(reading.quirks)
    )


def _blame_of_no_answer(reading: OracleReading) -> Blame:
    """Return who made a turn empty: the provider, if the stream shows that it lost something."""
    if reading.cut_upstream:
        return "model"
    if blame_of_error(reading, _OK) == "provider":
        return "provider"
    lost = undocumented_quirks() | {_EMPTY_CALLS}
    is_lost = any(it.ambiguous for it in reading.deviations) or not lost.isdisjoint(reading.quirks)
    return "provider" if is_lost else "model or provider"


def due_problem(due: Due, calls: Sequence[object]) -> str:
    """Return why the usable `calls` are not the expected kind of answer; "" if they are."""
    if due == "call" and not calls:
        return "no call, though one is due"
    return "a call, though an answer is due" if due == "answer" and calls else ""


def _by_name(tools: Iterable[Tool] | None) -> dict[str, Tool] | None:
    return None if tools is None else {tool.name: tool for tool in tools}


def _call_problem(call: ToolCall, tools: dict[str, Tool] | None) -> str:
    if call.kind == "action":  # of no tool, so that no schema describes it
        return ""
    if call.kind == "custom":
        return misfit(call.name, {}, tools, _CHECKER)
    parsed = parse("" if call.arguments == _NO_ARGUMENTS else call.arguments)
    if parsed.value is None:
        return f"{call.name}: {parsed.error}"
    return misfit(call.name, parsed.value, tools, _CHECKER)


def blame_of_bytes(
    reading: OracleReading, tools: Sequence[Tool] | None, due: Due = "", status: int = _OK
) -> Blame:
    """Return the party that made the turn unusable; "" if the bytes contain a usable turn.

    Args:
        reading: the oracle's reading of the response.
        tools: the tools of the request; None if they are not known. Then this checks neither
            names nor arguments.
        due: the kind of answer that the question needs, as in `Interaction.due`.
        status: the HTTP status of the response.
    """
    is_error = reading.error is not None or status != _OK
    of_error: Blame = blame_of_error(reading, status) if is_error else ""
    found: Iterable[tuple[Blame, bool]] = (
        ("request", _is_blocked(reading)),
        # Out of its budget, or stopped: whatever the framing is, and whatever error repeats it.
        ("model", reading.model_failed or (reading.ended and is_truncated(reading))),
        (of_error, bool(of_error)),
        ("harness", _is_unread(reading)),
        (_blame_of_no_answer(reading), has_no_answer(reading)),
        ("provider", _is_fault_of_provider(reading)),
        # Neither calls nor an answer, or a refusal.
        ("model", reading.text_markup or bool(reading.refusal)),
    )
    blame: Blame = next((party for party, is_its in found if is_its), "")
    return blame or _blame_of_calls(reading, tools, due)


def _blame_of_calls(reading: OracleReading, tools: Sequence[Tool] | None, due: Due) -> Blame:
    calls, known = reading.calls or (), _by_name(tools)
    of_arguments = (blame_of_arguments(call, reading, known) for call in calls)
    blame: Blame = next((each for each in of_arguments if each), "")
    if blame:
        return blame
    of_tools = (call for call in calls if call.kind != "action")
    values = ((call.name, usable_arguments(call, reading).value) for call in of_tools)
    fit = _match_tools(values, tools) and not due_problem(due, calls)
    return "" if fit else "model"


def _is_blocked(reading: OracleReading) -> bool:
    """Return whether the provider rejected the prompt, so that no model answered it."""
    return _BLOCKED in reading.quirks and reading.ended and not (reading.text or reading.calls)


def _is_unread(reading: OracleReading) -> bool:
    """Return whether the body is of no form that the suite knows, or has a call of such a form.

    Another client can be able to read it.
    """
    if _UNREAD_CALL in reading.quirks:
        return reading.error is None and not reading.calls
    found = reading.text or reading.reasoning or reading.finishes or reading.calls or reading.error
    return not found and reading.calls is None and "ENVELOPE-WRAPPED" in reading.quirks


def _match_tools(
    calls: Iterable[tuple[str, dict[str, Any] | None]], tools: Sequence[Tool] | None
) -> bool:
    """Return whether all calls name one of `tools` and have arguments that fit it.

    Args:
        calls: the name and the arguments of each call; None for arguments that are not an object.
        tools: the tools; None if they are not known. Then this accepts any name and any object.
    """
    known = _by_name(tools)
    return all(
        value is not None and not misfit(name, value, known, _CHECKER) for name, value in calls
    )


def _is_fault_of_provider(reading: OracleReading) -> bool:
    return (
        reading.error is not None
        or not reading.ended
        or any(deviation.ambiguous for deviation in reading.deviations)
        or not NO_ANSWER.isdisjoint(reading.quirks)
        or any(not call.name for call in reading.calls or ())
    )


def blame_of_turn(scenario: Scenario | None, part: ExaminedTurn) -> Blame:
    """Return the party to blame for a turn that is not a success, or that has a parse error.

    It is the normalizer if the bytes contain a usable turn: either the oracle says so, or the
    scenario specifies one and the normalizer violated a MUST rule. It is also the normalizer if it
    raised an exception or exceeded a limit, whatever the bytes are.
    """
    if part.evidence.stopped:
        return "normalizer"
    if scenario and scenario.blame:
        return scenario.blame
    if part.evidence.interaction.broken and part.whole.reports_failure:
        return "provider"
    evidence, tools = part.evidence, _declared_tools(scenario, part)
    if scenario and part.broken and _promises_success(evidence.expectation, tools):
        return "normalizer"
    sent = evidence.interaction
    return blame_of_bytes(evidence.oracle, tools, sent.due, sent.status) or "normalizer"


def _promises_success(expectation: Expectation, tools: tuple[Tool, ...] | None) -> bool:
    if expectation.failure or expectation.rejected or expectation.finish in CUT_SHORT:
        return False
    return _match_tools(((it.name, it.arguments) for it in expectation.calls), tools)


def _declared_tools(scenario: Scenario | None, part: ExaminedTurn) -> tuple[Tool, ...] | None:
    if scenario and scenario.tools is not None:
        return scenario.tools
    return known_tools(part.evidence.interaction)


def turn_facts(scenario: Scenario | None, part: ExaminedTurn) -> TurnFacts:
    """Return the facts about one turn of a cell that the rankings of models need."""
    turn, interaction = part.whole.turn, part.evidence.interaction
    problem = turn_problem(turn, _declared_tools(scenario, part), interaction.due)
    problem = problem or answer_problem(turn, part.evidence.oracle)
    why = "did not end" if part.whole.hung else part.whole.error or problem
    if not why and part.violated:
        why = f"the normalizer broke {part.violated}"
    rejected_wrongly = any(f.rule == "GOOD-CALL-NOT-REJECTED" for f in part.findings)
    blame: Blame = blame_of_turn(scenario, part) if why else ""
    parse_error_blame: Blame = ""
    if turn.parse_errors:
        parse_error_blame = "normalizer" if rejected_wrongly else blame_of_turn(scenario, part)
    return TurnFacts(
        interaction=part.evidence.index,
        success=not why,
        why=why,
        blame=blame,
        calls=len(turn.tool_calls),
        parse_errors=len(turn.parse_errors),
        parse_error_blame=parse_error_blame,
        finish=turn.finish.reason.value if turn.finish else "",
        failure=turn.failure.code if turn.failure else "",
        digest=body_digest(interaction.body),
        asked=request_digest(interaction.request),
        unjudged=_reasons_not_judged(part.evidence),
        unchecked=_unchecked(turn, _declared_tools(scenario, part)),
        evidence=scenario.expect[part.evidence.index].evidence if scenario else None,
    )


def _unchecked(turn: Turn, tools: Sequence[Tool] | None) -> str:
    """Return why a call was not validated against the schema of its tool; "" if all were."""
    known = _by_name(tools) or {}
    values = ((call.name, parse(call.arguments).value) for call in turn.tool_calls)
    reasons = (
        _CHECKER.unchecked(known[name], value)
        for name, value in values
        if value is not None and name in known
    )
    return next(filter(None, reasons), "")


def _reasons_not_judged(evidence: TurnEvidence) -> dict[Field, str]:
    reasons = reasons_not_judged(evidence.expectation, evidence.oracle)
    hidden = hidden_fields(evidence.normalizer)
    return {field: NOT_EXPOSED if field in hidden else why for field, why in reasons.items()}
