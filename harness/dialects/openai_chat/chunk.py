"""Decode the payload of one event into a chunk, with a typed structure and untyped leaves.

Decoding straight into this struct skips the fields that no reader needs, which halves the
time of the slowest part of reading. A payload of another structure (`choices` that is an object,
a `delta` that is a string) is decoded again without types, and the members that fit are used. So
one unexpected member does not make the whole event unreadable. No chunk can be part of a reference
cycle, so the garbage collector does not track chunks.
Source: OpenAI API reference, "The chat completion chunk object".
"""

from typing import Any

import msgspec
from msgspec import UNSET

from harness.dialects.kit.piece import piece_decoder
from harness.turns.exact_json import write_exactly


class Function(msgspec.Struct, gc=False):
    """The member `function` of a call. A missing name is UNSET, which differs from null.

    A custom tool has `input`, free text, instead of `arguments`.
    """

    name: Any = UNSET
    arguments: str | None = None
    input: str | None = None


class Entry(msgspec.Struct, gc=False):
    """One item of a `tool_calls` list, which adds to one call.

    If a server leaves `function` out, `name` and `arguments` are here. `custom` is the call of a
    custom tool.
    """

    index: Any = None
    id: Any = UNSET
    type: Any = None
    function: Function | None = None
    name: Any = None
    arguments: str | None = None
    custom: Function | None = None


class ChoiceDelta(msgspec.Struct, gc=False):
    """The member `delta` or `message` of a choice: text, reasoning and calls."""

    content: Any = None
    tool_calls: list[Entry] | None = None
    reasoning_content: Any = None
    reasoning: Any = None
    refusal: Any = None
    function_call: Function | None = None
    additional_kwargs: Any = None


class Choice(msgspec.Struct, gc=False):
    """One of the alternative answers, with what a chunk adds to it."""

    index: Any = None
    delta: ChoiceDelta | None = None
    message: ChoiceDelta | None = None
    finish_reason: Any = None
    error: Any = None
    usage: Any = None


class Chunk(msgspec.Struct, gc=False):
    """One event of a chat completion. Servers report failures in the fields from `error` on."""

    id: Any = None
    choices: list[Choice] | None = None
    usage: Any = None
    x_groq: Any = None
    error: Any = None
    error_type: Any = None
    error_message: Any = None
    code: Any = None
    message: Any = None
    object: Any = None
    type: Any = None


decode_plain = piece_decoder(Chunk)


def chunk_of(value: dict[str, Any]) -> Chunk:
    """Return a chunk with those members of a decoded object that have the expected type."""
    fields = _plain(value, Chunk)
    choices = fields.get("choices")
    listed = choices if isinstance(choices, list) else []
    fields["choices"] = [_choice(choice) for choice in listed if isinstance(choice, dict)]
    return Chunk(**fields)


def entries_of(value: object) -> list[Entry]:
    """Return the items of a `tool_calls` value, which is a list, or one item alone."""
    entries = value if isinstance(value, list) else [value]
    return [_entry(entry) for entry in entries if isinstance(entry, dict)]


def _choice(value: dict[str, Any]) -> Choice:
    fields = _plain(value, Choice)
    for name in ("delta", "message"):
        delta = fields.get(name)
        fields[name] = _delta(delta) if isinstance(delta, dict) else None
    return Choice(**fields)


def _delta(value: dict[str, Any]) -> ChoiceDelta:
    fields = _plain(value, ChoiceDelta)
    entries = fields.get("tool_calls")
    fields["tool_calls"] = entries_of(entries) if entries else None
    fields["function_call"] = _function(fields.get("function_call"))
    return ChoiceDelta(**fields)


def _entry(value: dict[str, Any]) -> Entry:
    fields = _plain(value, Entry)
    fields["function"] = _function(fields.get("function"))
    fields["custom"] = _function(fields.get("custom"))
    fields["arguments"] = _text_or_none(fields.get("arguments"))
    return Entry(**fields)


def _function(value: object) -> Function | None:
    if not isinstance(value, dict):
        return None
    fields = _plain(value, Function)
    fields["arguments"] = _text_or_none(fields.get("arguments"))
    fields["input"] = _text_or_none(fields.get("input"))
    return Function(**fields)


def _text_or_none(value: object) -> str | None:
    return value if value is None or isinstance(value, str) else write_exactly(value)


def _plain(value: dict[str, Any], shape: type[msgspec.Struct]) -> dict[str, Any]:
    return {name: value[name] for name in shape.__struct_fields__ if name in value}
