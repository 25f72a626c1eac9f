"""Convert the events of a driver to deltas, one to one; `harness.repro.drivers` lists them."""

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, Final, TypeAlias

from harness.normalizers.sdk.calls import handed_call, text_of_value, withheld_call
from harness.turns.deltas import (
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    Usage,
    UsageDelta,
)

Event: TypeAlias = tuple[Any, ...]
# Returns why arguments do not fit the tool of a name; "" if they do.
Check: TypeAlias = Callable[[str, str], str]

TEXTS: Final[dict[str, type[TextDelta | ReasoningDelta]]] = {
    "text": TextDelta,
    "reasoning": ReasoningDelta,
}


def deltas_of(
    events: Iterable[Event], check: Check = lambda _name, _arguments: ""
) -> Iterator[Delta]:
    """Yield the deltas of the events of one answer.

    Args:
        events: the events that a driver yields.
        check: returns why arguments do not fit a tool; used for agent loops that check them.
    """
    calls, is_executed = 0, False
    for kind, *values in events:
        match kind:
            case "text" | "reasoning":
                if values[0]:
                    yield TEXTS[kind](values[0])
            case "call" | "value" | "checked" | "rejected":
                is_executed |= yield from _call(calls, kind, values, check)
                calls += 1
            case "usage":
                yield UsageDelta(Usage(*values))
            case "finish":
                word, meaning, *if_executed = values
                known = if_executed[0] if if_executed and is_executed else meaning
                yield Finish(FinishReason(known), "" if word is None else str(word))
            case _:
                yield StreamFailure(*values)


def _call(index: int, kind: str, values: list[Any], check: Check) -> Generator[Delta, None, bool]:
    """Yield the deltas of a call, and return whether agent code executes it."""
    call_id, name, arguments, *rest = values
    if kind == "checked":
        written = arguments if isinstance(arguments, str) else text_of_value(arguments)
        if problem := check(name, written):
            kind, arguments, rest = "rejected", written, [problem]
    if kind == "rejected":
        yield from withheld_call(index, call_id, name, arguments, rest[0])
        return False
    is_value = kind == "value"
    *begun, end = handed_call(index, call_id, name, arguments, *rest, parsed=is_value)
    yield from begun
    yield end
    return isinstance(end, ToolCallEnd)
