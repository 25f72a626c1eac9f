"""The Responses API: its items and events, and what servers and gateways make of them."""

import json
from typing import Any

from harness.dialects.openai_responses.writer_options import WriterOptions
from harness.turns.deltas import Delta, ToolCallStart
from scripts.recipes.asking import Api, Asked, Json
from scripts.recipes.kit import (
    Edit,
    Recipe,
    Reply,
    append,
    call,
    cut_after,
    end_before,
    fails,
    finish,
    fragments,
    insert,
    raw,
    reasoning,
    stream,
    swap,
    text,
    tokens,
)
from scripts.recipes.responses_events import (
    CUSTOM_CALL,
    DOCUMENT,
    FAILED,
    OSLO,
    REALTIME,
    SEARCHING,
    SEARCHING_X,
    SHELL,
    TOO_FAST,
    body,
    completed,
    created,
    event,
    item,
    realtime,
)
from scripts.recipes.tools import declarations

_JSON = "application/json"
_OPENAI = "openai/gpt-5-mini"
_BRIDGE = "compatible/responses"


def _body(asked: Asked) -> Json:
    messages: list[Json] = [{"role": "user", "content": asked.question}, *asked.later]
    body: Json = {
        "model": asked.model,
        "stream": True,
        "instructions": asked.system,
        "input": messages,
    }
    tools = [{"type": "function", **item["function"]} for item in declarations(asked.tools)]
    return body | ({"tools": tools} if tools else {})


API = Api(
    "openai-responses",
    {
        "azure": "https://example.openai.azure.com/openai/v1/responses",
        "chatgpt-codex": "https://chatgpt.com/backend-api/codex/responses",
        "compatible": "https://llm.example.com/v1/responses",
        "github-copilot": "https://api.githubcopilot.com/responses",
        "lmstudio": "http://127.0.0.1:1234/v1/responses",
        "openai": "https://api.openai.com/v1/responses",
        "openrouter": "https://openrouter.ai/api/v1/responses",
        "xai": "https://api.x.ai/v1/responses",
    },
    _body,
)

_CALL = tuple(call("get_weather", OSLO, call_id="call_a"))
_TURN: tuple[Delta, ...] = (*_CALL, *tokens(231, 24), *finish("stop"))
_OPEN = (ToolCallStart(0, "call_a", "get_weather"), *fragments('{"city": "Os', pieces=2))
_TWO = (
    *call("get_weather", OSLO, call_id="call_a"),
    *call("get_weather", '{"city": "Bergen"}', index=1, call_id="call_b"),
    *tokens(240, 49),
    *finish("stop"),
)
_ANSWER: tuple[Delta, ...] = (*text("It is ", "raining in Oslo."), *tokens(231, 9), *finish("stop"))


def _recipe(
    name: str, reply: Reply, *, by: str = _OPENAI, tools: tuple[str, ...] = ("get_weather",)
) -> Recipe:
    return Recipe(f"{by}/{name}", "What is the weather in Oslo?", tools, (reply,), api=API)


def _said(*deltas: Delta, edits: tuple[Edit, ...] = (), **spelling: Any) -> Reply:  # noqa: ANN401 - the switches of Spelling
    return stream(deltas, edits=edits, spelling=WriterOptions(**spelling))


def _bridge(name: str, *deltas: Delta, by: str = _BRIDGE, **spelling: Any) -> Recipe:  # noqa: ANN401 - as above
    """Return a recipe for what another server writes; one call where nothing is said."""
    return _recipe(name, _said(*(deltas or _TURN), **spelling), by=by)


RECIPES = (
    # The plain contract
    _recipe("responses-call", _said(*reasoning("The user ", "wants rain."), *_TURN)),
    _recipe("responses-parallel", _said(*_TWO, obfuscation=True)),
    _recipe("responses-text-then-call", _said(*text("Let me ", "look."), *_TURN)),
    _recipe(
        "responses-no-arguments",
        _said(*call("get_time", "{}", call_id="call_a", pieces=1), *finish("stop")),
        tools=("get_time",),
    ),
    _recipe("responses-answer", _said(*_ANSWER)),
    _recipe("responses-web-search", raw(*SEARCHING)),
    _recipe(
        "responses-json-for-stream",
        raw(json.dumps(DOCUMENT, indent=2).encode(), content_type=_JSON),
    ),
    # Ends
    _recipe(
        "responses-incomplete-call", _said(*_OPEN, *tokens(231, 16), *finish("max_output_tokens"))
    ),
    _recipe(
        "responses-incomplete-whole-call",
        _said(*call("get_weather", OSLO, call_id="call_a"), *finish("max_output_tokens")),
    ),
    _recipe(
        "responses-content-filter",
        _said(*text("First, take "), *finish("content_filter")),
        by="azure/gpt-5-mini",
    ),
    _recipe("responses-no-terminal", _said(*_TURN, edits=(end_before(b"response.completed"),))),
    _recipe("responses-end-in-call", _said(*_TURN, edits=(cut_after(b'"delta": "'),))),
    _recipe("responses-refusal", _said(*text("Well. "), *fails("refusal", "I cannot do that."))),
    _recipe("responses-failed", _said(*_OPEN, *fails("server_error", "Something broke."))),
    _recipe(
        "responses-error-then-failed",
        raw(*body(created(), event("error", error=TOO_FAST), FAILED)),
    ),
    _recipe(
        "responses-error-event", _said(*text("Let me"), *fails("502", "gone"), failure="event")
    ),
    # Found by the fuzzer: the name of a frame had gone out when the gateway's error came.
    _recipe(
        "responses-error-behind-a-name",
        _said(
            *_TURN,
            edits=(
                cut_after(b"event: response.completed\n"),
                append(b"data: " + json.dumps({"error": TOO_FAST}).encode() + b"\n\n"),
            ),
        ),
    ),
    _recipe(
        "responses-http-429",
        raw(
            json.dumps({"error": {"type": "requests", **TOO_FAST}}).encode(),
            status=429,
            content_type=_JSON,
        ),
    ),
    _recipe("responses-empty-body", stream(edits=(lambda _: (),), spelling=WriterOptions())),
    # Calls that are no functions
    _recipe("responses-custom-tool", raw(*CUSTOM_CALL)),
    _recipe("x-search", raw(*SEARCHING_X), by="xai/grok-4-fast", tools=()),
    _recipe(
        "local-shell",
        raw(
            *body(
                created(tools=[{"type": "local_shell"}]),
                *item(0, {**SHELL, "status": "in_progress"}, SHELL),
                completed(SHELL, tools=[{"type": "local_shell"}]),
            )
        ),
        tools=(),
    ),
    # Ids and places
    _bridge("item-id-absent", *_TWO, item_ids="absent"),
    _bridge("item-id-changes", *_TWO, item_ids="changing", by="github-copilot/gpt-5-mini"),
    _bridge("output-index-zero", *_TWO, output_index="zero"),
    _bridge("output-index-absent", *_TWO, output_index="absent"),
    _bridge("call-id-changes", last_ids="other-call"),
    _bridge("two-ids", last_ids="both-other"),
    _recipe(
        "call-id-absent", _said(*_TURN, edits=(swap(b'"call_id": "call_a", ', b""),)), by=_BRIDGE
    ),
    # Where the arguments and the texts are
    _bridge("arguments-done-only", arguments="done-only", by="lmstudio/glm-4.7-flash"),
    _bridge("arguments-item-only", arguments="item-only"),
    _bridge(
        "only-completed",
        *text("Let me look."),
        *_TURN,
        arguments="terminal-only",
        texts="terminal-only",
    ),
    _bridge("arguments-in-added", *_TWO, arguments="with-start"),
    _bridge("arguments-object", arguments="object"),
    _bridge("text-item-only", *_ANSWER, texts="item-only"),
    _recipe(
        "done-without-arguments",
        _said(
            *_TURN,
            edits=(
                swap(
                    b'"item_id": "fc_1", "arguments": "{\\"city\\": \\"Oslo\\"}"',
                    b'"item_id": "fc_1", "arguments": ""',
                ),
            ),
        ),
        by="lmstudio/glm-4.7-flash",
    ),
    _recipe(
        "item-with-empty-object",
        _said(
            *_TURN,
            edits=(
                swap(
                    b'"name": "get_weather", "arguments": "{\\"city\\": \\"Oslo\\"}"',
                    b'"name": "get_weather", "arguments": "{}"',
                ),
            ),
            arguments="done-only",
        ),
        by="lmstudio/glm-4.7-flash",
    ),
    _recipe(
        "done-differs",
        _said(
            *_TURN,
            edits=(
                swap(
                    b'"item_id": "fc_1", "arguments": "{\\"city\\": \\"Oslo\\"}"',
                    b'"item_id": "fc_1", "arguments": "{\\"city\\": \\"Rome\\"}"',
                ),
            ),
        ),
        by=_BRIDGE,
    ),
    # The terminal event and the envelope
    _bridge("output-null", *text("Let me look."), *_TURN, output="null"),
    _bridge("output-empty", *_TWO, output="empty", by="chatgpt-codex/gpt-5-mini"),
    _bridge("no-item-done", item_done=False),
    _recipe(
        "no-item-done-no-end",
        _said(*_TURN, item_done=False, edits=(end_before(b"response.completed"),)),
        by=_BRIDGE,
    ),
    _bridge("sequence-negative", sequence="negative"),
    _bridge("no-event-lines", *_ANSWER, event_lines=False, done=True, by="openrouter/gpt-5-mini"),
    _recipe(
        "unknown-events",
        _said(
            *_TURN,
            edits=(
                insert(1, event("response.moon_phase.updated", phase="waxing")),
                insert(-1, event("keepalive", sequence_number=9)),
            ),
        ),
        by=_BRIDGE,
    ),
    # The Realtime API
    _recipe(
        "realtime-call",
        _said(*text("Let me look."), *_TURN, api="realtime", edits=(insert(0, *REALTIME),)),
        by="openai/gpt-realtime",
    ),
    _recipe(
        "realtime-spoken",
        raw(
            *REALTIME,
            event("response.created", event_id="event_c", response=realtime("in_progress")),
            event(
                "response.output_item.added",
                event_id="event_d",
                output_index=0,
                item={"type": "message", "id": "item_1", "role": "assistant", "content": []},
            ),
            event(
                "response.output_audio_transcript.delta",
                event_id="event_e",
                item_id="item_1",
                output_index=0,
                content_index=0,
                delta="It is raining.",
            ),
            event(
                "response.done",
                event_id="event_f",
                response=realtime(
                    "cancelled",
                    status_details={"type": "cancelled", "reason": "turn_detected"},
                ),
            ),
        ),
        by="openai/gpt-realtime",
    ),
    _recipe(
        "realtime-translation",
        raw(
            event("session.created", event_id="event_a", session={"type": "translation"}),
            event("session.input_transcript.delta", event_id="event_b", delta="Good morning"),
            event("session.output_transcript.delta", event_id="event_c", delta="God "),
            event("session.output_transcript.delta", event_id="event_d", delta="morgen"),
            event("session.closed", event_id="event_e"),
        ),
        by="openai/gpt-realtime",
        tools=(),
    ),
)
