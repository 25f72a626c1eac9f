"""What Gemini's API demands of a request, whatever the history is."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.table import DIALECTS
from harness.providers import capabilities_of
from harness.turns.deltas import ToolCall
from harness.turns.messages import assistant, system, user
from tests.conversation.conversation_histories import POLICY_NAMES, histories
from tests.conversation.conversation_provider import TOOLS
from tests.conversation.conversation_requests import HISTORY, body_of

CAPABILITIES = capabilities_of("google-gemini", DIALECTS["gemini"].id_pattern)


@given(st.data(), POLICY_NAMES)
def test_sides_take_turns_and_as_many_responses_as_calls_follow_them(
    data: st.DataObject, policy: str
) -> None:
    contents = body_of("gemini", *data.draw(histories(CAPABILITIES, policy)))["contents"]
    roles = [each["role"] for each in contents]
    assert roles == (["user", "model"] * len(roles))[: len(roles)]
    for before, after in pairwise([*contents, {"parts": []}]):
        calls = [it["functionCall"] for it in before["parts"] if "functionCall" in it]
        answers = [it["functionResponse"] for it in after["parts"] if "functionResponse" in it]
        assert [(it["id"], it["name"]) for it in calls] == [
            (it["id"], it["name"]) for it in answers
        ]
        assert all(isinstance(it["args"], dict) for it in calls)


def test_the_address_names_the_model_and_results_are_objects() -> None:
    body = body_of("gemini", system("Be kind."), *HISTORY)
    assert body["systemInstruction"] == {"parts": [{"text": "Be kind."}]}
    assert body["contents"][2] == {
        "role": "user",
        "parts": [
            {
                "functionResponse": {
                    "id": "c1",
                    "name": "get_weather",
                    "response": {"output": "clear"},
                }
            }
        ],
    }
    ((tool,),) = (it["functionDeclarations"] for it in body["tools"])
    assert (tool["name"], tool["parametersJsonSchema"]) == ("get_weather", TOOLS[0].parameters)
    assert body.keys() == {"systemInstruction", "contents", "tools"}


def test_options_are_spelled_its_way() -> None:
    options = {"tool_choice": {"function": {"name": "f"}}, "parallel_tool_calls": False, "a": 1}
    body = body_of("gemini", *HISTORY, options=options)
    calling = {"mode": "ANY", "allowedFunctionNames": ["f"]}
    assert body["toolConfig"] == {"functionCallingConfig": calling}
    assert body["a"] == 1
    assert body.keys().isdisjoint(options.keys() - {"a"})


def test_thoughts_go_back_only_where_they_are_wanted() -> None:
    turn = assistant(None, [ToolCall("c1", "f", "{}")]) | {"reasoning_content": "I must look."}
    said = body_of("gemini", user("?"), turn, field="reasoning_content")["contents"][1]
    assert said["parts"][0] == {"text": "I must look.", "thought": True}
    assert len(body_of("gemini", user("?"), turn)["contents"][1]["parts"]) == 1
