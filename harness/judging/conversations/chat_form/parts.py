"""What blocks, parts and items of a message say, whatever an API calls them -> messages.

The model's parts are one message; of the user's, each result is one, and what stands between
results is one more.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, TypeAlias

import msgspec

from harness.judging.conversations.chat_form.form import FIELD_OF_REASONING, Json
from harness.judging.conversations.session import as_text


class Text(msgspec.Struct, frozen=True):
    """Visible text."""

    text: str


class Thought(msgspec.Struct, frozen=True):
    """Reasoning that goes back."""

    text: str


class Called(msgspec.Struct, frozen=True):
    """A call; `arguments` as JSON text, else they are none."""

    id: str
    name: Any
    arguments: Any


class Answered(msgspec.Struct, frozen=True):
    """The result of a call: a text or parts, else it is none."""

    id: Any
    content: Any


class Other(msgspec.Struct, frozen=True):
    """A picture, a file, a call that the provider ran itself."""

    raw: Json


class Sealed(msgspec.Struct, frozen=True):
    """Something that only the provider can read and wants back: a signature, a reasoning item."""

    kind: str


Part: TypeAlias = Text | Thought | Called | Answered | Other | Sealed


def of_the_model(parts: Iterable[Part]) -> Json:
    """Return the message of the assistant that `parts` make."""
    listed = tuple(parts)
    text = "".join(part.text for part in listed if isinstance(part, Text))
    thoughts = [part.text for part in listed if isinstance(part, Thought)]
    sealed = [_kind(part) for part in listed if isinstance(part, Sealed | Other)]
    calls = [_entry(part) for part in listed if isinstance(part, Called)]
    message: Json = {"role": "assistant", "content": text or None}
    message |= {FIELD_OF_REASONING: "".join(thoughts)} if thoughts else {}
    message |= {"sealed": sealed} if sealed else {}
    return message | ({"tool_calls": calls} if calls else {})


def of_the_user(parts: Iterable[Part], role: str = "user") -> Iterator[Json]:
    """Yield the messages that `parts` make, results as such."""
    listed = tuple(parts)
    if not listed:
        yield {"role": role, "content": ""}
    for is_result, group in groupby(listed, key=lambda part: isinstance(part, Answered)):
        if is_result:
            yield from map(_result, group)
        else:
            yield {"role": role, "content": _content(tuple(group))}


def object_text(value: object) -> str:
    """Return arguments as text; where an API wants an object, a text in its place is none."""
    text = as_text(value)
    return as_text(text) if isinstance(value, str) else text


def _kind(part: Sealed | Other) -> str:
    if isinstance(part, Sealed):
        return part.kind
    return str(part.raw.get("type") or next(iter(part.raw), "nothing"))


def _entry(call: Called) -> Json:
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function}


def _result(part: Part) -> Json:
    answered = part if isinstance(part, Answered) else Answered("", None)
    return {"role": "tool", "tool_call_id": answered.id, "content": answered.content}


def _content(parts: tuple[Part, ...]) -> str | list[Json]:
    """Return the text, or parts where there is more than text."""
    if any(isinstance(part, Other) for part in parts):
        return [
            {"type": "text", "text": part.text} if isinstance(part, Text) else part.raw
            for part in parts
            if isinstance(part, Text | Other)
        ]
    return "".join(part.text for part in parts if isinstance(part, Text))
