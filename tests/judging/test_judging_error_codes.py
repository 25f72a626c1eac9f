"""Whom the errors of each API blame: in a stream, in a document with a status, without a code."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from harness.dialects.table import DIALECTS, oracle_reading
from harness.judging import error_codes
from harness.judging.blame import blame_of_bytes
from harness.results.outcome import Blame
from harness.wire.aws import encode_event, encode_exception
from harness.wire.interaction import Interaction, Request

OK = 200


def stream(*values: dict[str, Any]) -> bytes:
    names = [str(value.get("type") or value.get("event_type") or "") for value in values]
    lines = (f"event: {name}\n" if name else "" for name in names)
    events = (f"{line}data: {json.dumps(it)}\n\n" for line, it in zip(lines, values, strict=True))
    return "".join(events).encode()


def exception(name: str, message: str = "m") -> bytes:
    start = encode_event(b'{"role": "assistant"}', "messageStart")
    return start + encode_exception(json.dumps({"message": message}).encode(), name)


def failed(code: str) -> bytes:
    response = {"id": "r", "object": "response", "status": "failed", "output": []}
    error = {"code": code, "message": "m"}
    return stream({"type": "response.failed", "response": {**response, "error": error}})


def candidate(reason: str) -> bytes:
    return stream({"candidates": [{"index": 0, "finishReason": reason}]})


def dashscope(code: str) -> bytes:
    error = json.dumps({"code": code, "message": "m", "request_id": "r"})
    return f"id:1\nevent:error\ndata:{error}\n\n".encode()


def interactions(code: str) -> bytes:
    return stream({"event_type": "error", **error(code=code)})


def error(**members: object) -> dict[str, Any]:
    return {"error": {"message": "m", **members}}


CHUNK: dict[str, Any] = {"choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": None}]}
UPSTREAM: dict[str, Any] = {
    "choices": [{"delta": {}, "finish_reason": "stop", "native_finish_reason": "network_error"}]
}
LIMITED = {"object": "error", "message": "m", "type": "rate_limited", "code": "1300"}
FULL = {"object": "error", "message": "m", "type": "service_tier_capacity_exceeded", "code": "3505"}
NO_TIER = {
    "object": "error",
    "message": "Service tier capacity exceeded for this model.",
    "type": "invalid_request_error",
    "code": None,
}
NOVA = "Model produced invalid sequence as part of ToolUse. Please refer to the guide."
OLLAMA = {"error": "error parsing tool call: raw='{\"a\"', err=unexpected end of JSON input"}
BLOCKED = {"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}
CASES: list[tuple[str, int, bytes, Blame]] = [
    ("openai-chat", OK, stream(error(code=400)), "request"),
    ("openai-chat", OK, stream(error(code="429", type=None)), "request"),
    ("openai-chat", OK, stream(error(code="408")), "provider"),
    ("openai-chat", OK, stream(LIMITED), "request"),
    ("openai-chat", OK, stream(error(type="server_error")), "provider"),
    ("openai-chat", OK, stream(error(code="1302")), "request"),
    ("openai-chat", 429, json.dumps(error(code=1305)).encode(), "provider"),
    ("mistral", 429, json.dumps(NO_TIER).encode(), "provider"),
    ("openai-responses", OK, failed("usage_limit_reached"), "request"),
    ("openai-chat", 429, stream(error(type="engine_overloaded_error")), "provider"),
    ("openai-chat", 400, json.dumps(error(code="tool_use_failed")).encode(), "model"),
    ("openai-chat", OK, stream(CHUNK, UPSTREAM), "provider"),
    ("openai-chat", 403, b"<html>Forbidden</html>", "request"),
    ("openai-chat", 502, b"<html>Bad Gateway</html>", "provider"),
    ("mistral", OK, stream(LIMITED), "request"),
    ("mistral", 429, json.dumps(FULL).encode(), "provider"),
    ("anthropic", OK, stream({"type": "error", **error(type="rate_limit_error")}), "request"),
    ("anthropic", OK, stream({"type": "error", **error(type="overloaded_error")}), "provider"),
    ("anthropic", OK, exception("throttlingException"), "request"),
    ("bedrock-converse", OK, exception("throttlingException"), "request"),
    ("bedrock-converse", OK, exception("validationException"), "request"),
    ("bedrock-converse", OK, exception("internalServerException"), "provider"),
    ("bedrock-converse", OK, exception("modelStreamErrorException"), "provider"),
    ("bedrock-converse", OK, exception("modelStreamErrorException", NOVA), "model"),
    ("bedrock-converse", OK, b'{"throttlingException": {"message": "m"}}\n', "request"),
    ("bedrock-llama", OK, exception("throttlingException"), "request"),
    ("gemini", OK, stream(BLOCKED), "request"),
    ("gemini", OK, candidate("MISSING_THOUGHT_SIGNATURE"), "request"),
    ("gemini", OK, candidate("MALFORMED_FUNCTION_CALL"), "model"),
    ("gemini", OK, stream(error(code=503, status="UNAVAILABLE")), "provider"),
    ("google-interactions", OK, interactions("out_of_range"), "request"),
    ("google-interactions", OK, interactions("unavailable"), "provider"),
    ("openai-responses", OK, failed("invalid_prompt"), "request"),
    ("openai-responses", OK, failed("image_parse_error"), "request"),
    ("openai-responses", OK, failed("vector_store_timeout"), "provider"),
    ("dashscope", OK, dashscope("Throttling.AllocationQuota"), "request"),
    ("dashscope", OK, dashscope("DataInspectionFailed"), "request"),
    ("dashscope", OK, dashscope("InternalError.Algo"), "provider"),
    ("ollama", OK, json.dumps(OLLAMA).encode() + b"\n", "model"),
    ("ollama", 500, json.dumps(OLLAMA).encode(), "model"),
    ("ollama", 404, b'{"error": "model not found"}', "request"),
    ("tgi", OK, b'data:{"error": "m", "error_type": "validation"}\n\n', "request"),
    ("tgi", 429, b'{"error": "m", "error_type": "overloaded"}', "provider"),
    ("cohere", 401, b'{"message": "invalid api token"}', "request"),
    ("openai-completions", 404, json.dumps(error(code="model_not_found")).encode(), "request"),
]  # fmt: skip


@pytest.mark.parametrize(("dialect", "status", "body", "blame"), CASES)
def test_the_blame_of_an_error(dialect: str, status: int, body: bytes, blame: Blame) -> None:
    sent = Interaction(Request(), status, (), body, (), dialect=dialect)
    assert blame_of_bytes(oracle_reading(sent), None, status=status) == blame


@pytest.mark.parametrize("dialect", sorted(DIALECTS))
@pytest.mark.parametrize(
    ("status", "blame"), [(400, "request"), (429, "request"), (500, "provider")]
)
def test_an_error_without_a_code_is_blamed_by_its_status(
    dialect: str, status: int, blame: Blame
) -> None:
    for body in (b"", b"no JSON", b'{"message": "m"}', b"<html>"):
        sent = Interaction(Request(), status, (), body, (), dialect=dialect)
        assert blame_of_bytes(oracle_reading(sent), None, status=status) == blame


def test_each_code_blames_one_party() -> None:
    path = Path(error_codes.__file__).with_suffix(".toml")
    listed = tomllib.loads(path.read_text(encoding="utf-8"))
    words = [
        (party, word)
        for party in ("request", "provider", "model")
        for word in {one for code in listed[party] for one in error_codes._words(code)}
    ]
    assert len(words) == len({word for _, word in words})
    assert all(listed[party] == sorted(listed[party], key=str.casefold) for party in listed)
