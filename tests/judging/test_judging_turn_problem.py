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
def test_a_success(turn: Turn) -> None:
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
def test_no_success_and_why(turn: Turn, why: str) -> None:
    assert why in problem(turn)


@pytest.mark.parametrize("arguments", ["", "{}", '{"path": 1}', "[]", "just do it", '{"path": "a'])
def test_arguments_must_be_an_object_that_fits_the_schema(arguments: str) -> None:
    turn = Turn(tool_calls=(ToolCall("c1", "writing", arguments),), finish=CALLED)
    assert problem(turn).startswith("writing: ")


def test_where_the_request_was_not_kept_names_and_schemas_are_not_checked() -> None:
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
def test_what_is_due_must_come(turn: Turn, due: Due, why: str) -> None:
    assert turn_problem(turn, TOOLS, due) == why


def test_a_request_without_tools_knows_no_tool() -> None:
    assert "not a tool of the request" in problem(Turn(tool_calls=(GOOD,), finish=CALLED), ())
