"""A request of DashScope's native API -> what the model was asked with.

Messages stand under `input`, tools under `parameters`; a stream is asked for by a header that
is no part of the body, so only `incremental_output` and the address's own habit tell it here.
The body is hostile and often not kept: whatever cannot be read is empty. Never raises.
Source: https://help.aliyun.com/zh/model-studio/qwen-api-reference (DashScope)
"""

from collections.abc import Iterator
from typing import Any

from harness.dialects.kit.parse_request import ChatRequest, as_text, dicts, text_of, tool
from harness.turns.turn import Tool


def parse_request(uri: str, value: dict[str, Any]) -> ChatRequest:  # noqa: ARG001 - other dialects name the model in the address
    """Return what the request body `value`, sent to `uri`, asks for."""
    parameters = _members(value, "parameters")
    asked = _members(value, "input")
    return ChatRequest(
        model=as_text(value.get("model")),
        tools=tuple(_tools(parameters.get("tools"))),
        system="\n".join(_system_texts(asked.get("messages"))),
        stream=value.get("stream") is True or parameters.get("incremental_output") is True,
        tools_known=True,
    )


def _members(value: dict[str, Any], key: str) -> dict[str, Any]:
    found = value.get(key)
    return found if isinstance(found, dict) else {}


def _tools(tools: object) -> Iterator[Tool]:
    for item in dicts(tools):
        declared = item.get("function")
        if isinstance(declared, dict):
            parameters = declared.get("parameters")
            yield tool(declared.get("name"), declared.get("description"), parameters)


def _system_texts(messages: object) -> Iterator[str]:
    for message in dicts(messages):
        if message.get("role") == "system":
            yield text_of(message.get("content"))
