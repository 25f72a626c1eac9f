"""Each problem of a history is found where it is, by its quirk, and nothing else is."""

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.conversation.history.check import history_problems
from harness.providers import Capabilities, capabilities_of
from harness.turns.deltas import ToolCall
from harness.turns.messages import Message, assistant, system, tool_result, user
from tests.conversation.conversation_histories import CAPABILITIES

ONE = ToolCall("call_a", "f", "{}")
TWO = ToolCall("call_b", "f", '{"a": 1}')
GOOD: list[Message] = [
    system("Be brief."),
    user("Why?"),
    assistant(None, [ONE, TWO]),
    tool_result("call_b", "two"),
    tool_result("call_a", "one"),
    assistant("So."),
    user("And?"),
]


def _changed(number: int, **fields: Any) -> list[Message]:  # noqa: ANN401 - any JSON value
    messages = deepcopy(GOOD)
    messages[number] |= fields
    return messages


def _without_key(number: int, key: str) -> list[Message]:
    messages = deepcopy(GOOD)
    del messages[number][key]
    return messages


def _call(**fields: Any) -> list[Message]:  # noqa: ANN401 - any JSON value
    messages = deepcopy(GOOD)
    messages[2]["tool_calls"][0] |= fields
    return messages


def _function(**fields: Any) -> list[Message]:  # noqa: ANN401 - any JSON value
    messages = deepcopy(GOOD)
    messages[2]["tool_calls"][0]["function"] |= fields
    return messages


def _with(at: int, *messages: Any) -> list[Any]:  # noqa: ANN401 - any JSON value
    return [*GOOD[:at], *messages, *GOOD[at:]]


def _without(*numbers: int) -> list[Message]:
    return [message for number, message in enumerate(GOOD) if number not in numbers]


MISTRAL = capabilities_of("mistral")
DEFAULT = Capabilities()
# What is wrong, the messages, for whom, and each quirk with its path.
CASES: dict[str, tuple[list[Any], Capabilities, list[tuple[str, str]]]] = {
    "nothing": (GOOD, DEFAULT, []),
    "no result": (_without(3), DEFAULT, [("HIST-MISSING-RESULT", "messages[2].tool_calls[1]")]),
    "no result at the end": (
        GOOD[:4],
        DEFAULT,
        [("HIST-MISSING-RESULT", "messages[2].tool_calls[0]")],
    ),
    "no call": (
        _without(2),
        DEFAULT,
        [
            ("HIST-ORPHAN-RESULT", "messages[2].tool_call_id"),
            ("HIST-ORPHAN-RESULT", "messages[3].tool_call_id"),
        ],
    ),
    "two results": (
        _with(5, tool_result("call_a", "again")),
        DEFAULT,
        [("HIST-ORPHAN-RESULT", "messages[5].tool_call_id")],
    ),
    "late result": (
        [*GOOD[:3], GOOD[3], user("Go on."), GOOD[4], *GOOD[5:]],
        DEFAULT,
        [
            ("HIST-MISSING-RESULT", "messages[2].tool_calls[0]"),
            ("HIST-ORPHAN-RESULT", "messages[5].tool_call_id"),
        ],
    ),
    "split": (
        [*GOOD[:2], assistant(None, [ONE]), assistant(None, [TWO]), *GOOD[3:]],
        DEFAULT,
        [("HIST-SPLIT-PARALLEL", "messages[3].tool_calls")],
    ),
    "one after the other": (
        [*GOOD[:2], assistant(None, [ONE]), GOOD[4], assistant(None, [TWO]), GOOD[3]],
        DEFAULT,
        [],
    ),
    "cut arguments": (
        _function(arguments='{"a": 1'),
        DEFAULT,
        [("HIST-ARGS-INVALID", "messages[2].tool_calls[0].function.arguments")],
    ),
    "no arguments": (
        _function(arguments=""),
        DEFAULT,
        [("HIST-ARGS-INVALID", "messages[2].tool_calls[0].function.arguments")],
    ),
    "arguments as object": (
        _function(arguments={}),
        DEFAULT,
        [("HIST-ARGS-INVALID", "messages[2].tool_calls[0].function.arguments")],
    ),
    "no name": (
        _function(name=""),
        DEFAULT,
        [("NAME-EMPTY", "messages[2].tool_calls[0].function.name")],
    ),
    "a name with dots": (
        _function(name="a.b"),
        DEFAULT,
        [("NAME-SANITIZED", "messages[2].tool_calls[0].function.name")],
    ),
    "null content": (
        GOOD,
        Capabilities(content_beside_calls="empty"),
        [("HIST-CONTENT-NULL", "messages[2].content")],
    ),
    "empty content": (
        _changed(2, content=""),
        Capabilities(content_beside_calls="null"),
        [("HIST-CONTENT-EMPTY", "messages[2].content")],
    ),
    "empty content where it is wanted": (
        _changed(2, content=""),
        Capabilities(content_beside_calls="empty"),
        [],
    ),
    "empty content where any is accepted": (_changed(2, content=""), DEFAULT, []),
    "blanks where any is accepted": (_changed(2, content=" "), DEFAULT, []),
    "no content where any is accepted": (_changed(2, content=None), DEFAULT, []),
    "no key where any is accepted": (_without_key(2, "content"), DEFAULT, []),
    "no key where an empty text is wanted": (
        _without_key(2, "content"),
        Capabilities(content_beside_calls="empty"),
        [("HIST-CONTENT-NULL", "messages[2].content")],
    ),
    "no key where one is wanted": (
        _without_key(2, "content"),
        capabilities_of("dashscope"),
        [("HIST-CONTENT-NULL", "messages[2].content")],
    ),
    "null where a key is wanted": (GOOD, capabilities_of("dashscope"), []),
    "empty content where a key is wanted": (
        _changed(2, content=""),
        capabilities_of("dashscope"),
        [],
    ),
    "no key where null is wanted": (
        _without_key(2, "content"),
        Capabilities(content_beside_calls="null"),
        [],
    ),
    "empty calls": (
        _changed(5, tool_calls=[]),
        DEFAULT,
        [("HIST-TOOLCALLS-EMPTY", "messages[5].tool_calls")],
    ),
    "empty turn": (_changed(5, content=""), DEFAULT, [("HIST-EMPTY-TURN", "messages[5].content")]),
    "refusal": (_changed(5, content=None, refusal="No."), DEFAULT, []),
    "no reasoning": (
        GOOD,
        capabilities_of("deepseek"),
        [("HIST-REASONING-REQUIRED", "messages[2].reasoning_content")],
    ),
    "empty reasoning": (_changed(2, reasoning_content=""), capabilities_of("deepseek"), []),
    "second system": (
        _with(5, system("Hurry.")),
        DEFAULT,
        [("HIST-SYSTEM-MID", "messages[5].role")],
    ),
    "second system where it may be": (
        _with(5, system("Hurry.")),
        Capabilities(allows_midturn_system=True),
        [],
    ),
    "system before results": (
        _with(3, system("Hurry.")),
        Capabilities(allows_midturn_system=True),
        [("HIST-SYSTEM-MID", "messages[3].role")],
    ),
    "result as object": (
        _changed(3, content={"a": 1}),
        DEFAULT,
        [("HIST-RESULT-NON-STRING", "messages[3].content")],
    ),
    "result in parts": (_changed(3, content=[{"type": "text", "text": "two"}]), DEFAULT, []),
    "bad ids": (
        GOOD,
        MISTRAL,
        [
            ("ID-MISTRAL-9", "messages[2].tool_calls[0].id"),
            ("ID-MISTRAL-9", "messages[2].tool_calls[1].id"),
        ],
    ),
    "id missing": (
        _call(id=None),
        DEFAULT,
        [
            ("DELTA-ID-MISSING", "messages[2].tool_calls[0].id"),
            ("HIST-ORPHAN-RESULT", "messages[4].tool_call_id"),
        ],
    ),
    "id used again": (
        [*GOOD, assistant(None, [ONE]), tool_result("call_a", "one")],
        DEFAULT,
        [("ID-REUSED-ACROSS-TURNS", "messages[7].tool_calls[0].id")],
    ),
    "no message": (_with(5, "hello"), DEFAULT, [("", "messages[5]")]),
    "unknown role": (_with(7, {"role": "function"}), DEFAULT, [("", "messages[7]")]),
    "a question without text": (_changed(1, content=None), DEFAULT, [("", "messages[1].content")]),
    "a custom call": (
        _call(type="custom", custom={"name": "sql", "input": "SELECT 1"}),
        DEFAULT,
        [],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_problem_is_found_where_it_is(name: str) -> None:
    messages, capabilities, expected = CASES[name]
    problems = history_problems(messages, capabilities)
    assert [(problem.quirk, problem.path) for problem in problems] == expected
    assert all(problem.expected and problem.actual for problem in problems)


def test_a_long_id_is_told_from_one_with_other_signs() -> None:
    anthropic = capabilities_of("anthropic")
    quirks = [
        history_problems(_call(id=call_id), anthropic)[0].quirk
        for call_id in ("functions.f:0", "k" * 65)
    ]
    assert quirks == ["ID-ANTHROPIC-PATTERN", "ID-LENGTH-40"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "c", "tool", "assistant"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "function", "name", "type", "custom"]), inner)
    ),
    max_leaves=5,
)
HOSTILE = st.lists(
    JSON
    | st.fixed_dictionaries(
        {"role": st.sampled_from(["system", "user", "assistant", "tool"]) | JSON},
        optional={"content": JSON, "tool_calls": st.lists(JSON) | JSON, "tool_call_id": JSON},
    ),
    max_size=6,
)


@given(HOSTILE, CAPABILITIES)
def test_no_history_makes_it_raise(messages: list[Any], capabilities: Capabilities) -> None:
    problems = history_problems(messages, capabilities)
    assert all(len(problem.actual) < 1_000 for problem in problems)


def test_a_number_without_end_is_shown_by_its_type() -> None:
    (problem,) = history_problems([_changed(1, content=10**5_000)[1]], DEFAULT)
    assert problem.actual == "<class 'int'>"
