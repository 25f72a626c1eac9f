"""Deltas of a recipe -> deltas, and options of a writer -> what the writer takes."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from harness.dialects.table import DIALECTS
from harness.emulation.recipe import (
    ArgumentsEntry,
    CallEntry,
    DeltaEntry,
    FailureEntry,
    FinishEntry,
    SizedText,
    UsageEntry,
)
from harness.errors import UsageError
from harness.files.names import did_you_mean
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
)

PIECES = 3
_REASONS = {reason.value: reason for reason in FinishReason}


def iter_deltas(entries: Iterable[DeltaEntry]) -> Iterator[Delta]:
    """Yield the deltas that `entries` describe; each entry has exactly one key."""
    calls = 0
    for entry in entries:
        if isinstance(entry.value, CallEntry):
            yield from _call(entry.value, calls, ended=entry.keys == ("call",))
            calls += 1
        else:
            yield from _DELTAS[entry.keys[0]](entry.value)


def _texts(entry: str | tuple[str, ...] | SizedText) -> Iterator[Delta]:
    return map(TextDelta, _pieces(entry))


def _reasoning(entry: str | tuple[str, ...] | SizedText) -> Iterator[Delta]:
    return map(ReasoningDelta, _pieces(entry))


def _arguments(entry: ArgumentsEntry) -> Iterator[Delta]:
    yield ArgumentsDelta(entry.index, entry.text)


def _end(index: int) -> Iterator[Delta]:
    yield ToolCallEnd(index)


def _finish(entry: str | FinishEntry) -> Iterator[Delta]:
    if isinstance(entry, FinishEntry):
        yield Finish(entry.reason, entry.raw)
    else:
        yield Finish(_REASONS.get(entry, FinishReason.OTHER), entry)


def _usage(entry: tuple[int, int] | UsageEntry) -> Iterator[Delta]:
    counts = entry if isinstance(entry, tuple) else (entry.input_tokens, entry.output_tokens)
    yield UsageDelta(Usage(*counts))


def _failure(entry: FailureEntry) -> Iterator[Delta]:
    yield StreamFailure(entry.code, entry.message)


_DELTAS: dict[str, Callable[[Any], Iterator[Delta]]] = {
    "text": _texts,
    "reasoning": _reasoning,
    "arguments": _arguments,
    "call_end": _end,
    "finish": _finish,
    "usage": _usage,
    "failure": _failure,
}


def _pieces(entry: str | tuple[str, ...] | SizedText) -> tuple[str, ...]:
    if isinstance(entry, SizedText):
        return tuple(_in_pieces(entry.text, entry.size))
    return (entry,) if isinstance(entry, str) else entry


def _call(call: CallEntry, before: int, *, ended: bool) -> Iterator[Delta]:
    index = before if call.index is None else call.index
    call_id = f"call_{index + 1}" if call.id is None else call.id
    yield ToolCallStart(index, call_id, call.name, call.kind)
    if isinstance(call.arguments, str):
        yield from arguments_deltas(call.arguments, index, call.pieces)
    else:
        yield from (ArgumentsDelta(index, piece) for piece in call.arguments)
    if ended:
        yield ToolCallEnd(index)


def arguments_deltas(arguments: str, index: int, pieces: int = PIECES) -> Iterator[Delta]:
    """Yield `arguments` in `pieces` fragments of nearly equal length."""
    size = max(1, -(-len(arguments) // pieces))
    return (ArgumentsDelta(index, piece) for piece in _in_pieces(arguments, size))


def _in_pieces(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def writer_options(
    dialect: str, options: Mapping[str, Any], model: str, where: str, *, from_text: bool = False
) -> Any:  # noqa: ANN401 - of any dialect
    """Return what the writer of `dialect` takes: its options with those in `options` set.

    Args:
        dialect: a name of the table.
        options: name -> value; others keep the value of the API's contract.
        model: as the stream names it, unless an option says otherwise.
        where: the file and key, or the command-line option.
        from_text: whether values are text of a command line, to be converted.

    Raises:
        UsageError: no such option, or it has no such value.
    """
    kind = DIALECTS[dialect].writer_options
    hints = get_type_hints(kind)
    for name in options:
        if name not in hints:
            hint = did_you_mean(name, tuple(hints), "options")
            what = f"the writer of {dialect} has no option {name!r}"
            raise UsageError(what, where=where, hint=hint)
    try:
        return msgspec.convert({"model": model, **options}, kind, strict=not from_text)
    except msgspec.ValidationError as error:
        name = str(error).rpartition("$.")[2].strip("`")
        expected = f"Expected {_values(hints.get(name))}"
        found = f"{name} cannot be {options.get(name)!r}"
        raise UsageError(found, where=where, hint=expected) from None


def _values(hint: object) -> str:
    if get_origin(hint) is Literal:
        return ", ".join(map(str, get_args(hint)))
    return {bool: "true or false", str: "text"}.get(hint, "a whole number")  # type: ignore[call-overload, no-any-return]
