"""Build a request of the Responses API from a history.

Instructions are a separate member, and a list of items replaces messages. Reasoning items are sent
back with their id and their encrypted content, before the calls that followed them; the option
`include: [reasoning.encrypted_content]` requests that content. Items of calls and texts have no id:
the server would look up an item with an id, but it stores nothing, because each request contains
the complete history. Source: OpenAI API reference, "Create a model response", `input`.
"""

from collections.abc import Iterator
from typing import Final

from harness.dialects.kit import build_request as kit
from harness.dialects.kit.build_request import Json
from harness.turns.messages import Message


def build_request(spec: kit.RequestSpec) -> Json:
    """Return the body of a request of the Responses API."""
    instructions, messages = kit.split_instructions(spec.messages)
    body: Json = {"model": spec.model, "stream": True, "store": False}
    body |= {"instructions": instructions} if instructions else {}
    body |= {"input": [item for each in messages for item in _items(each, spec)]}
    return body | _tools(spec) | spec.other_options


def _items(message: Message, spec: kit.RequestSpec) -> Iterator[Json]:
    if message["role"] == "tool":
        answer = {"call_id": message["tool_call_id"], "output": kit.text_of(message)}
        yield {"type": "function_call_output", **answer}
    elif message["role"] == "assistant":
        yield from _model_items(message, spec)
    else:
        yield {"type": "message", "role": message["role"], "content": kit.text_of(message)}


def _model_items(message: Message, spec: kit.RequestSpec) -> Iterator[Json]:
    calls, text = message.get("tool_calls", ()), kit.text_of(message)
    sealed = kit.SealedParts(message, _SEALED)
    thought = None if sealed.has_reasoning else kit.reasoning_of(message, spec)
    if thought is not None:
        content = [{"type": "reasoning_text", "text": thought}]
        yield {"type": "reasoning", "summary": [], "content": content}
    yield from map(_reasoning_item, sealed.reasoning(0))
    if text.strip():
        content = [{"type": "output_text", "text": text}]
        yield {"type": "message", "role": "assistant", "content": content}
    for at, call in enumerate(calls, 1):
        yield {"type": "function_call", "call_id": call["id"], **call["function"]}
        yield from map(_reasoning_item, sealed.reasoning(at))


_SEALED: Final = frozenset(("reasoning",))


def _reasoning_item(sealed: Json) -> Json:
    text, item_id = sealed.get("text"), sealed.get("id")
    summary = [{"type": "summary_text", "text": text}] if text else []
    item = {"type": "reasoning", **({"id": item_id} if item_id else {}), "summary": summary}
    return item | {"encrypted_content": sealed["value"]}


def _tools(spec: kit.RequestSpec) -> Json:
    if not spec.tools:
        return {}
    # Strict declarations allow only some schemas.
    declared = kit.flat_declarations(spec.tools)["tools"]
    fields: Json = {"tools": [{**tool, "strict": False} for tool in declared]}
    if spec.required_tool:
        fields["tool_choice"] = {"type": "function", "name": spec.required_tool}
    return fields | ({"parallel_tool_calls": False} if spec.is_serial else {})


def _first_body(spec: kit.RequestSpec) -> Json:
    instructions, question = kit.question_of(spec)
    return {
        "model": spec.model,
        "stream": True,
        "instructions": instructions,
        "input": [{"role": "user", "content": question}],
        **kit.flat_declarations(spec.tools),
    }


def _create_event(spec: kit.RequestSpec) -> Json:
    """Return the event that asks for a response over WebSocket, which always streams."""
    body = {key: value for key, value in _first_body(spec).items() if key != "stream"}
    return {"type": "response.create", **body}


def _realtime_events(spec: kit.RequestSpec) -> Json:
    """Return the events of a Realtime session: its configuration, the question, the request."""
    instructions, question = kit.question_of(spec)
    session = {
        "type": "realtime",
        "output_modalities": ["text"],
        "instructions": instructions,
        **kit.flat_declarations(spec.tools),
    }
    content = [{"type": "input_text", "text": question}]
    item = {"type": "message", "role": "user", "content": content}
    return {
        "events": [
            {"type": "session.update", "session": session},
            {"type": "conversation.item.create", "item": item},
            {"type": "response.create"},
        ]
    }


REQUEST_FORMS: Final = {
    "": kit.RequestForm(
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
        _first_body,
        ("input",),
    ),
    "websocket": kit.RequestForm(
        {"openai": "wss://api.openai.com/v1/responses"}, _create_event, ("input",)
    ),
    "realtime": kit.RequestForm(
        {"openai": "wss://api.openai.com/v1/realtime?model={model}"}, _realtime_events, ("input",)
    ),
}
