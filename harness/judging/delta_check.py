"""What a normalizer yielded -> the same, or a DeltaError that says what is wrong with it.

Annotations do not bind a foreign normalizer: a None for an id or a plain string for a finish
reason would pass through a run unnoticed, and make a file that nobody can read again.
"""

from collections.abc import Callable
from types import NoneType
from typing import Any

import msgspec

from harness.turns.calls import ParseError
from harness.turns.deltas import (
    ArgumentsDelta,
    Finish,
    FinishReason,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    Usage,
    UsageDelta,
)

_MODES = ("tool_use", "json_fallback")
_COUNT = (int, NoneType)


class DeltaError(Exception):
    """A normalizer yielded something that is no delta."""

    def __init__(self, delta: object) -> None:
        super().__init__(_told(delta))


# Type -> whether its fields are of the declared types, exactly, as the files of a run need them.
# The caller looks a delta up and asks, since this is done for every delta of every replay.
IS_SOUND: dict[type, Callable[[Any], bool]] = {
    TextDelta: lambda d: type(d.text) is str,
    ReasoningDelta: lambda d: type(d.text) is str,
    ArgumentsDelta: lambda d: type(d.index) is int and type(d.fragment) is str,
    ToolCallStart: lambda d: type(d.index) is int and type(d.id) is type(d.name) is str,
    ToolCallEnd: lambda d: type(d.index) is int,
    ToolCallRejected: lambda d: type(d.index) is int and _is_parse_error(d.error),
    UsageDelta: lambda d: _is_usage(d.usage),
    Finish: lambda d: type(d.reason) is FinishReason and type(d.raw) is str,
    StreamFailure: lambda d: type(d.code) is type(d.message) is str,
}


def _is_parse_error(error: object) -> bool:
    if type(error) is not ParseError or error.mode not in _MODES:
        return False
    return all(type(text) is str for text in (error.error, error.snippet, error.id, error.name))


def _is_usage(usage: object) -> bool:
    if type(usage) is not Usage:
        return False
    return type(usage.input_tokens) in _COUNT and type(usage.output_tokens) in _COUNT


def _told(delta: object) -> str:
    kind = type(delta)
    if kind not in IS_SOUND or not isinstance(delta, msgspec.Struct):
        return f"expected a delta of harness.turns.deltas, found {kind.__name__}"
    fields = ", ".join(
        f"{name}: {type(value).__name__}" for name, value in msgspec.structs.asdict(delta).items()
    )
    return f"a field of the wrong type in {kind.__name__}({fields})"
