"""What every API is asked: a history in OpenAI's form, tools and options, to be spelled its way.

A speller gives the whole body. What an API has no field for is left out: it never invents what
the history does not hold, such as the signature of a thought.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeAlias

import msgspec

from harness.conversation.messages import Message
from harness.turns.tools import Tool

Json: TypeAlias = dict[str, Any]

_LEADING: Final = ("system", "developer")


class Asked(msgspec.Struct, frozen=True):
    """What one request asks.

    Fields:
        uri: where it goes; clouds name the model there.
        options: further fields of the body. `parallel_tool_calls` and `tool_choice` are in
            OpenAI's form, and each API spells them its own way.
        reasoning_field: the member of a message that holds reasoning which goes back.
    """

    model: str
    uri: str
    messages: tuple[Message, ...]
    tools: tuple[Tool, ...] = ()
    options: Mapping[str, Any] = msgspec.field(default_factory=dict)
    reasoning_field: str = ""

    @property
    def serial(self) -> bool:
        """Whether the model is told to make one call at a time."""
        return self.options.get("parallel_tool_calls") is False

    @property
    def wanted(self) -> str:
        """The tool that the model must call; "" where it may choose."""
        choice = self.options.get("tool_choice")
        function = choice.get("function") if isinstance(choice, dict) else None
        return str(function.get("name", "")) if isinstance(function, dict) else ""

    @property
    def others(self) -> Json:
        """The options that no API spells in another way."""
        spelled = ("parallel_tool_calls", "tool_choice")
        return {key: value for key, value in self.options.items() if key not in spelled}


Spell: TypeAlias = Callable[[Asked], Json]


def apart(messages: tuple[Message, ...]) -> tuple[str, tuple[Message, ...]]:
    """Return the instructions before the first question, and what follows them."""
    count = next(
        (at for at, each in enumerate(messages) if each["role"] not in _LEADING), len(messages)
    )
    return "\n\n".join(map(text_of, messages[:count])), messages[count:]


def text_of(message: Message) -> str:
    """Return the text of a message, its parts joined; "" where it has none."""
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return content or ""


def reasoning_of(message: Message, asked: Asked) -> str | None:
    """Return the reasoning that goes back with a message; None where none does.

    A provider that wants reasoning back wants it also where the model did not reason, and then
    it is "".
    """
    found = message.get(asked.reasoning_field) if asked.reasoning_field else None
    return found if isinstance(found, str) else None


def called_names(messages: Iterable[Message]) -> dict[str, str]:
    """Return the name of the tool for each id of a call, for APIs whose results name it."""
    return {
        call["id"]: call["function"]["name"]
        for message in messages
        for call in message.get("tool_calls", ())
    }


def schema_of(tool: Tool) -> Json:
    """Return the JSON Schema of a tool's arguments."""
    return tool.parameters or {"type": "object", "properties": {}}


def declaration(tool: Tool) -> Json:
    """Return a tool as OpenAI's chat API declares it."""
    function = {"name": tool.name, "description": tool.description, "parameters": schema_of(tool)}
    return {"type": "function", "function": function}


def object_of(text: str) -> Json:
    """Return the arguments of a call as the object that most APIs want."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # a number of more digits than Python reads, or no JSON
        return {"raw": text}
    return value if isinstance(value, dict) else {"raw": text}
