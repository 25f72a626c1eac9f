"""Define the deltas: the closed union of provider-neutral items of a stream.

A call is `ToolCallStart`, any number of `ArgumentsDelta`, and then exactly one of two ends.
After `ToolCallEnd` the agent may execute it, and after `ToolCallRejected` it must not. `index`
numbers the calls of the turn from 0 in order of first appearance, whatever the provider's index
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
    """A complete call, which an agent may execute.

    Fields:
        id: never empty; generated, stable and unique if the provider sent none.
        name: as the model wrote it.
        arguments: the JSON text as streamed; "" for a call without any. For a custom tool, its
            input unchanged.
        sent: the original text if the client repaired `arguments` and reports the repair; else "".
        namespace: the namespace of the tool, in which its name is unique; "" if it has none.
    """

    id: str
    name: str
    arguments: str
    kind: CallKind = "function"
    sent: str = ""
    namespace: str = ""


class ParseError(msgspec.Struct, frozen=True, gc=False):
    """A call that the client could not use and did not execute.

    Fields:
        mode: `tool_use` if the call came in the API's field, `json_fallback` for a text call.
        error: the reason, human-readable.
        snippet: the start of the raw text, at most `SNIPPET_CHARACTERS` characters.
        id, name: the id and name of the call; "" if they did not arrive.
        namespace: the namespace of the tool; "" if it has none.
    """

    mode: Mode
    error: str
    snippet: str = ""
    id: str = ""
    name: str = ""
    namespace: str = ""


class FinishReason(StrEnum):
    """Why the model stopped. OTHER stands for an unknown word, which `Finish.raw` stores."""

    STOP = "stop"
    TOOL_CALLS = "tool_calls"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    OTHER = "other"


# After these the answer is not whole: more would have followed.
CUT_SHORT: Final = frozenset((FinishReason.LENGTH, FinishReason.CONTENT_FILTER))
# Failures that show in what a stream leaves out, so that no event reports them.
SILENT_FAILURES: Final = frozenset(("interrupted", "empty_stream", "calls_missing"))
# These words mean less than the calls do: a turn that has some ended for them.
DECIDED_BY_CALLS: Final = frozenset((FinishReason.STOP, FinishReason.OTHER))


class Usage(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """The numbers of tokens as the provider counted them; None for a missing count."""

    input_tokens: int | None = None
    output_tokens: int | None = None


class _Delta(msgspec.Struct, frozen=True, tag_field="type", gc=False):
    """The base class of all deltas. Its `type` tag distinguishes them in JSON.

    Deltas contain texts and numbers only, so the garbage collector need not track them.
    """


class TextDelta(_Delta, frozen=True, tag="text", gc=False):
    """Carries the next part of the visible answer."""

    text: str


class ReasoningDelta(_Delta, frozen=True, tag="reasoning", gc=False):
    """Carries the next part of the model's reasoning, which is not part of the visible answer."""

    text: str


class SealedDelta(_Delta, frozen=True, tag="sealed", gc=False):
    """Carries data that only the provider can read and wants back unchanged, such as a signature.

    The data belongs to the reasoning or the text directly before it, or to one call.

    Fields:
        kind: the provider's name for the data, such as `signature` or `thoughtSignature`.
        value: the data, verbatim.
        of: what the data belongs to: `reasoning`, `text` or `call`.
        index: the index of the call if `of` is `call`; otherwise not used.
        id: the id of the item of the response that contains the data; "" if it has none.
    """

    kind: str
    value: str
    of: SealedPlace = "reasoning"
    index: int = -1
    id: str = ""


class ToolCallStart(_Delta, frozen=True, tag="tool_call_start", gc=False):
    """Begins a call. Its id, name, kind and namespace do not change later."""

    index: int
    id: str
    name: str
    kind: CallKind = "function"
    namespace: str = ""


class ArgumentsDelta(_Delta, frozen=True, tag="arguments", gc=False):
    """Carries the next part of a call's JSON arguments, or of the input of a custom tool."""

    index: int
    fragment: str


class ToolCallEnd(_Delta, frozen=True, tag="tool_call_end", gc=False):
    """Ends a call that is complete and may be executed; for `sent`, see `ToolCall`."""

    index: int
    sent: str = ""


class ToolCallRejected(_Delta, frozen=True, tag="tool_call_rejected", gc=False):
    """Ends a call that is unusable and must not be executed."""

    index: int
    error: ParseError


class UsageDelta(_Delta, frozen=True, tag="usage", gc=False):
    """Reports the token counts of the response so far. It replaces all earlier ones."""

    usage: Usage


class Finish(_Delta, frozen=True, tag="finish", gc=False):
    """Ends a turn as the provider intended. `raw` is the provider's own word for the reason."""

    reason: FinishReason
    raw: str = ""


class StreamFailure(_Delta, frozen=True, tag="failure", gc=False):
    """Ends a turn that failed: an error in the stream, or a stream without an end.

    Fields:
        code: a provider's error code, or a code of the harness: `interrupted`, `empty_stream`,
            `bad_event`, `unknown_envelope`, `refusal`, `calls_missing`, `http_<status>`.
        message: the provider's message; "" if there is none.
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
    """Return the deltas of one complete call, with one delta for each fragment."""
    arguments = (ArgumentsDelta(index, fragment) for fragment in fragments)
    return (ToolCallStart(index, call_id, name, kind), *arguments, ToolCallEnd(index))


class DeltaError(Exception):
    """A normalizer yielded an object that is not a delta, or a delta with a field of a wrong type.

    Python does not enforce annotations in third-party code. Without this check, an id of None or a
    plain string as finish reason would get into a run file, which could then not be read.
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
