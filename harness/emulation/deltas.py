"""Convert the deltas of a recipe to `Delta` objects, and its options to options of a writer."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from harness.dialects.table import DIALECTS
from harness.emulation.recipe import (
    CallEntry,
    DeltaEntry,
    FinishEntry,
    SizedText,
    UsageEntry,
)
from harness.errors import UsageError
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    SealedDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.wording import did_you_mean

_REASONS = {reason.value: reason for reason in FinishReason}


def iter_deltas(entries: Iterable[DeltaEntry]) -> Iterator[Delta]:
    """Yield the deltas that the items of a recipe describe; each item has exactly one key."""
    calls = 0
    for entry in entries:
        if isinstance(entry.value, CallEntry):
            yield from _call(entry.value, calls, ended=entry.keys == ("call",))
            calls += 1
        else:
            yield from _DELTAS[entry.keys[0]](entry.value)


def _finish(entry: str | FinishEntry) -> Iterator[Delta]:
    if isinstance(entry, FinishEntry):
        yield Finish(entry.reason, entry.raw)
    else:
        yield Finish(_REASONS.get(entry, FinishReason.OTHER), entry)


def _usage(entry: tuple[int, int] | UsageEntry) -> Iterator[Delta]:
    counts = entry if isinstance(entry, tuple) else (entry.input_tokens, entry.output_tokens)
    yield UsageDelta(Usage(*counts))


_DELTAS: dict[str, Callable[[Any], Iterable[Delta]]] = {
    "text": lambda entry: map(TextDelta, _pieces(entry)),
    "reasoning": lambda entry: map(ReasoningDelta, _pieces(entry)),
    "sealed": lambda entry: [SealedDelta(entry.kind, entry.value, entry.of, entry.index)],
    "arguments": lambda entry: [ArgumentsDelta(entry.index, entry.text)],
    "call_end": lambda index: [ToolCallEnd(index)],
    "finish": _finish,
    "usage": _usage,
    "failure": lambda entry: [StreamFailure(entry.code, entry.message)],
}


def _pieces(entry: str | tuple[str, ...] | SizedText) -> tuple[str, ...]:
    if isinstance(entry, SizedText):
        return tuple(_in_pieces(entry.text, entry.size))
    return (entry,) if isinstance(entry, str) else entry


def _call(call: CallEntry, before: int, *, ended: bool) -> Iterator[Delta]:
    index = before if call.index is None else call.index
    call_id = f"call_{index + 1}" if call.id is None else call.id
    yield ToolCallStart(index, call_id, call.name, call.kind)
    pieces: Iterable[str] = call.arguments
    if isinstance(call.arguments, str):  # in pieces of nearly equal length
        pieces = _in_pieces(call.arguments, max(1, -(-len(call.arguments) // call.pieces)))
    yield from (ArgumentsDelta(index, piece) for piece in pieces)
    if ended:
        yield ToolCallEnd(index)


def _in_pieces(text: str, size: int) -> Iterator[str]:
    return (text[at : at + size] for at in range(0, len(text), size))


def writer_options(
    dialect: str, options: Mapping[str, Any], model: str, where: str, *, from_text: bool = False
) -> Any:  # noqa: ANN401 - of any dialect
    """Return the options of the writer of `dialect`, with the values from `options`.

    Args:
        dialect: the name of a dialect.
        options: name -> value. An option without a value here keeps the value that the API
            documents.
        model: the model that the stream names, unless an option names another one.
        where: the file and key, or the command-line option, for error messages.
        from_text: whether the values are text from a command line, which this function converts.

    Raises:
        UsageError: the writer has no such option, or the option has no such value.
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
