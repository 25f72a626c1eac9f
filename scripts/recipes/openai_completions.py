"""The legacy completion: text that goes on where the prompt stops, and how it ends."""

import json

from harness.dialects.openai_completions.spelling import Spelling
from scripts.recipes.asking import Api, Asked, Json
from scripts.recipes.kit import (
    Recipe,
    Reply,
    append,
    cut_after,
    fails,
    finish,
    raw,
    stream,
    text,
    tokens,
)


def _body(asked: Asked) -> Json:
    return {"model": asked.model, "stream": True, "prompt": asked.question, "max_tokens": 40}


_API = Api(
    "openai-completions",
    {
        "openai": "https://api.openai.com/v1/completions",
        "compatible": "https://llm.example.com/v1/completions",
    },
    _body,
)
_MODEL = "openai/gpt-3.5-turbo-instruct"
_WHOLE = {
    "id": "cmpl-1",
    "object": "text_completion",
    "created": 1760000000,
    "model": "any",
    "choices": [{"text": " turns white.", "index": 0, "logprobs": None, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 5, "completion_tokens": 4, "total_tokens": 9},
}


def _recipe(model: str, name: str, reply: Reply) -> Recipe:
    return Recipe(f"{model}/{name}", "In winter the forest", (), (reply,), api=_API)


RECIPES = (
    _recipe(
        _MODEL,
        "completion",
        stream(text(" turns", " white", "."), finish("stop"), tokens(5, 4), spelling=Spelling()),
    ),
    _recipe(
        _MODEL,
        "completion-length",
        stream(
            text(" tür", "nt 雪", "白"),
            finish("length"),
            spelling=Spelling(finish="with-text", done=False),
        ),
    ),
    _recipe(
        "compatible/any",
        "completion-error",
        stream(text(" turns"), fails("overloaded", "no capacity left"), spelling=Spelling()),
    ),
    _recipe(
        "compatible/any",
        "completion-cut",
        stream(
            text(" turns", " white"),
            fails("interrupted"),
            spelling=Spelling(),
            edits=(cut_after(b'"text": " wh'),),
        ),
    ),
    _recipe(
        "compatible/any",
        "completion-document",
        raw(json.dumps(_WHOLE).encode(), content_type="application/json"),
    ),
    _recipe(
        "compatible/any",
        "completion-of-chat",
        stream(
            text(" turns"),
            fails("interrupted"),
            spelling=Spelling(),
            edits=(append(b'data: {"choices": [{"index": 0, "delta": {"content": "x"}}]}\n\n'),),
        ),
    ),
)
