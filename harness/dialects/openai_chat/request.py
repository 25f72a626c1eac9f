"""An openai-chat request body -> what the model was asked with: model, tools, system text.

The body is hostile and often not kept: whatever cannot be read is empty, and `tools_known`
says whether an empty list of tools means that none were sent. Never raises.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import msgspec

from harness.turns.tools import Tool
from harness.wire.payload import NotJson, decode_json

_SYSTEM_ROLES = frozenset({"system", "developer"})


class ChatRequest(msgspec.Struct, frozen=True):
    """What one request asked for.

    Fields:
        model: as sent; "" where it is not in the body.
        tools: in the order in which they were declared, legacy `functions` after `tools`.
        system: the text of all system and developer messages, joined by newlines.
        stream: whether a stream was asked for.
        tools_known: False where the body was not kept or is no JSON object.
    """

    model: str = ""
    tools: tuple[Tool, ...] = ()
    system: str = ""
    stream: bool = False
    tools_known: bool = False


_UNKNOWN = ChatRequest()
_REQUESTS_KEPT = 16


# The same request is read for each replay of its response, some forty times a cell.
@lru_cache(_REQUESTS_KEPT)
def read_request(body: bytes) -> ChatRequest:
    """Return what the request `body` says; all empty where it cannot be read."""
    try:
        value = decode_json(body)
    except NotJson:
        return _UNKNOWN
    if not isinstance(value, dict):
        return _UNKNOWN
    return ChatRequest(
        model=_text(value.get("model")),
        tools=tuple(_tools(value)),
        system="\n".join(_system_texts(value.get("messages"))),
        stream=value.get("stream") is True,
        tools_known=True,
    )


def _tools(value: dict[str, Any]) -> Iterator[Tool]:
    for item in _dicts(value.get("tools")):
        declared = item.get("function") or item.get("custom")
        if isinstance(declared, dict):
            yield _tool(declared)
    for declared in _dicts(value.get("functions")):
        yield _tool(declared)


def _tool(declared: dict[str, Any]) -> Tool:
    parameters = declared.get("parameters")
    return Tool(
        name=_text(declared.get("name")),
        description=_text(declared.get("description")),
        parameters=parameters if isinstance(parameters, dict) else {},
    )


def _system_texts(messages: object) -> Iterator[str]:
    for message in _dicts(messages):
        if _text(message.get("role")) in _SYSTEM_ROLES:
            content = message.get("content")
            parts = (_text(part.get("text")) for part in _dicts(content))
            yield content if isinstance(content, str) else "".join(parts)


def _dicts(value: object) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
