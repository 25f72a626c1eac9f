"""What a request of the Responses API asks for."""

from typing import Any

import pytest

from harness.dialects.openai_responses.parse_request import parse_request

URI = "https://api.example.com/v1/responses"


def test_model_tools_system_and_stream() -> None:
    asked = parse_request(
        URI,
        {
            "model": "gpt-5-mini",
            "stream": True,
            "instructions": "Be brief.",
            "input": [
                {"role": "developer", "content": [{"type": "input_text", "text": "Be kind."}]},
                {"role": "user", "content": "Hi."},
            ],
            "tools": [
                {"type": "function", "name": "f", "description": "d", "parameters": {"a": 1}},
                {"type": "function", "function": {"name": "g"}},
                {"type": "custom", "name": "sql"},
                {"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "h"}]},
                {"type": "web_search"},
            ],
        },
    )
    assert (asked.model, asked.stream, asked.tools_known) == ("gpt-5-mini", True, True)
    assert asked.system == "Be brief.\nBe kind."
    assert [tool.name for tool in asked.tools] == ["f", "g", "sql", "h"]
    assert asked.tools[0].parameters == {"a": 1}


def test_a_session_and_a_model_in_the_address() -> None:
    asked = parse_request(f"{URI}?model=gpt-realtime", {"session": {"instructions": "Be brief."}})
    assert (asked.model, asked.system, asked.stream) == ("gpt-realtime", "Be brief.", True)


@pytest.mark.parametrize(
    "body",
    [{}, {"model": 1, "tools": 3, "input": "Hi.", "instructions": []}, {"tools": [None, {}]}],
)
def test_what_cannot_be_read_is_empty(body: dict[str, Any]) -> None:
    asked = parse_request("", body)
    assert (asked.model, asked.system, asked.stream, asked.tools) == ("", "", False, ())
