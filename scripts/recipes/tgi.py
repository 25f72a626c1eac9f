"""Text-generation-inference: tokens of text, the last one beside the whole text."""

import json

from harness.dialects.tgi.spelling import Spelling
from scripts.recipes.asking import Api, Asked, Json
from scripts.recipes.kit import Recipe, Reply, end_before, fails, finish, raw, stream, text, tokens


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


def _recipe(name: str, reply: Reply) -> Recipe:
    return Recipe(f"huggingface/any/{name}", "In winter the forest", (), (reply,), api=_API)


RECIPES = (
    _recipe(
        "tokens",
        stream(
            text(" turns", " white", "."), tokens(5, 4), finish("eos_token"), spelling=Spelling()
        ),
    ),
    _recipe(
        "tokens-length",
        stream(
            text(" tür", "nt 雪", "白"),
            tokens(5, 3),
            finish("length"),
            spelling=Spelling(last="text", index=False),
        ),
    ),
    _recipe(
        "tokens-without-details",
        stream(
            text(" turns", " white."),
            finish("stop"),
            spelling=Spelling(last="text", details="null"),
        ),
    ),
    _recipe(
        "tokens-error",
        stream(
            text(" turns"),
            fails("generation", "Request failed during generation: CUDA out of memory"),
            spelling=Spelling(),
        ),
    ),
    _recipe(
        "tokens-cut",
        stream(
            text(" turns", " white"),
            finish("eos_token"),
            spelling=Spelling(),
            edits=(end_before(b'"special": true'),),
        ),
    ),
    _recipe(
        "tokens-document",
        raw(json.dumps(_WHOLE).encode(), content_type="application/json"),
    ),
)
