"""Generate-content streams: whole calls and calls in parts, and every way in which they end."""

import json
from typing import Any

from harness.dialects.gemini.writer_options import WriterOptions
from scripts.recipes.asking import Api, Asked, Json
from scripts.recipes.kit import (
    Recipe,
    Reply,
    call,
    cut_after,
    fails,
    finish,
    raw,
    reasoning,
    stream,
    swap,
    text,
    tokens,
)
from scripts.recipes.tools import declarations


def _body(asked: Asked) -> Json:
    body: Json = {
        "systemInstruction": {"parts": [{"text": asked.system}]},
        "contents": [{"role": "user", "parts": [{"text": asked.question}]}, *asked.later],
    }
    functions = [declared["function"] for declared in declarations(asked.tools)]
    return body | ({"tools": [{"functionDeclarations": functions}]} if functions else {})


_GEMINI = "https://generativelanguage.googleapis.com/v1beta/models/{model}:streamGenerateContent"
_VERTEX = (
    "https://europe-west1-aiplatform.googleapis.com/v1/projects/example/locations/europe-west1"
    "/publishers/google/models/{model}:streamGenerateContent"
)
SSE_API = Api(
    "gemini", {"google-gemini": f"{_GEMINI}?alt=sse", "google-vertex": f"{_VERTEX}?alt=sse"}, _body
)
_ARRAY = Api("gemini", {"google-gemini": _GEMINI, "google-vertex": _VERTEX}, _body)
_MODEL = "google-gemini/gemini-2.5-flash"
_OSLO = '{"city": "Oslo"}'
_BERGEN = '{"city": "Bergen"}'
_JSON = "application/json; charset=UTF-8"
_STOP = tuple(finish("STOP"))
_ONE = (*call("get_weather", _OSLO, call_id="w1"), *_STOP)
_TWO = (
    *call("get_weather", _OSLO, call_id="w1"),
    *call("get_weather", _BERGEN, index=1, call_id="w2"),
    *tokens(41, 12),
    *_STOP,
)


def _weather(name: str, reply: Reply, *, api: Api = SSE_API, model: str = _MODEL) -> Recipe:
    question = "Compare the weather in Oslo and Bergen."
    return Recipe(f"{model}/{name}", question, ("get_weather", "get_time"), (reply,), api=api)


def _said(*deltas: Any, edits: Any = (), **spelling: Any) -> Reply:  # noqa: ANN401 - deltas, edits, switches of Spelling
    return stream(*deltas, edits=edits, spelling=WriterOptions(**spelling))


def _event(*parts: Json, reason: object = None, **fields: object) -> bytes:
    """Return one event that was written by hand."""
    candidate: Json = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    if reason is not None:
        candidate["finishReason"] = reason
    return _sse({"candidates": [candidate], **fields, "modelVersion": "gemini-2.5-flash"})


def _sse(value: Json) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False)}\r\n\r\n".encode()


def _call_part(**call: object) -> Json:
    return {"functionCall": call}


_QUOTA: Json = {
    "error": {"code": 429, "message": "Quota exceeded for model.", "status": "RESOURCE_EXHAUSTED"}
}
_NESTED = '{"path": "notes.txt", "content": "Blåbær og bjørnebær", "mode": 420}'

RECIPES = (
    _weather("call", _said(call("get_weather", _OSLO, call_id="w1"), tokens(40, 8), _STOP)),
    _weather("parallel", _said(_TWO)),
    _weather("parallel-without-ids", _said(_TWO, call_id="absent", together=True)),
    _weather(
        "text-then-call",
        _said(text("Let me ", "look på det."), _ONE, finish="with-last", signature="all"),
    ),
    _weather(
        "no-arguments",
        _said(
            call("get_time", "", call_id="t1"),
            call("get_time", "{}", index=1, call_id="t2"),
            _STOP,
        ),
    ),
    _weather(
        "thoughts",
        _said(
            reasoning("Two cities.", " Compare them."),
            text("Oslo is colder", "."),
            tokens(30, 20),
            _STOP,
        ),
    ),
    _weather(
        "partial-arguments",
        _said(_TWO, call_id="absent", arguments="partial"),
        model="google-vertex/gemini-3-pro-preview",
    ),
    Recipe(
        "google-vertex/gemini-3-pro-preview/partial-arguments-last-value-ends",
        "Write my notes.",
        ("write_file",),
        (
            _said(
                call("write_file", _NESTED),
                _STOP,
                call_id="absent",
                arguments="partial",
                call_end="with-value",
                finish="no-parts",
            ),
        ),
        api=SSE_API,
    ),
    _weather(
        "partial-arguments-without-end",
        raw(
            _event(_call_part(name="get_weather", willContinue=True)),
            _event(
                _call_part(
                    partialArgs=[{"jsonPath": "$.city", "stringValue": "Os", "willContinue": True}],
                    willContinue=True,
                )
            ),
            _event({"text": ""}, reason="STOP"),
        ),
        model="google-vertex/gemini-3-pro-preview",
    ),
    _weather(
        "partial-arguments-with-gap",
        raw(
            _event(_call_part(name="get_weather", willContinue=True)),
            _event(
                _call_part(
                    partialArgs=[
                        {"jsonPath": "$.cities[0]", "stringValue": "Oslo"},
                        {"jsonPath": "$.cities[2]", "stringValue": "Bergen"},
                    ]
                )
            ),
            _event({"text": ""}, reason="STOP"),
        ),
        model="google-vertex/gemini-3-pro-preview",
    ),
    _weather(
        "malformed-call",
        _said(
            reasoning("A call is needed."),
            fails("MALFORMED_FUNCTION_CALL", "Malformed function call: get_weather(city=Oslo"),
        ),
    ),
    _weather(
        "unexpected-tool-call",
        _said(call("get_weather", _OSLO, call_id="w1"), fails("UNEXPECTED_TOOL_CALL")),
    ),
    _weather("finish-without-parts", _said(_ONE, finish="no-parts")),
    _weather("finish-without-content", _said(_ONE, finish="no-content", candidate=None)),
    _weather("empty-stop", _said(tokens(40, 0), _STOP)),
    _weather(
        "call-again-without-signature",
        raw(
            _event(
                {
                    **_call_part(name="get_weather", args={"city": "Oslo"}, id="w1"),
                    "thoughtSignature": "c2ln",
                }
            ),
            _event(_call_part(name="get_weather", args={"city": "Oslo"}, id="w1"), reason="STOP"),
        ),
    ),
    _weather("json-array", _said(_TWO, framing="array"), api=_ARRAY),
    _weather(
        "json-array-cut",
        _said(_TWO, framing="array", edits=(cut_after(b'"Bergen"'),)),
        api=_ARRAY,
    ),
    _weather("snake-case", _said(_TWO, names="snake", framing="lines")),
    _weather("code-assist", _said(text("One moment."), _ONE, wrapped=True)),
    _weather(
        "finish-number", _said(text("Oslo."), _STOP, finish="number", framing="array"), api=_ARRAY
    ),
    _weather(
        "prompt-blocked",
        raw(
            _sse(
                {
                    "promptFeedback": {"blockReason": "PROHIBITED_CONTENT"},
                    "usageMetadata": {"promptTokenCount": 12, "totalTokenCount": 12},
                    "modelVersion": "gemini-2.5-flash",
                }
            )
        ),
    ),
    _weather(
        "code-execution",
        raw(
            _event({"text": "I count. "}),
            _event({"executableCode": {"language": "PYTHON", "code": "print(3 + 4)"}}),
            _event(
                {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "7\n"}}, reason="STOP"
            ),
            _event({"text": "It is 7."}, reason="STOP"),
        ),
    ),
    _weather(
        "max-tokens-after-call",
        _said(call("get_weather", _OSLO, call_id="w1"), text("And n"), finish("MAX_TOKENS")),
    ),
    _weather("safety", _said(text("First you"), finish("SAFETY"))),
    _weather(
        "error-in-stream",
        _said(
            text("Let me"),
            call("get_weather", _OSLO, call_id="w1"),
            fails("UNAVAILABLE", "The model is overloaded. Please try again later."),
        ),
    ),
    _weather("end-after-call", _said(_ONE, finish="absent")),
    _weather("document", _said(text("Looking. "), _TWO, framing="document"), api=_ARRAY),
    _weather(
        "two-candidates",
        _said(
            _ONE,
            edits=(
                swap(
                    b'"finishReason": "STOP", "index": 0}]',
                    b'"finishReason": "STOP", "index": 0}, {"content": {"parts": [{"functionCall": '
                    b'{"name": "get_weather", "args": {"city": "Rome"}}}], "role": "model"}, '
                    b'"finishReason": "STOP", "index": 1}]',
                ),
            ),
        ),
    ),
    _weather(
        "http-429", raw(json.dumps([_QUOTA], indent=2).encode(), status=429, content_type=_JSON)
    ),
    _weather(
        "http-404",
        raw(
            json.dumps(
                {
                    "error": {
                        "code": 404,
                        "message": "models/gemini-2.5-flash is not found.",
                        "status": "NOT_FOUND",
                    }
                },
                indent=2,
            ).encode(),
            status=404,
            content_type=_JSON,
        ),
    ),
    _weather("empty-array", raw(b"[]", content_type=_JSON), api=_ARRAY),
)
