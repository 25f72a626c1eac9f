"""Turn success: what the user got from one turn, whoever is to blame where it is nothing.

A turn is a success if it finished, did not fail, and each call names a tool of the request
and has arguments that are a JSON object valid against that tool's schema. Where whoever asked said
what is due, a call or an answer, a turn that gives the other one is none.
"""

from collections.abc import Sequence

from harness.turns.arguments import parse
from harness.turns.calls import ToolCall
from harness.turns.deltas import CUT_SHORT
from harness.turns.schema_check import Checker, misfit
from harness.turns.tools import Tool
from harness.turns.turn import Turn
from harness.wire.interaction import Due


def problem_of(turn: Turn, tools: Sequence[Tool] | None, checker: Checker, due: Due = "") -> str:
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
    return next((problem for problem in problems if problem), "") or misses(due, turn.tool_calls)


def misses(due: Due, calls: Sequence[object]) -> str:
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
