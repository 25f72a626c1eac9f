"""Ollama takes arguments as objects, and names the tool in its result; calls have no ids.

Source: Ollama's API reference, `POST /api/chat`.
"""

from collections.abc import Mapping

from harness.conversation.asking.asked import Asked, Json, called_names, object_of
from harness.conversation.asking.chat import openai_chat
from harness.conversation.messages import Message


def ollama(asked: Asked) -> Json:
    """Return the body for Ollama's chat API."""
    names = called_names(asked.messages)
    return openai_chat(asked) | {"messages": [_message(each, names) for each in asked.messages]}


def _message(message: Message, names: Mapping[str, str]) -> Message:
    if message["role"] == "tool":
        name = names.get(message["tool_call_id"], "")
        return {"role": "tool", "tool_name": name, "content": message["content"]}
    spelled = message | {"content": message["content"] or ""}
    if "tool_calls" in message:
        spelled["tool_calls"] = [_call(call["function"]) for call in message["tool_calls"]]
    return spelled


def _call(function: Json) -> Json:
    return {"function": {**function, "arguments": object_of(function["arguments"])}}
