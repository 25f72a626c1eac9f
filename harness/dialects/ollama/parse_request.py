"""Parse a request of Ollama's API, and convert its messages to OpenAI's format.

Source: https://docs.ollama.com/api/chat and /api/generate
"""

from collections.abc import Iterator
from typing import Final

from harness.dialects.kit import parse_request as kit
from harness.dialects.kit.parse_request import Json
from harness.turns.json_values import as_dict, as_text, dicts, listed


def parse_request(uri: str, body: Json) -> kit.ChatRequest:  # noqa: ARG001 - other APIs name the model in the address
    """Return the content of the request `body` that was sent to `uri`."""
    functions = (item.get("function") for item in dicts(body.get("tools")))
    system = kit.system_text(body.get("messages"), frozenset(("system",)))
    return kit.ChatRequest(
        model=as_text(body.get("model")) or as_text(body.get("name")),
        tools=tuple(kit.declared_tool(as_dict(each)) for each in functions),
        system=system or as_text(body.get("system")),  # `system` of a generate request
        stream=body.get("stream") is not False,  # the default of this API is a stream
    )


def _messages(body: Json) -> Iterator[object]:
    """Return the messages with ids for Ollama's calls, whose results follow in the calls' order."""
    waiting: list[tuple[str, str]] = []  # id and name of calls without a result
    for place, message in enumerate(listed(body.get("messages"))):
        if not isinstance(message, dict):
            yield message
            continue
        calls = message.get("tool_calls")
        if isinstance(calls, list):
            entries = [_call_entry(call, f"{place}.{at}") for at, call in enumerate(calls)]
            waiting = [(call["id"], call["function"]["name"]) for call in entries]
            yield {**message, "content": message.get("content") or None, "tool_calls": entries}
        elif message.get("role") == "tool":
            name = message.get("tool_name")
            match = next((each for each in waiting if name in (each[1], None)), None)
            waiting = [each for each in waiting if each != match]
            yield {**message, "tool_call_id": match[0] if match else f"none for {name}"}
        else:
            yield message


def _call_entry(call: object, call_id: str) -> Json:
    function = as_dict(as_dict(call).get("function"))
    arguments = kit.object_arguments(function.get("arguments"))
    entry = {"name": function.get("name"), "arguments": arguments}
    return {"id": call_id, "type": "function", "function": entry}


MESSAGES: Final = kit.MessageForm(
    _messages, kit.chat_declarations, kit.CHAT_FIELDS, has_blocks=False
)
