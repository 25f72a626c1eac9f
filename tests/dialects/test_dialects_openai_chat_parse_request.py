"""A request body says what it says, and nothing raises whatever it is."""

import json

from hypothesis import given
from hypothesis import strategies as st

from harness.dialects.kit.parse_request import UNKNOWN_REQUEST, ChatRequest
from harness.dialects.table import read_request
from harness.turns.turn import Tool
from harness.wire.interaction import Request
from tests.tables import each_row

KEYS = ["model", "tools", "functions", "function", "messages", "role", "content", "name", "text"]
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5) | st.sampled_from(["system"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)
    ),
    max_leaves=15,
)
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}}
WEATHER = {"name": "get_weather", "description": "Weather.", "parameters": SCHEMA}


def asked(body: bytes) -> ChatRequest:
    return read_request("openai-chat", Request(body=body))


@given(st.binary(max_size=50) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_body_is_read_without_raising(body: bytes) -> None:
    request = asked(body)
    assert isinstance(request, ChatRequest)
    assert request.tools_known or request == UNKNOWN_REQUEST


def test_a_whole_request_is_read() -> None:
    body = {
        "model": "qwen-plus",
        "stream": True,
        "tools": [{"type": "function", "function": WEATHER}, {"custom": {"name": "raw"}}, 3],
        "functions": [{"name": "old", "parameters": "none"}],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Hi"},
            {"role": "developer", "content": [{"type": "text", "text": "Be "}, {"text": "kind."}]},
        ],
    }
    assert asked(json.dumps(body).encode()) == ChatRequest(
        model="qwen-plus",
        tools=(Tool("get_weather", "Weather.", SCHEMA), Tool("raw"), Tool("old")),
        system="Be brief.\nBe kind.",
        stream=True,
        tools_known=True,
    )


@each_row("body", [b"", b"[]", b"{", b"a=b", b"null", b"[" * 100_000])
def test_a_body_that_was_not_kept_leaves_the_tools_unknown(body: bytes) -> None:
    assert asked(body) == UNKNOWN_REQUEST


def test_a_request_without_tools_is_known_to_have_none() -> None:
    request = asked(b'{"model": "m", "stream": "yes"}')
    assert (request.tools, request.tools_known, request.stream) == ((), True, False)
