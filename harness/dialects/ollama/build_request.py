"""Ollama takes arguments as objects, and names the tool in its result; calls have no ids.

Source: Ollama's API reference, `POST /api/chat`.
"""

from collections.abc import Mapping
from typing import Final

from harness.dialects.kit.build_request import (
    Json,
    RequestForm,
    RequestSpec,
    arguments_object,
    chat_body,
    names_by_call_id,
    question_of,
)
from harness.turns.messages import Message


def build_request(asked: RequestSpec) -> Json:
    """Return the body for Ollama's chat API."""
    names = names_by_call_id(asked.messages)
    return chat_body(asked) | {"messages": [_message(each, names) for each in asked.messages]}


def _message(message: Message, names: Mapping[str, str]) -> Message:
    if message["role"] == "tool":
        name = names.get(message["tool_call_id"], "")
        return {"role": "tool", "tool_name": name, "content": message["content"]}
    spelled = message | {"content": message["content"] or ""}
    if "tool_calls" in message:
        spelled["tool_calls"] = [_call(call["function"]) for call in message["tool_calls"]]
    return spelled


def _call(function: Json) -> Json:
    return {"function": {**function, "arguments": arguments_object(function["arguments"])}}


def _generate(asked: RequestSpec) -> Json:
    """Return the body for `/api/generate`, which has no messages and no tools."""
    instructions, question = question_of(asked)
    return {"model": asked.model, "stream": True, "system": instructions, "prompt": question}


REQUEST_FORMS: Final = {
    "": RequestForm({"ollama": "http://localhost:11434/api/chat"}, build_request),
    "generate": RequestForm({"ollama": "http://localhost:11434/api/generate"}, _generate, ()),
}
