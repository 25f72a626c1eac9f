"""Blame as the bytes give it: the provider before the model, nobody where all is well."""

import json

import pytest

from harness.judging.blame import blame_of_bytes
from harness.judging.results import Blame
from harness.judging.strict_reading.openai_chat.stream import strict_reading
from harness.turns.tools import Tool
from harness.wire.interaction import Due, Interaction, Request

TOOLS = (
    Tool("now"),
    Tool("f", parameters={"type": "object", "properties": {"a": {"type": "integer"}}}),
)
DONE = b"data: [DONE]\n\n"


def chunk(finish: str | None = None, **delta: object) -> bytes:
    value = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def call(arguments: str, name: str = "f", call_id: str = "c1") -> bytes:
    function = {"name": name, "arguments": arguments}
    return chunk(tool_calls=[{"index": 0, "id": call_id, "type": "function", "function": function}])


END = chunk("tool_calls") + DONE
CASES: list[tuple[bytes, Blame]] = [
    (chunk(content="a") + chunk("stop"), ""),
    (call('{"a":1}') + END, ""),
    (call("", "now") + END, ""),
    (call('{"a":1}') + chunk(role=None) + chunk("stop"), ""),
    (call('{"a":') + END, "model"),
    (call('{"a":"one"}') + END, "model"),
    (call("{}", "unknown") + END, "model"),
    (chunk(content="a") + chunk("length"), "model"),
    (chunk(content="a") + chunk("content_filter"), "model"),
    (chunk(content="a") + chunk("max_tokens"), "model"),
    (chunk(content="a") + chunk("MAX_TOKENS"), "model"),
    (chunk(content="a") + chunk("Content_Filter"), "model"),
    (chunk(content="a") + chunk("sensitive"), "model"),
    (call("", "now") + chunk("eos"), "model"),
    (chunk(refusal="no") + chunk("stop"), "model"),
    (call('{"a":'), "provider"),
    (call("{}", ""), "provider"),
    (call("{}", "") + END, "provider"),
    (call("{}") + call("{}", call_id="c2") + END, "provider"),
    (b'data: {"error": {"message": "m"}}\n\n' + DONE, "provider"),
    (b"<html>", "provider"),
    (DONE, "provider"),
    (END, "provider"),
    (b"data: {\n\n" + chunk(content="a") + chunk("stop"), "provider"),
]


@pytest.mark.parametrize(("body", "blame"), CASES)
def test_blame(body: bytes, blame: Blame) -> None:
    reading = strict_reading(Interaction(Request(), 200, (), body, ()))
    assert blame_of_bytes(reading, TOOLS) == blame


@pytest.mark.parametrize(
    ("body", "due", "blame"),
    [
        (chunk(content="a") + chunk("stop"), "call", "model"),
        (chunk(content="a") + chunk("stop"), "answer", ""),
        (call('{"a":1}') + END, "call", ""),
        (call('{"a":1}') + END, "answer", "model"),
        (b"<html>", "call", "provider"),
    ],
)
def test_a_model_that_does_not_give_what_is_due(body: bytes, due: Due, blame: Blame) -> None:
    reading = strict_reading(Interaction(Request(), 200, (), body, ()))
    assert blame_of_bytes(reading, TOOLS, None, due) == blame


def test_tools_that_were_not_kept_blame_nobody() -> None:
    reading = strict_reading(Interaction(Request(), 200, (), call("{}", "unknown") + END, ()))
    assert blame_of_bytes(reading, None) == ""
    assert blame_of_bytes(reading, ()) == "model"
