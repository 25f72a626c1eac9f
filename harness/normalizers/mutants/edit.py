"""Decorators that declare a mutant: `reference` with one edit.

The decorated function is the edit. Its docstring is the summary of the mutant.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from types import UnionType
from typing import Any, Final, TypeAlias, TypeVar

import msgspec
from msgspec.structs import replace

from harness.dialects.table import offered_tools
from harness.normalizers import reference
from harness.normalizers.protocol import Normalize, Normalizer
from harness.turns.arguments import parse
from harness.turns.deltas import (
    ArgumentsDelta,
    CallKind,
    Delta,
    Finish,
    ParseError,
    StreamFailure,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
)
from harness.turns.turn import Tool
from harness.wire.interaction import Interaction

MUTANTS: Final[dict[str, Normalizer]] = {}

End: TypeAlias = Finish | StreamFailure
CallDelta: TypeAlias = ToolCallStart | ArgumentsDelta | ToolCallEnd | ToolCallRejected


class HeldCall(msgspec.Struct, frozen=True):
    """A call of `reference` that an edit may change.

    Fields:
        error: why the call must not be executed; None if it may be executed.
    """

    index: int
    id: str
    name: str
    arguments: str
    error: ParseError | None
    kind: CallKind = "function"
    namespace: str = ""


EditDeltas: TypeAlias = Callable[[Iterator[Delta]], Iterator[Delta]]
EditDelta: TypeAlias = Callable[[Delta], Iterable[Delta]]
EditArguments: TypeAlias = Callable[[dict[str, Any], Tool], dict[str, Any]]
EditCall: TypeAlias = Callable[[HeldCall], HeldCall]
EditCalls: TypeAlias = Callable[[list[HeldCall]], list[HeldCall]]
_F = TypeVar("_F", bound=Callable[..., object])
_Decorator: TypeAlias = Callable[[_F], _F]


def mutant(name: str, breaks: str, *, text_calls: bool = False) -> _Decorator[Normalize]:
    """Return a decorator that declares a function as a mutant, for faults that no edit can make.

    Args:
        name: the name that selects the mutant with the option `-n`.
        breaks: ids of the rules that the mutant violates, separated by spaces.
        text_calls: whether the mutant parses text calls as `reference` does.
    """
    return _declare(name, breaks, lambda normalize: normalize, text_calls=text_calls)


def edits_deltas(name: str, breaks: str, *, text_calls: bool = False) -> _Decorator[EditDeltas]:
    """Return a decorator that declares `reference` with an edit of all deltas of a response.

    The arguments are those of `mutant`.
    """
    return _declare(name, breaks, _editing, text_calls=text_calls)


def edits_delta(name: str, breaks: str) -> _Decorator[EditDelta]:
    """Return a decorator that declares `reference` with an edit of each delta; see `mutant`."""

    def normalizer_of(edit: EditDelta) -> Normalize:
        return _editing(lambda deltas: (each for delta in deltas for each in edit(delta)))

    return _declare(name, breaks, normalizer_of)


def edits_calls(
    name: str, breaks: str, *, before: type[End] | UnionType = End, text_calls: bool = False
) -> _Decorator[EditCalls]:
    """Return a decorator that declares `reference` with an edit of the list of calls of a turn.

    Text is emitted at once. Calls are held until the turn ends, so that the edit gets all of them.
    The edit is applied only if the delta that ends the turn has the type `before`. The other
    arguments are those of `mutant`.
    """

    def normalizer_of(edit: EditCalls) -> Normalize:
        return _editing(lambda deltas: _with_calls_edited(deltas, edit, before))

    return _declare(name, breaks, normalizer_of, text_calls=text_calls)


def edits_call(
    name: str, breaks: str, *, before: type[End] | UnionType = End, text_calls: bool = False
) -> _Decorator[EditCall]:
    """Return a decorator that declares `reference` with an edit of each call; see `edits_calls`."""

    def normalizer_of(edit: EditCall) -> Normalize:
        return _editing(
            lambda deltas: _with_calls_edited(deltas, lambda calls: list(map(edit, calls)), before)
        )

    return _declare(name, breaks, normalizer_of, text_calls=text_calls)


def edits_arguments(name: str, breaks: str) -> _Decorator[EditArguments]:
    """Return a decorator that declares `reference` with an edit of usable arguments; see `mutant`.

    The edit also gets the tool that the call names.
    """

    def normalizer_of(edit: EditArguments) -> Normalize:
        def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
            tools = {tool.name: tool for tool in offered_tools(interaction)}

            def edit_calls(calls: list[HeldCall]) -> list[HeldCall]:
                return [edited_call(call, tools.get(call.name), edit) for call in calls]

            return _with_calls_edited(reference.normalize(interaction, reads), edit_calls, End)

        return normalize

    return _declare(name, breaks, normalizer_of)


def edited_call(call: HeldCall, tool: Tool | None, edit: EditArguments) -> HeldCall:
    """Return `call` with edited arguments; unchanged if it is unusable or `tool` is None."""
    value = parse(call.arguments).value if call.error is None else None
    if tool is None or not value or call.kind != "function":
        return call
    edited = edit(value, tool)
    return replace(call, arguments=json.dumps(edited)) if edited != value else call


def _declare(
    name: str, breaks: str, normalizer_of: Callable[[_F], Normalize], *, text_calls: bool = False
) -> _Decorator[_F]:
    def declare(edit: _F) -> _F:
        MUTANTS[name] = replace(
            reference.normalizer,
            name=name,
            normalize=normalizer_of(edit),
            role="mutant",
            breaks=frozenset(breaks.split()),
            summary=summary_of(edit),
            text_dialects=reference.normalizer.text_dialects if text_calls else frozenset(),
        )
        return edit

    return declare


def summary_of(declared: object) -> str:
    """Return the first line of a docstring as a summary in lower case, without its full stop."""
    line = (declared.__doc__ or "").partition("\n")[0].removesuffix(".")
    return line[:1].lower() + line[1:]


def _editing(edit: EditDeltas) -> Normalize:
    def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
        return edit(reference.normalize(interaction, reads))

    return normalize


def _with_calls_edited(
    deltas: Iterator[Delta], edit: EditCalls, before: type[End] | UnionType
) -> Iterator[Delta]:
    calls: dict[int, HeldCall] = {}
    for delta in deltas:
        if isinstance(delta, CallDelta):
            _hold(calls, delta)
            continue
        if isinstance(delta, End):
            held = list(calls.values())
            for call in edit(held) if isinstance(delta, before) else held:
                yield from _call_deltas(call)
        yield delta


def _hold(calls: dict[int, HeldCall], delta: CallDelta) -> None:
    if isinstance(delta, ToolCallStart):
        calls[delta.index] = HeldCall(
            delta.index, delta.id, delta.name, "", None, delta.kind, delta.namespace
        )
    elif isinstance(delta, ArgumentsDelta):
        call = calls[delta.index]
        calls[delta.index] = replace(call, arguments=call.arguments + delta.fragment)
    elif isinstance(delta, ToolCallRejected):
        calls[delta.index] = replace(calls[delta.index], error=delta.error)


def _call_deltas(call: HeldCall) -> Iterator[Delta]:
    yield ToolCallStart(call.index, call.id, call.name, call.kind, call.namespace)
    if call.arguments:
        yield ArgumentsDelta(call.index, call.arguments)
    if call.error is None:
        yield ToolCallEnd(call.index)
    else:
        yield ToolCallRejected(call.index, call.error)
