"""What the user got from one turn of a cell, and whose fault it is where that is nothing.

Blame comes from the scenario and the strict reading of the bytes, never from the normalizer.
"""

from functools import cache

from harness.dialects.table import read_request
from harness.judging.asked import asked_of
from harness.judging.blame import blame_of_bytes, calls_fit
from harness.judging.examine import Examined
from harness.judging.expectation import Expectation
from harness.judging.results import Blame, TurnFacts, digest_of
from harness.judging.scenario import Scenario
from harness.judging.turn_success import problem_of
from harness.normalizers.respond import offered_tools
from harness.turns.deltas import FinishReason
from harness.turns.schema_check import Checker
from harness.turns.tools import Tool


@cache
def _checker() -> Checker:
    return Checker()


def blame_of_turn(scenario: Scenario | None, part: Examined) -> Blame:
    """Return whose fault it is that a turn is no success, or has a parse error.

    Where the bytes hold a usable turn, as the strict reading finds, or as the scenario
    promises and a MUST rule was broken, it is the normalizer's; so is a crash or a hang,
    whatever the bytes hold.
    """
    if part.whole.error or part.whole.hung:
        return "normalizer"
    if scenario and scenario.blame:
        return scenario.blame
    tools = _tools(scenario, part)
    if scenario and part.broken and _promises_success(part.expectation, tools):
        return "normalizer"
    return blame_of_bytes(part.strict, tools, _checker(), part.interaction.due) or "normalizer"


def _promises_success(expectation: Expectation, tools: tuple[Tool, ...] | None) -> bool:
    unfinished = expectation.finish in (FinishReason.LENGTH, FinishReason.CONTENT_FILTER)
    if expectation.failure or expectation.rejected or unfinished:
        return False
    return calls_fit([(it.name, it.arguments) for it in expectation.calls], tools, _checker())


def _tools(scenario: Scenario | None, part: Examined) -> tuple[Tool, ...] | None:
    if scenario and scenario.tools is not None:
        return scenario.tools
    interaction = part.interaction
    known = read_request(interaction.dialect, interaction.request).tools_known
    return offered_tools(interaction) if known or interaction.tools else None


def turn_facts(scenario: Scenario | None, part: Examined) -> TurnFacts:
    """Return the row of the rankings that one interaction of a cell is."""
    turn = part.whole.turn
    problem = problem_of(turn, _tools(scenario, part), _checker(), part.interaction.due)
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
        digest=digest_of(part.interaction.body),
        asked=asked_of(part.interaction.request),
    )
