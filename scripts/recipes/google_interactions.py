"""Interactions streams: steps, the arguments of a call, and how an interaction ends."""

import json
from typing import Any

from harness.dialects.google_interactions.writer_options import WriterOptions
from scripts.recipes.asking import Api, Asked, Json
from scripts.recipes.kit import (
    Recipe,
    Reply,
    call,
    cut_after,
    fails,
    finish,
    insert,
    raw,
    reasoning,
    stream,
    text,
    tokens,
)
from scripts.recipes.tools import declarations


def _body(asked: Asked) -> Json:
    step = {"type": "user_input", "content": [{"type": "text", "text": asked.question}]}
    body: Json = {"model": asked.model, "stream": True, "system_instruction": asked.system}
    functions = [{"type": "function", **it["function"]} for it in declarations(asked.tools)]
    return {**body, "input": [step, *asked.later], **({"tools": functions} if functions else {})}


_API = Api(
    "google-interactions",
    {"google-gemini": "https://generativelanguage.googleapis.com/v1beta/interactions?alt=sse"},
    _body,
)
_OSLO = '{"city": "Oslo"}'
_BERGEN = '{"city": "Bergen"}'
_ASKS = tuple(finish("requires_action"))
_ONE = (*call("get_weather", _OSLO, call_id="fc_1", pieces=2), *_ASKS)
_TWO = (
    *call("get_weather", _OSLO, call_id="fc_1"),
    *call("get_weather", _BERGEN, index=1, call_id="fc_2", pieces=1),
    *tokens(41, 12),
    *_ASKS,
)
_SEARCH = (
    b'event: step.start\ndata: {"index": 7, "step": {"type": "google_search_call", "id": "s1", '
    b'"arguments": {"queries": ["weather Oslo"]}}, "event_type": "step.start"}\n\n'
)


def _recipe(name: str, reply: Reply) -> Recipe:
    question = "Compare the weather in Oslo and Bergen."
    model = "google-gemini/gemini-3-flash-preview"
    return Recipe(f"{model}/interaction-{name}", question, ("get_weather",), (reply,), api=_API)


def _said(*deltas: Any, edits: Any = (), **spelling: Any) -> Reply:  # noqa: ANN401 - deltas, edits, switches of Spelling
    return stream(*deltas, edits=edits, spelling=WriterOptions(**spelling))


RECIPES = (
    _recipe("call", _said(_ONE)),
    _recipe("parallel", _said(_TWO)),
    _recipe(
        "text",
        _said(text("Oslo is", " kjøligere."), tokens(20, 6), finish("completed"), line_end="crlf"),
    ),
    _recipe("thought-then-call", _said(reasoning("Two ", "cities."), _ONE)),
    _recipe("arguments-at-start", _said(_TWO, arguments="at-start")),
    _recipe("no-arguments", _said(call("get_weather", "", call_id="fc_1"), _ASKS)),
    _recipe("first-version", _said(text("Let me look."), _TWO, version="contents")),
    _recipe("lines", _said(_ONE, framing="lines")),
    _recipe("server-tool", _said(text("Oslo."), finish("completed"), edits=(insert(3, _SEARCH),))),
    _recipe("incomplete", _said(text("Oslo is"), finish("incomplete"))),
    _recipe("failed", _said(text("Oslo is"), fails("failed"))),
    _recipe(
        "error",
        _said(
            call("get_weather", _OSLO, call_id="fc_1"),
            fails("api_error", "Internal error in model"),
        ),
    ),
    _recipe("cut", _said(_ONE, edits=(cut_after(b'arguments": "{'),))),
    _recipe("end-missing", _said(_ONE, status="absent")),
    _recipe("action-without-call", _said(text("I will look."), _ASKS)),
    _recipe("document", _said(text("Looking."), _TWO, framing="document")),
    _recipe(
        "http-400",
        raw(
            json.dumps(
                {"error": {"message": "Request contains an invalid argument.", "code": 400}}
            ).encode(),
            status=400,
            content_type="application/json",
        ),
    ),
)
