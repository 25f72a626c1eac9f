"""Decide how a call ends, in all dialects: its id, whether it is unusable, and its last delta.

The id is the provider's if it is unique. A repeated id gets a suffix, and a missing id is
generated. A generated id depends only on the content of the stream, so it is the same for every
chunking.
"""

import hashlib

from harness.turns.argument_errors import ArgumentClass
from harness.turns.arguments import is_json_value, parse
from harness.turns.deltas import (
    SNIPPET_CHARACTERS,
    CallKind,
    Mode,
    ParseError,
    ToolCallEnd,
    ToolCallRejected,
)

# A failed turn states the reason in each of its calls, however long the provider's text is.
_REASON_CHARACTERS = 600


def unusable_reason(
    name: str, arguments: str, kind: CallKind = "function", *, cut_short: bool
) -> str:
    """Return why a complete call must not be executed; "" if it may be executed.

    The input of a custom tool is free text, so every text is valid. Only if the turn was truncated
    (`cut_short`), it is unknown whether the input is complete. The content of an action is any
    JSON value.
    """
    if not name:
        return "the call has no name"
    if kind == "custom":
        return "the provider stopped before the input was complete" if cut_short else ""
    if kind == "action" and is_json_value(arguments):
        return ""
    parsed = parse(arguments)
    if parsed.kind is ArgumentClass.EMPTY and cut_short:
        return "the provider stopped before the arguments began"
    return parsed.error


def may_lack_arguments(arguments: str) -> bool:
    """Return whether a call with these arguments may have lost them.

    Fragments of the turn that belong to no opened call may be its arguments. So a reader must
    reject the call if there are such fragments.
    """
    return arguments.strip() in ("", "{}")


OWNERLESS = "no arguments came for this call, and the arguments of a call without a name may be its"


def end_of_call(
    position: int, error: str, raw: str, mode: Mode = "tool_use"
) -> ToolCallEnd | ToolCallRejected:
    """Return the delta that ends a call: with an `error`, a rejection with the start of `raw`."""
    if not error:
        return ToolCallEnd(position)
    reason = ParseError(mode, error[:_REASON_CHARACTERS], raw[:SNIPPET_CHARACTERS])
    return ToolCallRejected(position, reason)


# As much of the response's id as distinguishes it from others; each call hashes it again.
_SEED_CHARACTERS = 200


class CallIds:
    """Gives each call of one turn a unique id."""

    __slots__ = ("_taken",)

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def unique(self, given: str, seed: str, position: int, name: str) -> str:
        """Return an id that no other call of the turn has.

        Args:
            given: the provider's id; "" if it gave none.
            seed: a text that distinguishes this response from others, such as its id.
            position: the position of the call in its turn.
            name: the name of the function.
        """
        call_id = given or _generated_id(f"{seed[:_SEED_CHARACTERS]}/{position}/{name}")
        while call_id in self._taken:
            call_id = f"{call_id}-{position}"
        self._taken.add(call_id)
        return call_id


def _generated_id(text: str) -> str:
    return "call_" + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]
