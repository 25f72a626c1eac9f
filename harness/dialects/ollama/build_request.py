"""Build a request of Ollama's API from a history.

Arguments are objects, a result names its tool, and calls have no ids.
Source: Ollama's API reference, `POST /api/chat`.
"""

from collections.abc import Mapping
from typing import Final

from harness.dialects.kit import build_request as kit
from harness.dialects.kit.build_request import Json
from harness.turns.messages import Message


def build_request(spec: kit.RequestSpec) -> Json:
    """Return the body of a request of Ollama's chat API."""
    names = kit.names_by_call_id(spec.messages)
    return kit.chat_body(spec) | {
        "messages": [_message(each, names) for each in kit.chat_messages(spec)]
    }


def _message(message: Message, names: Mapping[str, str]) -> Message:
    if message["role"] == "tool":
        name = names.get(message["tool_call_id"], "")
        return {"role": "tool", "tool_name": name, "content": message["content"]}
    entry = message | {"content": message.get("content") or ""}
    if "tool_calls" in message:
        entry["tool_calls"] = [_call(call["function"]) for call in message["tool_calls"]]
    return entry


def _call(function: Json) -> Json:
    return {"function": {**function, "arguments": kit.arguments_object(function["arguments"])}}


def _generate(spec: kit.RequestSpec) -> Json:
    """Return the body for `/api/generate`, which has no messages and no tools."""
    instructions, question = kit.question_of(spec)
    return {"model": spec.model, "stream": True, "system": instructions, "prompt": question}


REQUEST_FORMS: Final = {
    "": kit.RequestForm({"ollama": "http://localhost:11434/api/chat"}, build_request),
    "generate": kit.RequestForm({"ollama": "http://localhost:11434/api/generate"}, _generate, ()),
}
