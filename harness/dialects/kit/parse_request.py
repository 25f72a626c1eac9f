"""Parse a request: model, tools, system text, and messages in the format of OpenAI's API.

A body is hostile and often incomplete in a recording. A value that cannot be read becomes empty,
and no body makes these functions raise. No code is shared with `build_request`, because agents send
the requests that it builds and are judged by what this module parses.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Any, Final, TypeAlias

import msgspec

from harness.turns.deltas import SealedPlace
from harness.turns.json_values import as_dict, as_text, dicts, listed, text_of
from harness.turns.turn import Tool

Json: TypeAlias = dict[str, Any]

# The member of a message with the reasoning that was sent back, whatever the API calls it.
REASONING_FIELD: Final = "reasoning_content"
SYSTEM_ROLES: Final = frozenset(("system", "developer"))


class ChatRequest(msgspec.Struct, frozen=True):
    """Holds the content of one request.

    Fields:
        model: as sent; "" if neither address nor body names it.
        tools: in the order of their declarations, without those that the provider executes.
        system: the text of all system and developer messages, joined by newlines.
        stream: whether the client requests a stream.
        calls_barred: `tool_choice` or its counterpart in the API forbids calls.
        tools_known: False if the body was not recorded or is not a JSON object.
    """

    model: str = ""
    tools: tuple[Tool, ...] = ()
    system: str = ""
    stream: bool = False
    tools_known: bool = True
    calls_barred: bool = False


UNKNOWN_REQUEST = ChatRequest(tools_known=False)


def bars_calls(body: Json) -> bool:
    """Return whether a request's body forbids calls, in the format of any API."""
    choice = body.get("tool_choice")
    if isinstance(choice, dict):  # Anthropic
        choice = choice.get("type")
    config = as_dict(as_dict(body.get("toolConfig")).get("functionCallingConfig"))  # Gemini
    return config.get("mode") == "NONE" or (isinstance(choice, str) and choice.lower() == "none")


def omits_tools(body: Json) -> bool:
    """Return whether the tools of a request without tools are unknown, instead of absent.

    Gemini's cached content contains the tools of the requests that name it, and a stored prompt of
    Responses contains tools, too. A log that keeps the messages only has null.
    """
    is_stored = bool(body.get("cachedContent")) or "id" in as_dict(body.get("prompt"))
    return is_stored or ("tools" in body and body["tools"] is None)


def tool(name: object, description: object, parameters: object) -> Tool:
    """Return a tool with these members of a request; a value of a wrong type becomes empty."""
    return Tool(as_text(name), as_text(description), as_dict(parameters))


def function_tools(declared: object) -> Iterator[Tool]:
    """Yield the tools of a list whose items have the declaration under the key `function`."""
    for item in dicts(declared):
        function = item.get("function")
        if isinstance(function, dict):
            yield declared_tool(function)


def declared_tool(declared: Json) -> Tool:
    """Return the tool of a declaration that has the keys of OpenAI's API."""
    return tool(declared.get("name"), declared.get("description"), declared.get("parameters"))


def system_text(
    messages: object, roles: frozenset[str] = SYSTEM_ROLES, *, instructions: str = ""
) -> str:
    """Return the system text: `instructions`, and the text of messages with one of `roles`.

    The parts are joined by newlines.
    """
    texts = [instructions] if instructions else []
    texts += [
        text_of(message.get("content"))
        for message in dicts(messages)
        if as_text(message.get("role")) in roles
    ]
    return "\n".join(texts)


_ESCAPES = re.compile("(?:%[0-9A-Fa-f]{2})+")


def path_of(uri: str) -> str:
    """Return `uri` without its query."""
    return uri.partition("?")[0]


def unescaped(text: str) -> str:
    """Return `text` with its percent escapes decoded."""
    return _ESCAPES.sub(_decode_escapes, text)


def _decode_escapes(escapes: re.Match[str]) -> str:
    return bytes.fromhex(escapes[0].replace("%", "")).decode("utf-8", "replace")


def json_text(value: object) -> str:
    """Return `value`, which was decoded from a request, as JSON text again."""
    return json.dumps(value, ensure_ascii=False)


class MessageForm(msgspec.Struct, frozen=True):
    """Describes where the requests of one API contain messages and tools.

    Fields:
        messages: a function that returns the messages of a body in OpenAI's format.
        declarations: a function that returns the declarations of tools in a body, each an object
            with a `name`.
        fields: the members of the body that contain messages or tools.
        has_blocks: content is a list of blocks. So a message with calls and without text has
            neither null nor `''` as content, and reasoning is a block.
    """

    messages: Callable[[Json], Iterable[object]]
    declarations: Callable[[Json], Iterable[object]]
    fields: frozenset[str]
    has_blocks: bool = True

    def messages_of(self, body: Json) -> tuple[object, ...]:
        """Return the messages of a request, of any type; () if it has none."""
        return tuple(self.messages(body))

    def tool_names(self, body: Json) -> tuple[str, ...] | None:
        """Return the names of the tools that a request declares; None if it declares none."""
        declared = self.declarations(body)
        return tuple(str(each.get("name")) for each in declared if isinstance(each, dict)) or None

    def options_of(self, body: Json) -> Json:
        """Return the members of a body that contain neither messages nor tools."""
        return {key: value for key, value in body.items() if key not in self.fields}


def chat_declarations(body: Json) -> Iterator[object]:
    """Yield the declarations in the member `tools` of OpenAI's API."""
    return (item.get("function", item) for item in dicts(body.get("tools")))


CHAT_FIELDS: Final = frozenset(("messages", "tools"))
CHAT_MESSAGES: Final = MessageForm(
    lambda body: listed(body.get("messages")), chat_declarations, CHAT_FIELDS, has_blocks=False
)


class TextPart(msgspec.Struct, frozen=True):
    """A part of a message that is visible text."""

    text: str


class ReasoningPart(msgspec.Struct, frozen=True):
    """A part of a message with reasoning that the client sends back."""

    text: str


class CallPart(msgspec.Struct, frozen=True):
    """A part of a message that is a call.

    `arguments` are JSON text, or a value of any type if they are invalid. `namespace` is the
    namespace of the tool; "" if it has none.
    """

    id: str
    name: Any
    arguments: Any
    namespace: str = ""


class ResultPart(msgspec.Struct, frozen=True):
    """A part of a message that is the result of a call.

    `content` is text or a list of parts, or a value of any type if it is invalid.
    """

    id: Any
    content: Any


class OtherPart(msgspec.Struct, frozen=True):
    """A part of a message of any other kind, such as an image or a file."""

    raw: Json


class SealedPart(msgspec.Struct, frozen=True, omit_defaults=True):
    """A part with data that only the provider can read and wants back, such as a signature.

    Fields:
        kind: the provider's name for the data.
        value: the data; "" if the part only refers to data that the provider stores.
        of: what the data belongs to: `reasoning`, `text` or `call`, which means the next part.
        id: the id of the item that contains the data.
    """

    kind: str
    value: str = ""
    of: SealedPlace = "reasoning"
    id: str = ""


Part: TypeAlias = TextPart | ReasoningPart | CallPart | ResultPart | OtherPart | SealedPart


def assistant_message(parts: Iterable[Part]) -> Json:
    """Return the assistant's message with these parts."""
    listed = tuple(parts)
    text = "".join(part.text for part in listed if isinstance(part, TextPart))
    thoughts = [part.text for part in listed if isinstance(part, ReasoningPart)]
    sealed = list(_sealed_entries(listed))
    calls = [_call_entry(part) for part in listed if isinstance(part, CallPart)]
    message: Json = {"role": "assistant", "content": text or None}
    message |= {REASONING_FIELD: "".join(thoughts)} if thoughts else {}
    message |= {"sealed": sealed} if sealed else {}
    return message | ({"tool_calls": calls} if calls else {})


def user_messages(parts: Iterable[Part], role: str = "user") -> Iterator[Json]:
    """Yield the messages with these parts; each result becomes a message of the role `tool`."""
    listed = tuple(parts)
    if not listed:
        yield {"role": role, "content": ""}
    for is_result, group in groupby(listed, key=lambda part: isinstance(part, ResultPart)):
        if is_result:
            yield from map(_result_message, group)
        else:
            yield {"role": role, "content": _content_of(tuple(group))}


def joined_messages(groups: Iterable[Iterable[object]]) -> Iterator[object]:
    """Yield the messages of all `groups`. Each group comes from one message of the request.

    The function marks results that follow results of the previous message as `apart`, because
    some APIs want all results of one turn in one message.
    """
    follows = False
    for group in groups:
        has_results = False
        for message in group:
            is_result = isinstance(message, dict) and message.get("role") == "tool"
            has_results = has_results or is_result
            if isinstance(message, dict) and is_result and follows:
                yield {**message, "apart": True}
            else:
                yield message
        follows = has_results


def object_arguments(value: object) -> str:
    """Return arguments as JSON text, for an API in which they must be an object.

    If they are text, the function quotes them twice, so that they are not valid arguments.
    """
    text = json_text(value)
    return json_text(text) if isinstance(value, str) else text


def _sealed_entries(parts: tuple[Part, ...]) -> Iterator[Json]:
    """Yield the data that only the provider can read, with the number of calls before it."""
    calls = 0
    for part in parts:
        calls += isinstance(part, CallPart)
        if isinstance(part, OtherPart):
            yield {"kind": str(part.raw.get("type") or next(iter(part.raw), "nothing"))}
        elif isinstance(part, SealedPart):
            yield msgspec.to_builtins(part) | ({"call": calls} if calls else {})


def _call_entry(call: CallPart) -> Json:
    function = {"name": call.name, "arguments": call.arguments}
    function |= {"namespace": call.namespace} if call.namespace else {}
    return {"id": call.id, "type": "function", "function": function}


def _result_message(part: Part) -> Json:
    answered = part if isinstance(part, ResultPart) else ResultPart("", None)
    return {"role": "tool", "tool_call_id": answered.id, "content": answered.content}


def _content_of(parts: tuple[Part, ...]) -> str | list[Json]:
    """Return the text, or a list of parts if there are parts other than text."""
    if any(isinstance(part, OtherPart) for part in parts):
        return [
            {"type": "text", "text": part.text} if isinstance(part, TextPart) else part.raw
            for part in parts
            if isinstance(part, TextPart | OtherPart)
        ]
    return "".join(part.text for part in parts if isinstance(part, TextPart))
