"""The closed union of provider-neutral things that a stream says.

A call is `ToolCallStart`, any number of `ArgumentsDelta`, then exactly one of
`ToolCallEnd` (it may be executed) and `ToolCallRejected` (it may not). `index` numbers the
calls of the turn from 0 in order of first appearance, whatever the provider's own index
was. At most one `Finish` or `StreamFailure` ends the stream.
"""

from enum import StrEnum
from typing import Final, TypeAlias

import msgspec

from harness.turns.calls import CallKind, ParseError


class FinishReason(StrEnum):
    """Why the model stopped; what no table knows is OTHER and keeps its raw spelling."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    OTHER = "other"


# After these the answer is not whole: more would have followed.
CUT_SHORT: Final = frozenset((FinishReason.LENGTH, FinishReason.CONTENT_FILTER))
# These words say less than the calls do: a turn that has some ended for them.
DECIDED_BY_CALLS: Final = frozenset((FinishReason.STOP, FinishReason.OTHER))


class Usage(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Tokens as the provider counted them; None where it did not say."""

    input_tokens: int | None = None
    output_tokens: int | None = None


class _Delta(msgspec.Struct, frozen=True, tag_field="type", gc=False):
    """What all deltas share: a `type` tag when they are written as JSON.

    They hold texts and numbers only, so the cycle collector need not look at them.
    """


class TextDelta(_Delta, frozen=True, tag="text", gc=False):
    """A piece of the visible answer."""

    text: str


class ReasoningDelta(_Delta, frozen=True, tag="reasoning", gc=False):
    """A piece of the model's reasoning; never part of the visible answer."""

    text: str


class ToolCallStart(_Delta, frozen=True, tag="tool_call_start", gc=False):
    """A call opens; id, name and kind are final here."""

    index: int
    id: str
    name: str
    kind: CallKind = "function"


class ArgumentsDelta(_Delta, frozen=True, tag="arguments", gc=False):
    """A fragment of a call's JSON text or of its free input, to be appended."""

    index: int
    fragment: str


class ToolCallEnd(_Delta, frozen=True, tag="tool_call_end", gc=False):
    """The call is complete and may be executed."""

    index: int


class ToolCallRejected(_Delta, frozen=True, tag="tool_call_rejected", gc=False):
    """The call is over and must not be executed."""

    index: int
    error: ParseError


class UsageDelta(_Delta, frozen=True, tag="usage", gc=False):
    """Running totals; a later one replaces an earlier one."""

    usage: Usage


class Finish(_Delta, frozen=True, tag="finish", gc=False):
    """The turn ended as the provider meant it to; `raw` is the provider's own word."""

    reason: FinishReason
    raw: str = ""


class StreamFailure(_Delta, frozen=True, tag="failure", gc=False):
    """The turn did not end well: an error in the stream, or no end at all.

    Fields:
        code: a provider's error code, or one of ours: `interrupted`, `empty_stream`,
            `bad_event`, `unknown_envelope`, `refusal`, `calls_missing`, `http_<status>`.
        message: the provider's own words where there are any.
    """

    code: str
    message: str = ""


Delta: TypeAlias = (
    TextDelta
    | ReasoningDelta
    | ToolCallStart
    | ArgumentsDelta
    | ToolCallEnd
    | ToolCallRejected
    | UsageDelta
    | Finish
    | StreamFailure
)
