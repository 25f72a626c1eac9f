"""Llama on Bedrock's invoke calls: pieces of text in envelopes, and what happens to both."""

import json

from harness.dialects.bedrock_llama.write import WriterOptions
from harness.wire.aws import encode_event, encode_exception, encode_message, wrap_chunk
from scripts.recipes.asking import Api, Asked, Json
from scripts.recipes.kit import (
    Edit,
    Events,
    Recipe,
    Reply,
    append,
    fails,
    finish,
    insert,
    raw,
    stream,
    text,
    tokens,
)

_JSON = "application/json"
_METRICS = {
    "inputTokenCount": 5,
    "outputTokenCount": 4,
    "invocationLatency": 388,
    "firstByteLatency": 90,
}
_TURN = (*text(" turns", " white", "."), *tokens(5, 4), *finish("stop"))
_CALL = '<|python_tag|>{"name": "get_weather", "parameters": {"city": "Oslo"}}<|eom_id|>'
_HTML = b"<html><body><h1>504 Gateway Time-out</h1></body></html>\n"
_DOCUMENT = {
    "generation": " turns white.",
    "prompt_token_count": 5,
    "generation_token_count": 4,
    "stop_reason": "stop",
}


def _body(asked: Asked) -> Json:
    return {"prompt": asked.question, "max_gen_len": 64}


_API = Api(
    "bedrock-llama",
    {
        "aws-bedrock": "https://bedrock-runtime.us-east-1.amazonaws.com/model/{model}"
        "/invoke-with-response-stream",
    },
    _body,
)


def _recipe(name: str, reply: Reply) -> Recipe:
    cassette = f"aws-bedrock/meta.llama3-70b-instruct-v1/{name}"
    return Recipe(cassette, "In winter the forest", (), (reply,), api=_API)


def _turn(name: str, *edits: Edit, spelling: WriterOptions | None = None) -> Recipe:
    """Return the plain turn, spelled and edited in some way."""
    return _recipe(name, stream(_TURN, spelling=spelling or WriterOptions(), edits=edits))


def _json(value: object, status: int = 200) -> Reply:
    return raw(json.dumps(value).encode(), status=status, content_type=_JSON)


def _chunk(**fields: object) -> bytes:
    return encode_event(wrap_chunk(json.dumps(fields, ensure_ascii=False).encode()), "chunk")


def _piece(piece: str, reason: str | None = None, **fields: object) -> bytes:
    return _chunk(generation=piece, prompt_token_count=None, stop_reason=reason, **fields)


def _unpadded(piece: str, reason: str | None = None) -> bytes:
    """Return a piece whose envelope is as small as it may be."""
    event = json.dumps({"generation": piece, "stop_reason": reason}).encode()
    return encode_event(wrap_chunk(event).partition(b',"p"')[0] + b"}", "chunk")


def _cut(place: int, size: int) -> Edit:
    """End the body `size` bytes into the message at `place`."""
    return lambda events: (*events[:place], events[place][:size])


def _damage(place: int, at: int) -> Edit:
    """Flip one bit of the message at `place`."""

    def edit(events: Events) -> Events:
        message = bytearray(events[place])
        message[at] ^= 1
        return (*events[:place], bytes(message), *events[place + 1 :])

    return edit


def _error(code: str, words: str) -> bytes:
    """Return an error, which has its words in a header and no payload."""
    headers = {":message-type": "error", ":error-code": code, ":error-message": words}
    return encode_message(b"", headers)


RECIPES = (
    _recipe(
        "text",
        stream(
            text(" turns", " tür", "kis 雪", "."),
            tokens(5, 5),
            finish("stop"),
            spelling=WriterOptions(),
        ),
    ),
    _recipe(
        "length",
        stream(
            text(" turns", " white"),
            tokens(5, 2),
            finish("length"),
            spelling=WriterOptions(finish="with-text", metrics=False),
        ),
    ),
    _recipe(
        "unknown-reason", stream(text(" turns"), finish("content_policy"), spelling=WriterOptions())
    ),
    _recipe(
        "metrics-alone",
        raw(
            _piece(" turns", generation_token_count=1),
            _piece(" white.", "stop", generation_token_count=3),
            _chunk(**{"amazon-bedrock-invocationMetrics": _METRICS}),
        ),
    ),
    _recipe(
        "unknown-members",
        raw(
            _piece(" turns", images=None, **{"amazon-bedrock-guardrailAction": "NONE"}),
            _piece(".", "stop", **{"amazon-bedrock-trace": {"guardrail": {"generation": "no"}}}),
        ),
    ),
    _turn(
        "unknown-event",
        insert(0, encode_event(b"{}", "initial-response")),
        insert(2, encode_event(b'{"generation": "no", "stop_reason": "length"}', "audit")),
    ),
    _recipe("unpadded", raw(_unpadded(" turns"), _unpadded(" 🌲"), _unpadded("", "stop"))),
    _recipe(
        "like-call",
        stream(
            text(_CALL[:14], _CALL[14:40], _CALL[40:]),
            tokens(5, 24),
            finish("stop"),
            spelling=WriterOptions(finish="with-text"),
        ),
    ),
    _recipe(
        "exception",
        stream(
            text(" turns"),
            fails("modelTimeoutException", "Model processing timed out."),
            spelling=WriterOptions(),
        ),
    ),
    _recipe(
        "exception-first",
        stream(
            fails("throttlingException", "Too many requests, please wait before trying again."),
            spelling=WriterOptions(),
        ),
    ),
    _recipe(
        "exception-with-original",
        raw(
            _piece(" turns"),
            encode_exception(
                b'{"message": "The model stopped.", "originalStatusCode": 424, '
                b'"originalMessage": "out of memory"}',
                "modelStreamErrorException",
            ),
        ),
    ),
    _recipe("error-message", raw(_piece(" turns"), _error("InternalFailure", "Worker is gone."))),
    _recipe(
        "end-in-message",
        stream(
            text(" turns", " white", "."),
            finish("stop"),
            spelling=WriterOptions(),
            edits=(_cut(2, 90),),
        ),
    ),
    _turn("end-in-prelude", _cut(2, 7)),
    _turn("end-before-reason", lambda events: events[:-1]),
    _turn(
        "end-after-reason",
        append(_chunk(**{"amazon-bedrock-invocationMetrics": _METRICS})),
        _cut(4, 60),
    ),
    _turn("damaged", _damage(1, -40)),
    _turn("damaged-length", _damage(2, 2)),
    _recipe("document", _json(_DOCUMENT)),
    _recipe(
        "http-400", _json({"message": "Malformed input request: extraneous key [top_k]."}, 400)
    ),
    _recipe(
        "http-403",
        _json({"Message": "User: arn is not authorized to perform: bedrock:InvokeModel"}, 403),
    ),
    _recipe("http-504", raw(_HTML, status=504, content_type="text/html")),
    _recipe("empty-body", Reply(spelling=WriterOptions())),
)
