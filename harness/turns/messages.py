"""Build and read messages in the format of OpenAI's chat API, which all agents of the suite use.

A message is a plain JSON object, because providers add their own fields and the history must
preserve them. Source: the API reference of Chat Completions, `messages`.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final, TypeAlias

from harness.turns.deltas import ToolCall

Message: TypeAlias = dict[str, Any]


def system(text: str) -> Message:
    """Return a system message."""
    return {"role": "system", "content": text}


def user(text: str) -> Message:
    """Return a user message."""
    return {"role": "user", "content": text}


def assistant(text: str | None, calls: Iterable[ToolCall] = ()) -> Message:
    """Return a message of the model. Without calls, it has no key `tool_calls`."""
    message: Message = {"role": "assistant", "content": text}
    entries = [call_entry(call) for call in calls]
    return message | ({"tool_calls": entries} if entries else {})


def call_entry(call: ToolCall) -> dict[str, Any]:
    """Return a call as an item of the list `tool_calls`, with `{}` for empty arguments."""
    function = {"name": call.name, "arguments": call.arguments or "{}"}
    function |= {"namespace": call.namespace} if call.namespace else {}
    return {"id": call.id, "type": "function", "function": function}


def tool_result(call_id: str, content: str) -> Message:
    """Return the message with the result of one call."""
    return {"role": "tool", "tool_call_id": call_id, "content": content}


# The member of an assistant's message with what only the provider can read: a list of objects with
# the fields of `Sealed`, their calls counted within the message. No API has it in this form.
SEALED: Final = "sealed"


def sealed_of(message: Message) -> list[dict[str, Any]]:
    """Return the data in a message that only the provider can read, as dicts; [] if none."""
    found = message.get(SEALED)
    return found if isinstance(found, list) else []


# Parsed requests: a message may be any JSON value, because a client under test sent it.


def text_of(message: object) -> str:
    """Return the text of a message, with all its text parts joined; "" if it has none."""
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def role_of(message: object) -> str:
    """Return the role of a message; "" if it has none."""
    role = message.get("role") if isinstance(message, dict) else None
    return role if isinstance(role, str) else ""


def namespaces_of(message: object) -> dict[str, str]:
    """Return the id of each call of a message -> its namespace as text; "" if it has none."""
    calls = message.get("tool_calls") if isinstance(message, dict) else None
    entries = [
        call for call in (calls if isinstance(calls, list) else ()) if isinstance(call, dict)
    ]
    functions = ((str(it.get("id") or ""), it.get("function")) for it in entries)
    return {
        call_id: str(function.get("namespace") or "")
        for call_id, function in functions
        if isinstance(function, dict)
    }


def calls_of(message: object) -> Iterator[tuple[str, str, str]]:
    """Yield id, name and arguments of each call of a message as text; "" for a missing one."""
    calls = message.get("tool_calls") if isinstance(message, dict) else None
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            yield (
                str(call.get("id") or ""),
                str(function.get("name") or ""),
                str(function.get("arguments") or ""),
            )
