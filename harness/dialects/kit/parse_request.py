"""What a request asks of a model, whatever the API: model, tools, system text."""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from harness.turns.turn import Tool


class ChatRequest(msgspec.Struct, frozen=True):
    """What one request asked for.

    Fields:
        model: as sent; "" where neither address nor body names it.
        tools: in the order in which they were declared; those that the provider runs itself
            are none of them.
        system: the text of all system and developer messages, joined by newlines.
        stream: whether a stream was asked for.
        calls_barred: `tool_choice` or what the API has for it says that no tool may be called.
        tools_known: False where the body was not kept or is no JSON object.
    """

    model: str = ""
    tools: tuple[Tool, ...] = ()
    system: str = ""
    stream: bool = False
    tools_known: bool = False
    calls_barred: bool = False


UNKNOWN_REQUEST = ChatRequest()


def bars_calls(body: dict[str, Any]) -> bool:
    """Return whether a request's body forbids calls, in the words of any of the APIs."""
    choice = body.get("tool_choice")
    if isinstance(choice, dict):  # Anthropic
        choice = choice.get("type")
    config = body.get("toolConfig")  # Gemini
    mode = config.get("functionCallingConfig") if isinstance(config, dict) else None
    barred = isinstance(mode, dict) and mode.get("mode") == "NONE"
    return barred or (isinstance(choice, str) and choice.lower() == "none")


def tool(name: object, description: object, parameters: object) -> Tool:
    """Return the tool that these members of a request declare, whatever their types."""
    schema = parameters if isinstance(parameters, dict) else {}
    return Tool(as_text(name), as_text(description), schema)


def dicts(value: object) -> Iterator[dict[str, Any]]:
    """Yield the objects among the items of `value`, if it is a list."""
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def as_text(value: object) -> str:
    """Return `value` if it is text, else ""."""
    return value if isinstance(value, str) else ""


def text_of(content: object) -> str:
    """Return the text of `content`: text itself, or a list of parts that have some."""
    if isinstance(content, str):
        return content
    return "".join(as_text(part.get("text")) for part in dicts(content))


_ESCAPES = re.compile("(?:%[0-9A-Fa-f]{2})+")


def path_of(uri: str) -> str:
    """Return `uri` without its query."""
    return uri.partition("?")[0]


def unescaped(text: str) -> str:
    """Return `text` with its escapes as what they stand for."""
    return _ESCAPES.sub(_decode_escapes, text)


def _decode_escapes(escapes: re.Match[str]) -> str:
    return bytes.fromhex(escapes[0].replace("%", "")).decode("utf-8", "replace")
