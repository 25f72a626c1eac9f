"""Turn success: finished, not failed, and each call usable for a tool of the request."""

import pytest

from harness.judging.blame import turn_problem
from harness.turns.deltas import Finish, FinishReason, ParseError, StreamFailure, ToolCall
from harness.turns.turn import Tool, Turn
from harness.wire.interaction import Due

WRITING = Tool(
    "writing",
    parameters={
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "required": ["path"],
    },
)
ANYTHING = Tool("anything")
TOOLS = (WRITING, ANYTHING)
CALLED = Finish(FinishReason.TOOL_CALLS)
GOOD = ToolCall("c1", "writing", '{"path": "a"}')


def problem(turn: Turn, tools: tuple[Tool, ...] | None = TOOLS) -> str:
    return turn_problem(turn, tools)


@pytest.mark.parametrize(
    "turn",
    [
        Turn(text="Hello", finish=Finish(FinishReason.STOP)),
        Turn(finish=Finish(FinishReason.OTHER, "eos")),
        Turn(tool_calls=(GOOD,), finish=CALLED),
        Turn(tool_calls=(GOOD, ToolCall("c2", "anything", "")), finish=CALLED),
        Turn(tool_calls=(GOOD,), finish=Finish(FinishReason.STOP)),
    ],
)
def test_turn_problem_is_empty_for_a_success(turn: Turn) -> None:
    assert problem(turn) == ""


@pytest.mark.parametrize(
    ("turn", "why"),
    [
        (Turn(text="Hel"), "not finished"),
        (Turn(finish=Finish(FinishReason.LENGTH)), "not finished: length"),
        (Turn(finish=Finish(FinishReason.CONTENT_FILTER)), "not finished: content_filter"),
        (Turn(failure=StreamFailure("429")), "failed: 429"),
        (Turn(finish=CALLED, failure=StreamFailure("late")), "failed: late"),
        (Turn(parse_errors=(ParseError("tool_use", "no"),), finish=CALLED), "parse error: no"),
        (
            Turn(tool_calls=(GOOD,), parse_errors=(ParseError("tool_use", "no"),), finish=CALLED),
            "parse error: no",
        ),
        (
            Turn(tool_calls=(GOOD, ToolCall("c2", "reading", "{}")), finish=CALLED),
            "'reading' is not a tool of the request",
        ),
        (Turn(tool_calls=(ToolCall("c1", "", "{}"),), finish=CALLED), "'' is not a tool"),
    ],
)
def test_turn_problem_names_the_reason(turn: Turn, why: str) -> None:
    assert why in problem(turn)


@pytest.mark.parametrize("arguments", ["", "{}", '{"path": 1}', "[]", "just do it", '{"path": "a'])
def test_turn_problem_checks_arguments_against_the_schema(arguments: str) -> None:
    turn = Turn(tool_calls=(ToolCall("c1", "writing", arguments),), finish=CALLED)
    assert problem(turn).startswith("writing: ")


def test_turn_problem_checks_no_tools_when_the_request_is_not_known() -> None:
    turn = Turn(tool_calls=(ToolCall("c1", "unheard-of", '{"path": 1}'),), finish=CALLED)
    assert problem(turn, None) == ""
    broken = Turn(tool_calls=(ToolCall("c1", "unheard-of", "[]"),), finish=CALLED)
    assert problem(broken, None).startswith("unheard-of: ")


SAID = Turn(text="Hello", finish=Finish(FinishReason.STOP))
DONE = Turn(tool_calls=(GOOD,), finish=CALLED)


@pytest.mark.parametrize(
    ("turn", "due", "why"),
    [
        (SAID, "call", "no call, though one is due"),
        (SAID, "answer", ""),
        (DONE, "call", ""),
        (DONE, "answer", "a call, though an answer is due"),
    ],
)
def test_turn_problem_names_a_wrong_kind_of_answer(turn: Turn, due: Due, why: str) -> None:
    assert turn_problem(turn, TOOLS, due) == why


def test_turn_problem_names_an_unknown_tool_when_the_request_has_none() -> None:
    assert "not a tool of the request" in problem(Turn(tool_calls=(GOOD,), finish=CALLED), ())
