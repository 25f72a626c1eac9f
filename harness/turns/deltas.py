"""The closed union of provider-neutral items of a stream.

A call is `ToolCallStart`, any number of `ArgumentsDelta`, then exactly one of
`ToolCallEnd` (it may be executed) and `ToolCallRejected` (it may not). `index` numbers the
calls of the turn from 0 in order of first appearance, whatever the provider's own index
was. At most one `Finish` or `StreamFailure` ends the stream.
"""

from enum import StrEnum
from typing import Final, Literal, TypeAlias

import msgspec

SNIPPET_CHARACTERS = 200

Mode = Literal["tool_use", "json_fallback"]
# A function takes a JSON object; a custom tool takes free text. An action is what an API asks of
# the client itself, such as a shell command or an approval, and no call of a named tool.
CallKind = Literal["function", "custom", "action"]
# What sealed data belongs to.
SealedPlace = Literal["reasoning", "text", "call"]


class ToolCall(msgspec.Struct, frozen=True, gc=False):
    """A finished call.

    Fields:
        id: never empty; generated, stable and unique if the provider sent none.
        name: as the model wrote it.
        arguments: the JSON text as streamed; "" for a call without any. For a custom tool, its
            input unchanged.
        sent: the text as streamed, if the client repaired `arguments` and reports it; else "".
    """

    id: str
    name: str
    arguments: str
    kind: CallKind = "function"
    sent: str = ""


class ParseError(msgspec.Struct, frozen=True, gc=False):
    """A call whose arguments could not be used, so that it was not executed.

    Fields:
        mode: `tool_use` for the API's own field, `json_fallback` for calls in text.
        error: what was wrong, for a person.
        snippet: the start of the raw text, at most `SNIPPET_CHARACTERS` characters.
        id, name: those of the call, if they arrived.
    """

    mode: Mode
    error: str
    snippet: str = ""
    id: str = ""
    name: str = ""


class FinishReason(StrEnum):
    """Why the model stopped. An unknown word becomes OTHER, and the delta keeps the word."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    OTHER = "other"


# After these the answer is not whole: more would have followed.
CUT_SHORT: Final = frozenset((FinishReason.LENGTH, FinishReason.CONTENT_FILTER))
# These words mean less than the calls do: a turn that has some ended for them.
DECIDED_BY_CALLS: Final = frozenset((FinishReason.STOP, FinishReason.OTHER))


class Usage(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Tokens as the provider counted them; None for a count that it did not report."""

    input_tokens: int | None = None
    output_tokens: int | None = None


class _Delta(msgspec.Struct, frozen=True, tag_field="type", gc=False):
    """The base of all deltas; its `type` tag distinguishes them in JSON.

    They contain texts and numbers only, so the garbage collector need not track them.
    """


class TextDelta(_Delta, frozen=True, tag="text", gc=False):
    """A piece of the visible answer."""

    text: str


class ReasoningDelta(_Delta, frozen=True, tag="reasoning", gc=False):
    """A piece of the model's reasoning; never part of the visible answer."""

    text: str


class SealedDelta(_Delta, frozen=True, tag="sealed", gc=False):
    """Data that only the provider can read and wants back unchanged, such as a signature.

    It belongs to the reasoning or the text directly before it, or to one call.

    Fields:
        kind: the provider's name for it, such as `signature` or `thoughtSignature`.
        value: the data, verbatim.
        index: the index of the call if `of` is `call`, else not used.
        id: the id of the item that contains it, "" if it has none.
    """

    kind: str
    value: str
    of: SealedPlace = "reasoning"
    index: int = -1
    id: str = ""


class ToolCallStart(_Delta, frozen=True, tag="tool_call_start", gc=False):
    """A call opens; its id, name and kind do not change later."""

    index: int
    id: str
    name: str
    kind: CallKind = "function"


class ArgumentsDelta(_Delta, frozen=True, tag="arguments", gc=False):
    """A fragment of a call's JSON text or of its free input, to be appended."""

    index: int
    fragment: str


class ToolCallEnd(_Delta, frozen=True, tag="tool_call_end", gc=False):
    """The call is complete and may be executed; `sent` is as in `ToolCall`."""

    index: int
    sent: str = ""


class ToolCallRejected(_Delta, frozen=True, tag="tool_call_rejected", gc=False):
    """The call is over and must not be executed."""

    index: int
    error: ParseError


class UsageDelta(_Delta, frozen=True, tag="usage", gc=False):
    """Running totals; a later one replaces an earlier one."""

    usage: Usage


class Finish(_Delta, frozen=True, tag="finish", gc=False):
    """The turn ended as the provider intended; `raw` is the provider's own word."""

    reason: FinishReason
    raw: str = ""


class StreamFailure(_Delta, frozen=True, tag="failure", gc=False):
    """The turn did not end well: an error in the stream, or no end at all.

    Fields:
        code: a provider's error code, or one of the harness: `interrupted`, `empty_stream`,
            `bad_event`, `unknown_envelope`, `refusal`, `calls_missing`, `http_<status>`.
        message: the provider's message, if there is one.
    """

    code: str
    message: str = ""


Delta: TypeAlias = (
    TextDelta
    | ReasoningDelta
    | SealedDelta
    | ToolCallStart
    | ArgumentsDelta
    | ToolCallEnd
    | ToolCallRejected
    | UsageDelta
    | Finish
    | StreamFailure
)


def call_deltas(
    index: int, call_id: str, name: str, *fragments: str, kind: CallKind = "function"
) -> tuple[Delta, ...]:
    """Return the deltas of one complete call."""
    arguments = (ArgumentsDelta(index, fragment) for fragment in fragments)
    return (ToolCallStart(index, call_id, name, kind), *arguments, ToolCallEnd(index))


class DeltaError(Exception):
    """A normalizer yielded an object that is not a delta, or has a field of a wrong type.

    Python does not enforce annotations for a third-party normalizer: a None for an id or a plain
    string for a finish reason would pass through a run unnoticed, and make a file that cannot be
    read.
    """

    def __str__(self) -> str:
        # Only when it is asked for, because the type of the object may be hostile.
        return _told(self.args[0])


def _told(delta: object) -> str:
    kind = type(delta)
    if kind.__module__ != "harness.turns.deltas" or not isinstance(delta, msgspec.Struct):
        return f"expected a delta of harness.turns.deltas, found {kind.__name__}"
    fields = ", ".join(
        f"{name}: {type(value).__name__}" for name, value in msgspec.structs.asdict(delta).items()
    )
    return f"a field of the wrong type in {kind.__name__}({fields})"
