"""The key `emulate` of a scenario file. The fields of its structs are its keys, and no others.

A recipe contains the meaning of the model's output (`deltas`), how the provider writes it
(`writer`), and how a proxy or a broken line changes the finished events (`edits`).
"""

from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import UNSET, UnsetType

from harness.dialects.kit.build_request import RequestForm
from harness.files.typed import File, Text
from harness.turns.deltas import CallKind, FinishReason, SealedPlace
from harness.turns.turn import Tool

Count = Annotated[int, msgspec.Meta(ge=0)]
Size = Annotated[int, msgspec.Meta(ge=1)]
Named = Annotated[dict[str, Any], msgspec.Meta(min_length=1, max_length=1)]


class OneKey(File, frozen=True, omit_defaults=True):
    """An entry of a list that has exactly one of its keys."""

    def __post_init__(self) -> None:
        """Reject an entry without a key, or with several; the second line is the hint."""
        if len(self.keys) != 1:
            found, known = " and ".join(self.keys) or "none", ", ".join(self.__struct_fields__)
            raise ValueError(f"expected one key, found {found}\nchoose one of: {known}")

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that the entry has."""
        return tuple(name for name in self.__struct_fields__ if getattr(self, name) is not UNSET)

    @property
    def value(self) -> Any:  # noqa: ANN401 - each key has its own type
        """The value of the one key."""
        return getattr(self, self.keys[0])


class SizedText(File, frozen=True):
    """Text in pieces of `size` characters."""

    text: str
    size: Size


class CallEntry(File, frozen=True):
    """A tool call: `call` is a complete one, `call_start` one that nothing ends.

    Fields:
        id: default: `call_1` for the call with index 0, `call_2` for index 1.
        index: default: the number of calls before it.
        arguments: the JSON text, which comes in `pieces` pieces, or the list of pieces.
    """

    name: str
    id: str | None = None
    arguments: str | tuple[str, ...] = ()
    pieces: Size = 3
    index: int | None = None
    kind: CallKind = "function"


class ArgumentsEntry(File, frozen=True):
    """One piece of the arguments of a call that is open."""

    index: int
    text: str


class SealedEntry(File, frozen=True):
    """Data that only the provider can read.

    Fields:
        of: what it belongs to: the reasoning or the text before it, or the call `index`.
    """

    kind: str
    value: str
    of: SealedPlace = "reasoning"
    index: int = -1


class FinishEntry(File, frozen=True):
    """The end of the turn, if its reason does not follow from the provider's word."""

    reason: FinishReason
    raw: str


class FailureEntry(File, frozen=True):
    """A failure that the dialect's writer can write."""

    code: str
    message: str = ""


class UsageEntry(File, frozen=True):
    """Token counts; a count that is left out is not sent."""

    input_tokens: int | None = None
    output_tokens: int | None = None


Counts: TypeAlias = Annotated[tuple[int, ...], msgspec.Meta(min_length=2, max_length=2)]


class DeltaEntry(OneKey, frozen=True):
    """One delta of the model: exactly one of these keys.

    Fields:
        text, reasoning: one piece, a list of pieces, or pieces of equal size.
        call_end: the index of the call.
        usage: input and output tokens.
    """

    text: str | tuple[str, ...] | SizedText | UnsetType = UNSET
    reasoning: str | tuple[str, ...] | SizedText | UnsetType = UNSET
    sealed: SealedEntry | UnsetType = UNSET
    call: CallEntry | UnsetType = UNSET
    call_start: CallEntry | UnsetType = UNSET
    arguments: ArgumentsEntry | UnsetType = UNSET
    call_end: int | UnsetType = UNSET
    finish: str | FinishEntry | UnsetType = UNSET
    usage: Counts | UsageEntry | UnsetType = UNSET
    failure: FailureEntry | UnsetType = UNSET


class FramedEvent(OneKey, frozen=True):
    """An event that an author wrote: a JSON value, and how it is framed.

    Fields:
        json: an SSE event, `data: ...`.
        event: name -> JSON value, an SSE event with an `event` line.
        document: a body that is one JSON value.
        line: a line of JSON.
        aws_event, aws_exception: name -> JSON value, an AWS message.
        bedrock_chunk: an event in the envelope of Amazon Bedrock's invoke API.
        binary: any bytes, as base64.
    """

    json: Any = UNSET
    event: Named | UnsetType = UNSET
    document: Any = UNSET
    line: Any = UNSET
    aws_event: Named | UnsetType = UNSET
    aws_exception: Named | UnsetType = UNSET
    bedrock_chunk: Any = UNSET
    binary: bytes | UnsetType = UNSET


# Text is an event as it crosses the network.
Event: TypeAlias = str | FramedEvent


class InsertEntry(File, frozen=True):
    """Events to put before the event number `at`; negative: from the end."""

    at: int
    events: tuple[Event, ...]


class CutEntry(File, frozen=True):
    """The stream ends inside the event number `event`, after `bytes` bytes of it."""

    event: int
    bytes: Count


class BitEntry(File, frozen=True):
    """The lowest bit of one byte is flipped, as by a faulty line."""

    event: int
    byte: int


class EditEntry(OneKey, frozen=True):
    """A change of the finished events: exactly one of these keys.

    Fields:
        insert, append: raw events, in the middle or at the end.
        cut_after: the stream ends after this text.
        end_before: the stream ends before the event that contains this text.
        swap: old text and new text, in every event.
        prefix: text before every event.
        wrap: every event becomes the envelope of Amazon Bedrock's invoke API.
        keep: the number of events that stay; negative: how many of the last ones go.
    """

    insert: InsertEntry | UnsetType = UNSET
    append: tuple[Event, ...] | UnsetType = UNSET
    cut_after: Text | UnsetType = UNSET
    end_before: Text | UnsetType = UNSET
    swap: tuple[Text, str] | UnsetType = UNSET
    prefix: str | UnsetType = UNSET
    wrap: Literal["bedrock"] | UnsetType = UNSET
    keep: int | UnsetType = UNSET
    cut_in: CutEntry | UnsetType = UNSET
    flip_bit: BitEntry | UnsetType = UNSET


class NextEntry(File, frozen=True):
    """The client's messages after a response: its answer, or `messages` in the API's own form.

    Fields:
        tool_results: id of the call -> result. The turn of the response goes before them.
        user: the user's next message. The turn of the response goes before it.
    """

    tool_results: dict[str, str] = msgspec.field(default_factory=dict)
    user: str = ""
    messages: tuple[dict[str, Any], ...] = ()


class ResponseEntry(File, frozen=True):
    """One response: `deltas` for the dialect's writer, or `raw` events that an author wrote.

    Fields:
        raw: `{model}` in it represents the model of the cassette.
        writer: options of the dialect's writer.
        content_type: default: that of the dialect's streams.
        ended: how the network ended the body. `complete`: by its framing, as if nothing was
            missing; `reset` and `truncated`: the connection broke, which an HTTP library reports.
    """

    deltas: tuple[DeltaEntry, ...] | None = None
    raw: tuple[Event, ...] | None = None
    writer: dict[str, Any] = msgspec.field(default_factory=dict)
    edits: tuple[EditEntry, ...] = ()
    status: int = 200
    content_type: str = ""
    ended: Literal["complete", "reset", "truncated"] = "complete"
    next: NextEntry | None = None


class RecipeEntry(File, frozen=True):
    """The key `emulate`.

    Fields:
        question: the user's text.
        variant: which of the two forms of request an API has; "" for the usual one.
        tools: names of files in `tools/` beside the scenarios.
        prompt: id of a prompt. If it describes tools in text, the request declares none.
        request: further members of the request's body.
    """

    question: str
    responses: Annotated[tuple[ResponseEntry, ...], msgspec.Meta(min_length=1)]
    dialect: str = "openai-chat"
    variant: str = ""
    tools: tuple[Text, ...] = ()
    prompt: str = "native-tools/v1"
    request: dict[str, Any] = msgspec.field(default_factory=dict)


class TextFormEntry(File, frozen=True):
    """The key `emulate` if `conversation` is the id of another scenario.

    The turns are those of the other scenario, with calls as the prompt describes them.

    Fields:
        prompt: id of a prompt that describes tools in text.
        request: further members of the request's body.
    """

    prompt: str
    dialect: str = "openai-chat"
    request: dict[str, Any] = msgspec.field(default_factory=dict)


class EmulateKey(File, frozen=True):
    """The part of a scenario file that is read here."""

    emulate: RecipeEntry | Literal["by-hand"]


class TextFormKey(File, frozen=True):
    """The same part of a scenario file whose conversation is another scenario's."""

    emulate: TextFormEntry


class Recipe(msgspec.Struct, frozen=True):
    """One emulated cassette.

    Fields:
        cassette: its id.
        where: the scenario file.
        tools: those that `file` names.
        form: the form of the dialect's requests.
    """

    cassette: str
    where: str
    file: RecipeEntry
    tools: tuple[Tool, ...]
    form: RequestForm


class ByHand(msgspec.Struct, frozen=True):
    """A cassette that no recipe can describe, so that its file is never written."""

    cassette: str
    where: str
