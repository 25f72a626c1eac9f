"""Messages of a conversation, in the form of OpenAI's chat API, which all agents here share.

A message is a plain JSON object, since providers add fields of their own and history must
keep them. Source: the API reference of Chat Completions, `messages`.
"""

from collections.abc import Iterable
from typing import Any, TypeAlias

from harness.turns.deltas import ToolCall

Message: TypeAlias = dict[str, Any]


def system(text: str) -> Message:
    """Return a system message."""
    return {"role": "system", "content": text}


def user(text: str) -> Message:
    """Return a user message."""
    return {"role": "user", "content": text}


def assistant(text: str | None, calls: Iterable[ToolCall] = ()) -> Message:
    """Return what the model said in one turn; without calls it has no key for them."""
    message: Message = {"role": "assistant", "content": text}
    entries = [call_entry(call) for call in calls]
    return message | ({"tool_calls": entries} if entries else {})


def call_entry(call: ToolCall) -> dict[str, Any]:
    """Return a call as an item of `tool_calls`; arguments that nobody gave are `{}`."""
    function = {"name": call.name, "arguments": call.arguments or "{}"}
    return {"id": call.id, "type": "function", "function": function}


def tool_result(call_id: str, content: str) -> Message:
    """Return the answer to one call."""
    return {"role": "tool", "tool_call_id": call_id, "content": content}
