"""The legacy completion: text that goes on where the prompt stops, and how it ends."""

import json

from harness.dialects.openai_completions.write import WriterOptions
from scripts.recipes.asking import Api, Asked, Json
from scripts.recipes.kit import (
    DONE,
    Edit,
    Recipe,
    Reply,
    append,
    cut_after,
    end_before,
    fails,
    finish,
    insert,
    raw,
    stream,
    swap,
    text,
    tokens,
)


def _body(asked: Asked) -> Json:
    return {"model": asked.model, "stream": True, "prompt": asked.question, "max_tokens": 40}


_API = Api(
    "openai-completions",
    {
        "openai": "https://api.openai.com/v1/completions",
        "azure": "https://example.openai.azure.com/openai/deployments/{model}/completions",
        "compatible": "https://llm.example.com/v1/completions",
    },
    _body,
)
_MODEL = "openai/gpt-3.5-turbo-instruct"
_ANY = "compatible/any"
_WHOLE = {
    "id": "cmpl-1",
    "object": "text_completion",
    "created": 1760000000,
    "model": "any",
    "choices": [{"text": " turns white.", "index": 0, "logprobs": None, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 5, "completion_tokens": 4, "total_tokens": 9},
}
_HTML = b"<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>\n"
_TURN = (*text(" turns", " white", "."), *finish("stop"))
_CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
_SAFE = {"hate": {"filtered": False, "severity": "safe"}}


def _recipe(model: str, name: str, reply: Reply, **request: object) -> Recipe:
    return Recipe(
        f"{model}/{name}", "In winter the forest", (), (reply,), request=request, api=_API
    )


def _turn(name: str, *edits: Edit, spelling: WriterOptions | None = None) -> Recipe:
    """Return the plain turn, spelled and edited in some way."""
    reply = stream(_TURN, spelling=spelling or WriterOptions(), edits=edits)
    return _recipe(_ANY, f"completion-{name}", reply)


def _chunk(*choices: Json, **fields: object) -> bytes:
    """Return one event with these choices, each by its number in the request."""
    start = {"id": "cmpl-1", "object": "text_completion", "created": 1760000000, "model": "any"}
    value = json.dumps({**start, "choices": choices, **fields}, ensure_ascii=False)
    return f"data: {value}\n\n".encode()


def _choice(piece: str, reason: str | None = None, *, index: int = 0, **fields: object) -> Json:
    return {"text": piece, "index": index, "logprobs": None, "finish_reason": reason, **fields}


def _usage(output_tokens: int) -> Json:
    total = 5 + output_tokens
    return {"prompt_tokens": 5, "completion_tokens": output_tokens, "total_tokens": total}


def _json(value: object, status: int = 200) -> Reply:
    return raw(json.dumps(value).encode(), status=status, content_type="application/json")


RECIPES = (
    _recipe(
        _MODEL,
        "completion",
        stream(
            text(" turns", " white", "."), finish("stop"), tokens(5, 4), spelling=WriterOptions()
        ),
    ),
    _recipe(
        _MODEL,
        "completion-length",
        stream(
            text(" tür", "nt 雪", "白"),
            finish("length"),
            spelling=WriterOptions(finish="with-text", done=False),
        ),
    ),
    _recipe(
        _ANY,
        "completion-error",
        stream(text(" turns"), fails("overloaded", "no capacity left"), spelling=WriterOptions()),
    ),
    _recipe(
        _ANY,
        "completion-cut",
        stream(
            text(" turns", " white"),
            fails("interrupted"),
            spelling=WriterOptions(),
            edits=(cut_after(b'"text": " wh'),),
        ),
    ),
    _recipe(
        _ANY,
        "completion-document",
        raw(json.dumps(_WHOLE).encode(), content_type="application/json"),
    ),
    _recipe(
        _ANY,
        "completion-of-chat",
        stream(
            text(" turns"),
            fails("interrupted"),
            spelling=WriterOptions(),
            edits=(append(b'data: {"choices": [{"index": 0, "delta": {"content": "x"}}]}\n\n'),),
        ),
    ),
    _recipe(
        "azure/gpt-35-turbo-instruct",
        "completion-filtered",
        raw(
            _chunk(prompt_filter_results=[{"prompt_index": 0, "content_filter_results": _SAFE}]),
            _chunk(_choice(" turns", content_filter_results=_SAFE)),
            _chunk(_choice("", "content_filter", content_filter_results=_SAFE)),
            DONE,
        ),
    ),
    _recipe(
        _ANY,
        "completion-two-choices",
        raw(
            _chunk(_choice(" turns")),
            _chunk(_choice(" sleeps", index=1)),
            _chunk(_choice(" under snow", index=1), _choice(" white")),
            _chunk(_choice(".", "stop")),
            _chunk(_choice(".", "length", index=1)),
            _chunk(usage=_usage(8)),
            DONE,
        ),
        n=2,
    ),
    _recipe(
        _ANY,
        "completion-two-choices-document",
        _json(
            {
                **_WHOLE,
                "choices": [
                    _choice(" turns white.", "stop"),
                    _choice(" sleeps", "length", index=1),
                ],
            }
        ),
        n=2,
    ),
    _recipe(
        _ANY,
        "completion-counted-in-each-chunk",
        raw(
            _chunk(_choice(" turns"), usage=_usage(1)),
            _chunk(_choice(" white"), usage=_usage(2)),
            _chunk(_choice(".", "stop", stop_reason=128009), usage=_usage(4)),
            DONE,
        ),
    ),
    _recipe(
        _ANY,
        "completion-unknown-word",
        stream(text(" turns", " turns"), finish("repetition"), spelling=WriterOptions()),
    ),
    _recipe(
        _ANY, "completion-abort", stream(text(" turns"), finish("abort"), spelling=WriterOptions())
    ),
    _turn("end-before-finish", end_before(b'"finish_reason": "stop"')),
    _turn("done-before-finish", end_before(b'"finish_reason": "stop"'), append(DONE)),
    _recipe(
        _ANY,
        "completion-cut-in-usage",
        stream(
            _TURN, tokens(5, 4), spelling=WriterOptions(), edits=(cut_after(b'"prompt_tokens": 5'),)
        ),
    ),
    _turn(
        "no-final-blank",
        cut_after(b'"finish_reason": "stop"}], "model": "any"}'),
        spelling=WriterOptions(finish="with-text"),
    ),
    _turn("crlf", spelling=WriterOptions(crlf=True)),
    _turn(
        "pings",
        insert(0, b": connected\n\n"),
        insert(2, b":\n\n", b"event: ping\ndata:\n\n"),
        insert(-1, b"data: null\n\n", b": ping\n\n"),
    ),
    _turn("choices-null", insert(1, _chunk().replace(b'"choices": []', b'"choices": null'))),
    _turn("after-done", append(_chunk(usage=_usage(4)))),
    _turn("after-finish", insert(-1, _chunk(_choice(" And still")))),
    _turn("finish-twice", insert(-1, _chunk(_choice("", "stop"), usage=_usage(4)))),
    _turn("finish-empty", swap(b'"finish_reason": null', b'"finish_reason": ""')),
    _recipe(
        _ANY,
        "completion-half-pairs",
        raw(
            _chunk(_choice("@")).replace(b"@", rb" \ud83c"),
            _chunk(_choice("@")).replace(b"@", rb"\udf32 \ud83c"),
            _chunk(_choice("@", "stop")).replace(b"@", rb"\udf32."),
            DONE,
        ),
    ),
    _recipe(
        _ANY,
        "completion-like-call",
        stream(
            text(_CALL[:11], _CALL[11:40], _CALL[40:]), finish("stop"), spelling=WriterOptions()
        ),
    ),
    _recipe(
        _ANY,
        "completion-error-object",
        raw(
            _chunk(_choice(" turns")),
            b'data: {"object": "error", "message": "EngineCore died", "type": '
            b'"InternalServerError", "param": null, "code": 500}\n\n',
            DONE,
        ),
    ),
    _recipe(
        _ANY,
        "completion-http-404",
        _json(
            {
                "object": "error",
                "message": "The model `any` does not exist.",
                "type": "NotFoundError",
                "param": None,
                "code": 404,
            },
            404,
        ),
    ),
    _recipe(_ANY, "completion-http-502", raw(_HTML, status=502, content_type="text/html")),
    _recipe(_ANY, "completion-html", raw(_HTML, content_type="text/html")),
    _recipe(_ANY, "completion-empty-body", Reply(spelling=WriterOptions(done=False))),
    _recipe(_ANY, "completion-only-done", raw(DONE)),
)
