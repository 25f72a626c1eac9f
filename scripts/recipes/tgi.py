"""Text-generation-inference: tokens of text, the last one beside the whole text."""

import json

from harness.dialects.tgi.write import WriterOptions
from scripts.recipes.asking import Api, Asked, Json
from scripts.recipes.kit import (
    DONE,
    Edit,
    Recipe,
    Reply,
    append,
    cut_after,
    each,
    end_before,
    fails,
    finish,
    insert,
    raw,
    stream,
    text,
    tokens,
)


def _body(asked: Asked) -> Json:
    return {"inputs": asked.question, "parameters": {"max_new_tokens": 40, "details": True}}


_API = Api(
    "tgi",
    {"huggingface": "https://tgi.example.com/models/{model}/generate_stream"},
    _body,
)
_WHOLE = [
    {
        "generated_text": " turns white.",
        "details": {"finish_reason": "eos_token", "generated_tokens": 4, "prefill": []},
    }
]


_TURN = (*text(" turns", " white", "."), *tokens(5, 4), *finish("eos_token"))
_HTML = b"<html><body><h1>503 Service Temporarily Unavailable</h1></body></html>\n"
_CALL = '[TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Oslo"}}]'


def _recipe(name: str, reply: Reply) -> Recipe:
    return Recipe(f"huggingface/any/{name}", "In winter the forest", (), (reply,), api=_API)


def _turn(name: str, *edits: Edit, spelling: WriterOptions | None = None) -> Recipe:
    """Return the plain turn, spelled and edited in some way."""
    return _recipe(name, stream(_TURN, spelling=spelling or WriterOptions(), edits=edits))


def _event(**fields: object) -> bytes:
    return f"data:{json.dumps(fields, ensure_ascii=False)}\n\n".encode()


def _token(piece: str, *, special: bool = False, **fields: object) -> bytes:
    """Return one event of a token, not the last one unless `fields` say so."""
    token = {"id": 1, "text": piece, "logprob": -0.25, "special": special}
    return _event(**{"token": token, "generated_text": None, "details": None, **fields})


def _last(whole: str, reason: str = "eos_token", counted: int = 4) -> Json:
    details = {
        "finish_reason": reason,
        "generated_tokens": counted,
        "input_length": 5,
        "seed": None,
    }
    return {"generated_text": whole, "details": details}


def _json(value: object, status: int = 200) -> Reply:
    return raw(json.dumps(value).encode(), status=status, content_type="application/json")


def _crlf(event: bytes) -> bytes:
    return event.replace(b"\n", b"\r\n")


RECIPES = (
    _recipe(
        "tokens",
        stream(
            text(" turns", " white", "."),
            tokens(5, 4),
            finish("eos_token"),
            spelling=WriterOptions(),
        ),
    ),
    _recipe(
        "tokens-length",
        stream(
            text(" tür", "nt 雪", "白"),
            tokens(5, 3),
            finish("length"),
            spelling=WriterOptions(last="text", index=False),
        ),
    ),
    _recipe(
        "tokens-without-details",
        stream(
            text(" turns", " white."),
            finish("stop"),
            spelling=WriterOptions(last="text", details="null"),
        ),
    ),
    _recipe(
        "tokens-error",
        stream(
            text(" turns"),
            fails("generation", "Request failed during generation: CUDA out of memory"),
            spelling=WriterOptions(),
        ),
    ),
    _recipe(
        "tokens-cut",
        stream(
            text(" turns", " white"),
            finish("eos_token"),
            spelling=WriterOptions(),
            edits=(end_before(b'"special": true'),),
        ),
    ),
    _recipe(
        "tokens-document",
        raw(json.dumps(_WHOLE).encode(), content_type="application/json"),
    ),
    _recipe(
        "tokens-stop-sequence",
        stream(
            text(" turns", " white.", "\n\n"),
            tokens(5, 3),
            finish("stop_sequence"),
            spelling=WriterOptions(last="text"),
        ),
    ),
    _recipe(
        "tokens-unknown-word",
        stream(
            text(" turns"), tokens(5, 1), finish("max_time"), spelling=WriterOptions(last="text")
        ),
    ),
    _recipe(
        "tokens-special-inside",
        raw(
            _token("<|start_header_id|>", special=True),
            _token(" turns"),
            _token("<|reserved_special_token_7|>", special=True),
            _token(" white"),
            _token("<s>"),
            _token("<|eot_id|>", special=True, **_last(" turns white<s>")),
        ),
    ),
    _recipe(
        "tokens-without-text",
        raw(
            _token(" 雪"),
            _token(""),
            _token(""),
            _token("🌲", top_tokens=[{"id": 2, "text": "!", "logprob": -3.5, "special": False}]),
            _token("</s>", special=True, **_last(" 雪🌲")),
        ),
    ),
    _recipe(
        "tokens-with-prompt",
        raw(
            _token(" turns"),
            _token(" white.", **_last("In winter the forest turns white.", "length", 2)),
        ),
    ),
    _recipe(
        "tokens-like-call",
        stream(
            text(_CALL[:12], _CALL[12:30], _CALL[30:]),
            tokens(5, 21),
            finish("eos_token"),
            spelling=WriterOptions(special_text="<|im_end|>"),
        ),
    ),
    _turn("tokens-cut-in-event", cut_after(b'"text": " white"')),
    _turn("tokens-cut-in-last", cut_after(b'"generated_text": " turns white."')),
    _turn("tokens-no-final-blank", cut_after(b'"input_length": 5, "seed": null}}')),
    _turn("tokens-crlf", each(_crlf), spelling=WriterOptions(space=True)),
    _turn("tokens-comments", insert(0, b":\n\n"), insert(2, b":\n\n", b":\n\n")),
    _turn("tokens-pings", insert(1, b"event:ping\ndata:\n\n"), insert(3, b"data:null\n\n")),
    _turn("tokens-done", append(DONE)),
    _turn("tokens-of-chat", insert(2, _event(choices=[{"index": 0, "delta": {"content": "x"}}]))),
    _recipe(
        "tokens-error-first",
        raw(_event(error="Model is overloaded", error_type="overloaded")),
    ),
    _recipe(
        "tokens-error-event",
        raw(_token(" turns"), b"event:error\n" + _event(message="worker is gone")),
    ),
    _recipe(
        "tokens-error-object",
        raw(
            _token(" turns"),
            _event(error={"message": "Endpoint is paused.", "http_status_code": 424}),
        ),
    ),
    _recipe(
        "tokens-document-object",
        _json(
            {
                **_last(" turns white.", "stop_sequence"),
                "warnings": ["`seed` is ignored"],
            }
        ),
    ),
    _recipe(
        "tokens-http-422",
        _json(
            {
                "error": "Input validation error: `max_new_tokens` must be strictly positive",
                "error_type": "validation",
            },
            422,
        ),
    ),
    _recipe(
        "tokens-http-503",
        _json({"error": "Model any is currently loading", "estimated_time": 20.0}, 503),
    ),
    _recipe(
        "tokens-http-400",
        _json({"error": ["`inputs` must be a text", "`parameters` has no member `top`"]}, 400),
    ),
    _recipe("tokens-html", raw(_HTML, status=503, content_type="text/html")),
    _recipe("tokens-empty-body", Reply(spelling=WriterOptions())),
)
