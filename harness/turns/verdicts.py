"""Whether a finished call may run, and the delta that says so; shared by all dialects."""

from harness.turns.arguments import ArgumentClass, parse
from harness.turns.calls import SNIPPET_CHARACTERS, CallKind, Mode, ParseError
from harness.turns.deltas import ToolCallEnd, ToolCallRejected

# A turn that failed says why in each of its calls, however long the provider's words are.
_REASON_CHARACTERS = 600


def fault(name: str, arguments: str, kind: CallKind = "function", *, cut_short: bool) -> str:
    """Return why a finished call must not run; "" where it may.

    The input of a custom tool is free text, so no text of it is wrong; where the turn was
    cut short nobody can tell whether it is whole.
    """
    if not name:
        return "the call has no name"
    if kind == "custom":
        return "the provider stopped before the input was whole" if cut_short else ""
    parsed = parse(arguments)
    if parsed.kind is ArgumentClass.EMPTY and cut_short:
        return "the provider stopped before the arguments began"
    return parsed.error


def verdict(
    position: int, error: str, raw: str, mode: Mode = "tool_use"
) -> ToolCallEnd | ToolCallRejected:
    """Return the delta that ends a call: rejected with a snippet of `raw` if there is an error."""
    if not error:
        return ToolCallEnd(position)
    reason = ParseError(mode, error[:_REASON_CHARACTERS], raw[:SNIPPET_CHARACTERS])
    return ToolCallRejected(position, reason)
