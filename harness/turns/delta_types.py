"""Check that an object from a client is a delta, and that its fields have the declared types."""

from collections.abc import Callable
from types import NoneType
from typing import Any, Final, get_args

from harness.turns.deltas import (
    ArgumentsDelta,
    CallKind,
    Finish,
    FinishReason,
    Mode,
    ParseError,
    ReasoningDelta,
    SealedDelta,
    SealedPlace,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    Usage,
    UsageDelta,
)

_MODES: Final = get_args(Mode)
_KINDS: Final = get_args(CallKind)
_SEALED_PLACES: Final = get_args(SealedPlace)
_COUNT: Final = (int, NoneType)


def has_declared_types(delta: object) -> bool:
    """Return whether `delta` is one of the delta classes and each field has exactly its type."""
    check = _CHECKS.get(type(delta))
    return check is not None and check(delta)


def _has_parse_error(delta: ToolCallRejected) -> bool:
    error = delta.error
    if type(delta.index) is not int or type(error) is not ParseError:
        return False
    texts = (error.error, error.snippet, error.id, error.name)
    return _is_in(error.mode, _MODES) and all(type(text) is str for text in texts)


def _is_in(value: object, values: tuple[str, ...]) -> bool:
    """Return whether `value` is a plain `str` in `values`, and not an object equal to all."""
    return type(value) is str and value in values


def _has_usage(delta: UsageDelta) -> bool:
    usage = delta.usage
    if type(usage) is not Usage:
        return False
    return type(usage.input_tokens) in _COUNT and type(usage.output_tokens) in _COUNT


def _has_start(delta: ToolCallStart) -> bool:
    is_typed = type(delta.index) is int and type(delta.id) is type(delta.name) is str
    return is_typed and _is_in(delta.kind, _KINDS)


def _has_sealed(delta: SealedDelta) -> bool:
    is_text = type(delta.kind) is type(delta.value) is type(delta.id) is str
    return is_text and _is_in(delta.of, _SEALED_PLACES) and type(delta.index) is int


# A table instead of a `match`, because this is done for every delta of every replay; a test
# checks that it contains each kind of delta.
_CHECKS: Final[dict[type, Callable[[Any], bool]]] = {
    ArgumentsDelta: lambda it: type(it.fragment) is str and type(it.index) is int,
    TextDelta: lambda it: type(it.text) is str,
    ReasoningDelta: lambda it: type(it.text) is str,
    SealedDelta: _has_sealed,
    ToolCallStart: _has_start,
    ToolCallEnd: lambda it: type(it.index) is int and type(it.sent) is str,
    ToolCallRejected: _has_parse_error,
    UsageDelta: _has_usage,
    Finish: lambda it: type(it.reason) is FinishReason and type(it.raw) is str,
    StreamFailure: lambda it: type(it.code) is type(it.message) is str,
}
