"""Gemini's contents as other clients send them, read in OpenAI's form."""

from typing import Any

import pytest

from harness.conversation.history.check import history_problems
from harness.dialects.table import message_form
from harness.providers import Capabilities
from harness.turns.messages import calls_of, role_of, text_of

ASKED = {"role": "user", "parts": [{"text": "?"}]}


def read(*contents: object) -> tuple[object, ...]:
    return message_form("gemini").messages_of({"contents": list(contents)})


def quirks(*contents: object) -> set[str]:
    return {each.quirk for each in history_problems(read(*contents), Capabilities())}


def called(*names: str, **members: Any) -> dict[str, Any]:  # noqa: ANN401 - members of the call
    parts = [{"functionCall": {"name": name, "args": {}, **members}} for name in names]
    return {"role": "model", "parts": parts}


def gave(*names: str, **members: Any) -> dict[str, Any]:  # noqa: ANN401 - members of the result
    responses = ({"name": name, "response": {"result": name}, **members} for name in names)
    return {"role": "user", "parts": [{"functionResponse": it} for it in responses]}


def test_results_without_ids_answer_the_calls_of_their_name_in_order() -> None:
    found = read(ASKED, called("a", "b", "a"), gave("b", "a", "a"), called("a"), gave("a"))
    assert history_problems(found, Capabilities()) == ()
    ids = [call[0] for call in calls_of(found[1])]
    answers = [it["tool_call_id"] for it in found[2:5] if isinstance(it, dict)]
    assert answers == [ids[1], ids[0], ids[2]]


def test_ids_decide_where_there_are_some() -> None:
    assert quirks(ASKED, called("a", id="x"), gave("a", id="x")) == set()
    other = quirks(ASKED, called("a", id="x"), gave("a", id="y"))
    assert other == {"HIST-ORPHAN-RESULT", "HIST-MISSING-RESULT"}


def test_what_is_broken_is_seen() -> None:
    unanswered = {"HIST-ORPHAN-RESULT", "HIST-MISSING-RESULT"}
    assert quirks(ASKED, called("a"), gave("b")) == unanswered
    assert quirks(ASKED, called("a", args="{}"), gave("a")) == {"HIST-ARGS-INVALID"}
    assert quirks(ASKED, called("a"), gave("a", response=[1])) == {"HIST-RESULT-NON-STRING"}
    assert quirks(ASKED, "no content") == {""}


@pytest.mark.parametrize(
    ("response", "text"),
    [
        ({"result": 20}, "20"),
        ({"name": "a", "content": [{"text": "Ru"}, {"text": "by"}]}, "Ruby"),
        ({"output": "4"}, "4"),
        ({"error": ["no"]}, '["no"]'),
        ({"a": 1, "b": 2}, '{"a": 1, "b": 2}'),
    ],
)
def test_a_result_is_what_its_only_member_holds(response: dict[str, Any], text: str) -> None:
    assert text_of(read(ASKED, called("a"), gave("a", response=response))[2]) == text


def test_thoughts_signatures_and_what_the_provider_runs_are_told_apart() -> None:
    parts = [
        {"text": "Hm.", "thought": True, "thoughtSignature": "abc"},
        {"executableCode": {"code": "1"}},
        {"text": "It is 1."},
    ]
    turn = read(ASKED, {"role": "model", "parts": parts})[1]
    assert turn == {
        "role": "assistant",
        "content": "It is 1.",
        "reasoning_content": "Hm.",
        "sealed": [{"kind": "thoughtSignature", "value": "abc"}, {"kind": "executableCode"}],
    }


def test_python_clients_and_code_assist_spell_it_otherwise() -> None:
    functions = [{"function_declarations": [{"name": "a"}]}]
    inner = {
        "system_instruction": {"parts": [{"text": "Be kind."}]},
        "contents": [{"parts": [{"text": "?"}]}, {"role": "function", "parts": []}],
        "tools": functions,
    }
    found = message_form("gemini").messages_of({"request": inner})
    assert list(map(role_of, found)) == ["system", "user", "user"]
    assert message_form("gemini").tool_names({"request": inner}) == ("a",)
    call = {"role": "model", "parts": [{"function_call": {"name": "a"}}]}
    answer = {"parts": [{"function_response": {"name": "a", "response": {"x": "4"}}}]}
    assert quirks(ASKED, call, answer) == set()
