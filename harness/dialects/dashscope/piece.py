"""The payload of an ordinary event -> what it says, typed in its shape and not in most leaves.

Nearly all events of a stream are such: one choice with a message, text that is text, arguments
that are text. Decoding straight into this shape makes no object that no reader needs. Every
other event, and one that does not fit, is left to the reader of whole values.
Source: https://help.aliyun.com/zh/model-studio/qwen-api-reference (DashScope)
"""

from typing import Any

import msgspec

from harness.wire.payload import NEVER_DEEP_BYTES, may_be_deep


class Function(msgspec.Struct, frozen=True, gc=False):
    """The function of a call."""

    name: Any = None
    arguments: str | None = None


class Entry(msgspec.Struct, gc=False):
    """One entry of a `tool_calls` list."""

    index: Any = None
    id: Any = None
    type: Any = None
    function: Function = Function()


class Message(msgspec.Struct, gc=False):
    """What the model says."""

    content: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[Entry] | None = None


class Choice(msgspec.Struct, gc=False):
    """One of the answers."""

    message: Message
    index: Any = None
    finish_reason: Any = None


class Output(msgspec.Struct, gc=False):
    """The answers."""

    choices: list[Choice] = []


class Counts(msgspec.Struct, gc=False):
    """Tokens so far."""

    input_tokens: Any = None
    output_tokens: Any = None


class Piece(msgspec.Struct, gc=False):
    """One event; the fields from `code` on are those in which errors are told."""

    output: Output
    usage: Counts | None = None
    code: Any = None
    error: Any = None


_decode = msgspec.json.Decoder(Piece).decode


def piece_of(data: bytes) -> Piece | None:
    """Return the event that `data` is; None where it has not just that shape, or may be deep."""
    if len(data) > NEVER_DEEP_BYTES and may_be_deep(data):
        return None
    try:
        return _decode(data)
    except (ValueError, RecursionError):
        return None
