"""What a messages request asks for, from body and address."""

import pytest

from harness.dialects.anthropic.parse_request import parse_request
from harness.dialects.kit.parse_request import ChatRequest
from harness.turns.turn import Tool

ANTHROPIC = "https://api.anthropic.com/v1/messages"
VERTEX = "https://us-east5-aiplatform.googleapis.com/v1/projects/p/locations/l/publishers"
BEDROCK = "https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-v1%3A0"


def test_a_request() -> None:
    schema = {"type": "object"}
    value = {
        "model": "claude-sonnet-4-5",
        "stream": True,
        "system": [{"type": "text", "text": "Be "}, {"type": "text", "text": "kind."}],
        "messages": [{"role": "system", "content": "And brief."}, {"role": "user", "content": "x"}],
        "tools": [
            {"name": "f", "description": "d", "input_schema": schema},
            {"type": "custom", "name": "g", "input_schema": schema},
            {"type": "bash_20250124", "name": "bash"},
            {"type": "web_search_20250305", "name": "web_search"},
            {"type": "mcp_toolset", "mcp_server_name": "s"},
        ],
    }
    assert parse_request(ANTHROPIC, value) == ChatRequest(
        model="claude-sonnet-4-5",
        tools=(Tool("f", "d", schema), Tool("g", "", schema), Tool("bash")),
        system="Be kind.\nAnd brief.",
        stream=True,
        tools_known=True,
    )


@pytest.mark.parametrize(
    ("uri", "model", "stream"),
    [
        (f"{VERTEX}/anthropic/models/claude-x@2025:streamRawPredict", "claude-x@2025", True),
        (f"{VERTEX}/anthropic/models/claude-x%402025:rawPredict", "claude-x@2025", False),
        (f"{BEDROCK}/invoke-with-response-stream", "anthropic.claude-v1:0", True),
        (f"{BEDROCK}/invoke", "anthropic.claude-v1:0", False),
        (ANTHROPIC, "", False),
        ("", "", False),
    ],
)
def test_clouds_name_the_model_in_the_address(uri: str, model: str, *, stream: bool) -> None:
    found = parse_request(uri, {"anthropic_version": "x", "messages": []})
    assert (found.model, found.stream) == (model, stream)


@pytest.mark.parametrize("wrong", [None, 5, "x", [], [5], {}, [{"type": 5, "name": []}]])
def test_nothing_raises(wrong: object) -> None:
    keys = ("model", "stream", "system", "messages", "tools")
    parse_request(ANTHROPIC, dict.fromkeys(keys, wrong))
