"""What the user got from one turn, and which party is responsible if the turn failed.

A turn is a success if it finished, did not fail, and each call names a tool of the request
with arguments valid against that tool's schema. If the question needs a call or an answer, the
turn must give that kind. Blame comes from the scenario, the oracle reading and the tools of the
request, never from the normalizer.
"""

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from typing import Any

import msgspec

from harness.dialects.kit.oracle.reading import OracleReading
from harness.dialects.table import read_request
from harness.judging.examine import ExaminedTurn
from harness.judging.expectation import Expectation
from harness.judging.expected import MAY_CUT_SHORT, NO_ANSWER, usable_arguments
from harness.judging.results import Blame, TurnFacts, body_digest
from harness.judging.scenario import Scenario
from harness.normalizers.respond import offered_tools
from harness.turns.arguments import parse
from harness.turns.deltas import CUT_SHORT, FinishReason, ToolCall
from harness.turns.schema_check import Checker, misfit
from harness.turns.turn import Tool, Turn
from harness.wire.interaction import Due, Request


def request_digest(request: Request) -> str:
    """Return 16 hex digits; "" where the request was not kept.

    JSON is compared by value, whatever the order of its keys.
    """
    if not request.body:
        return ""
    try:
        said = msgspec.json.decode(request.body)
        if isinstance(said, dict):
            said.pop("model", None)
        canonical = msgspec.json.encode(said, order="deterministic")
    except (ValueError, RecursionError):
        canonical = request.body
    return sha256(canonical).hexdigest()[:16]


def turn_problem(turn: Turn, tools: Sequence[Tool] | None, checker: Checker, due: Due = "") -> str:
    """Return why `turn` is no success; "" where it is one.

    Args:
        turn: as the normalizer gave it.
        tools: of the request; None where the request was not kept, and then neither names
            nor schemas are checked.
        checker: keeps compiled schemas.
        due: what the question needs, as `Interaction.due`.
    """
    if turn.failure is not None:
        return f"failed: {turn.failure.code}"
    if turn.finish is None:
        return "not finished"
    if turn.finish.reason in CUT_SHORT:
        return f"not finished: {turn.finish.reason}"
    if turn.parse_errors:
        return f"parse error: {turn.parse_errors[0].error}"
    known = None if tools is None else {tool.name: tool for tool in tools}
    problems = (_call_problem(call, known, checker) for call in turn.tool_calls)
    return next((problem for problem in problems if problem), "") or due_problem(
        due, turn.tool_calls
    )


def due_problem(due: Due, calls: Sequence[object]) -> str:
    """Return why `calls`, which are all usable, are not what is due; "" where they are."""
    if due == "call" and not calls:
        return "no call, though one is due"
    return "a call, though an answer is due" if due == "answer" and calls else ""


def _call_problem(call: ToolCall, known: dict[str, Tool] | None, checker: Checker) -> str:
    if call.kind == "custom":
        return misfit(call.name, {}, known, checker)
    parsed = parse(call.arguments)
    if parsed.value is None:
        return f"{call.name}: {parsed.error}"
    return misfit(call.name, parsed.value, known, checker)


def blame_of_bytes(
    reading: OracleReading,
    request_tools: Sequence[Tool] | None,
    checker: Checker | None = None,
    due: Due = "",
) -> Blame:
    """Return who spoilt the turn; "" where the bytes hold a usable one.

    Args:
        reading: of the response.
        request_tools: those that the request declares; None where it was not kept, and then
            neither names nor schemas are checked.
        checker: keeps compiled schemas from one turn to the next.
        due: what the question needs, as `Interaction.due`.
    """
    if reading.model_failed:
        return "model"
    if _is_fault_of_provider(reading):
        return "provider"
    if reading.text_markup:  # what should have been calls or an answer is neither for certain
        return "model"
    if reading.calls is None:  # by no breach of the contract
        return "harness"
    # Out of its budget, or stopped: the stream itself keeps its contract.
    cut_short = reading.meaning in CUT_SHORT or reading.finish.casefold() in MAY_CUT_SHORT
    if reading.refusal or cut_short:
        return "model"
    values = [(call.name, usable_arguments(call, reading).value) for call in reading.calls or ()]
    fit = calls_match_tools(values, request_tools, checker or Checker()) and not due_problem(
        due, values
    )
    return "" if fit else "model"


def calls_match_tools(
    calls: Sequence[tuple[str, dict[str, Any] | None]],
    request_tools: Sequence[Tool] | None,
    checker: Checker,
) -> bool:
    """Return whether all calls name a tool of the request and have arguments that fit it.

    Args:
        calls: name and arguments of each; None where the arguments are no object.
        request_tools: None where the request was not kept; then any name and object will do.
        checker: keeps compiled schemas.
    """
    tools = None if request_tools is None else {tool.name: tool for tool in request_tools}
    return all(
        value is not None and not misfit(name, value, tools, checker) for name, value in calls
    )


def _is_fault_of_provider(reading: OracleReading) -> bool:
    return (
        reading.error is not None
        or not reading.ended
        or any(deviation.ambiguous for deviation in reading.deviations)
        or not NO_ANSWER.isdisjoint(reading.quirks)
        or any(not call.name for call in reading.calls or ())
    )


@cache
def _checker() -> Checker:
    return Checker()


def blame_of_turn(scenario: Scenario | None, part: ExaminedTurn) -> Blame:
    """Return whose fault it is that a turn is no success, or has a parse error.

    Where the bytes hold a usable turn, as the strict reading finds, or as the scenario
    promises and a MUST rule was broken, it is the normalizer's; so is a crash or a hang,
    whatever the bytes hold.
    """
    if part.whole.error or part.whole.hung:
        return "normalizer"
    if scenario and scenario.blame:
        return scenario.blame
    tools = _declared_tools(scenario, part)
    if scenario and part.broken and _promises_success(part.expectation, tools):
        return "normalizer"
    return blame_of_bytes(part.strict, tools, _checker(), part.interaction.due) or "normalizer"


def _promises_success(expectation: Expectation, tools: tuple[Tool, ...] | None) -> bool:
    unfinished = expectation.finish in (FinishReason.LENGTH, FinishReason.CONTENT_FILTER)
    if expectation.failure or expectation.rejected or unfinished:
        return False
    return calls_match_tools(
        [(it.name, it.arguments) for it in expectation.calls], tools, _checker()
    )


def _declared_tools(scenario: Scenario | None, part: ExaminedTurn) -> tuple[Tool, ...] | None:
    if scenario and scenario.tools is not None:
        return scenario.tools
    interaction = part.interaction
    known = read_request(interaction.dialect, interaction.request).tools_known
    return offered_tools(interaction) if known or interaction.tools else None


def turn_facts(scenario: Scenario | None, part: ExaminedTurn) -> TurnFacts:
    """Return the row of the rankings that one interaction of a cell is."""
    turn = part.whole.turn
    problem = turn_problem(turn, _declared_tools(scenario, part), _checker(), part.interaction.due)
    why = part.whole.error or problem
    why = "did not end" if part.whole.hung else why
    if not why and part.broken_whole:
        why = f"the normalizer broke {part.broken_whole}"
    rejected_wrongly = any(f.rule == "GOOD-CALL-NOT-REJECTED" for f in part.findings)
    blame: Blame = blame_of_turn(scenario, part) if why else ""
    parse_error_blame: Blame = ""
    if turn.parse_errors:
        parse_error_blame = "normalizer" if rejected_wrongly else blame_of_turn(scenario, part)
    return TurnFacts(
        interaction=part.place,
        success=not why,
        why=why,
        blame=blame,
        calls=len(turn.tool_calls),
        parse_errors=len(turn.parse_errors),
        parse_error_blame=parse_error_blame,
        finish=turn.finish.reason.value if turn.finish else "",
        failure=turn.failure.code if turn.failure else "",
        digest=body_digest(part.interaction.body),
        asked=request_digest(part.interaction.request),
    )
