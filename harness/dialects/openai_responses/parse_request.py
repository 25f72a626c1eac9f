"""A request of the Responses API -> what the model was asked with: model, tools, system text.

The body is hostile and often not kept: whatever cannot be read is empty. Never raises.
Source: OpenAI API reference, "Create a model response"; "Realtime client events" for the
`session` that stands around the same fields.
"""

from collections.abc import Iterator
from typing import Any

from harness.dialects.kit.parse_request import ChatRequest, as_text, dicts, text_of, tool
from harness.turns.turn import Tool

_SYSTEM_ROLES = frozenset({"system", "developer"})
_CALLED_BY_NAME = ("function", "custom")


def parse_request(uri: str, value: dict[str, Any]) -> ChatRequest:
    """Return what the request body `value`, sent to `uri`, asks for."""
    session = value.get("session")
    holder = session if isinstance(session, dict) else value
    return ChatRequest(
        model=as_text(holder.get("model")) or _model_of(uri),
        tools=tuple(_tools(holder.get("tools"))),
        system="\n".join(_system_texts(holder)),
        stream=value.get("stream") is True or holder is session,
        tools_known=True,
    )


def _model_of(uri: str) -> str:
    """Return the model that the query names, as the address of a Realtime session does."""
    fields = (field.partition("=") for field in uri.partition("?")[2].split("&"))
    return next((value for name, _, value in fields if name == "model"), "")


def _tools(declared: object) -> Iterator[Tool]:
    """Yield the tools that are called by a name, also those inside of a namespace."""
    for item in dicts(declared):
        if item.get("type") == "namespace":
            yield from map(_tool, dicts(item.get("tools")))
        elif item.get("type") in _CALLED_BY_NAME:
            yield _tool(item)


def _tool(item: dict[str, Any]) -> Tool:
    nested = item.get("function")  # as the chat API has it, which some servers take too
    item = nested if isinstance(nested, dict) else item
    return tool(item.get("name"), item.get("description"), item.get("parameters"))


def _system_texts(holder: dict[str, Any]) -> Iterator[str]:
    if instructions := as_text(holder.get("instructions")):
        yield instructions
    for message in dicts(holder.get("input")):
        if as_text(message.get("role")) in _SYSTEM_ROLES:
            yield text_of(message.get("content"))
