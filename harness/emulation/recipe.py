"""Define the key `emulate` of a scenario file. A recipe is the value of this key.

The fields of the structs are the only keys that a recipe may have. A recipe contains the meaning of
the model's output (`deltas`), how the provider writes it (`writer`), and how a proxy or a broken
line changes the finished events (`edits`).
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
    """The base class of a list item that must have exactly one of the keys that it declares."""

    def __post_init__(self) -> None:
        """Raise an error with advice in its second line if the item has no key or several keys."""
        if len(self.keys) != 1:
            found, known = " and ".join(self.keys) or "none", ", ".join(self.__struct_fields__)
            raise ValueError(f"expected one key, found {found}\nchoose one of: {known}")

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the declared keys that this item of a scenario file contains."""
        return tuple(name for name in self.__struct_fields__ if getattr(self, name) is not UNSET)

    @property
    def value(self) -> Any:  # noqa: ANN401 - each key has its own type
        """The value of the only key."""
        return getattr(self, self.keys[0])


class SizedText(File, frozen=True):
    """A text that is sent as several deltas of `size` characters each."""

    text: str
    size: Size


class CallEntry(File, frozen=True):
    """A tool call of a recipe.

    The key `call` contains a complete call. The key `call_start` contains a call that has no end.

    Fields:
        id: the default is `call_1` for the call with index 0, `call_2` for index 1.
        index: the default is the number of earlier calls.
        arguments: the JSON text, which is split into `pieces` deltas, or a list with the text of
            each delta.
    """

    name: str
    id: str | None = None
    arguments: str | tuple[str, ...] = ()
    pieces: Size = 3
    index: int | None = None
    kind: CallKind = "function"


class ArgumentsEntry(File, frozen=True):
    """A part of the arguments of a call that has not ended."""

    index: int
    text: str


class SealedEntry(File, frozen=True):
    """Opaque data that only the provider can read, such as encrypted reasoning.

    Fields:
        of: what the data belongs to: the reasoning or text before it, or the call `index`.
    """

    kind: str
    value: str
    of: SealedPlace = "reasoning"
    index: int = -1


class FinishEntry(File, frozen=True):
    """The finish of the turn, if its reason does not follow from the provider's finish value."""

    reason: FinishReason
    raw: str


class FailureEntry(File, frozen=True):
    """A failure, such as an API error, that the dialect's writer writes into the stream."""

    code: str
    message: str = ""


class UsageEntry(File, frozen=True):
    """The token counts of a response. The stream does not contain a count that is None."""

    input_tokens: int | None = None
    output_tokens: int | None = None


Counts: TypeAlias = Annotated[tuple[int, ...], msgspec.Meta(min_length=2, max_length=2)]


class DeltaEntry(OneKey, frozen=True):
    """One delta of the model. It has exactly one of these keys.

    Fields:
        text, reasoning: a text for one delta, a list with the text of each delta, or a text to
            split into deltas of equal size.
        call_end: the index of the call that ends.
        usage: the numbers of input and output tokens.
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
    """An event that an author wrote. The key names the framing, and its value is the content.

    Fields:
        json: the value of an SSE event, `data: ...`.
        event: name -> JSON value of an SSE event with an `event` line.
        document: a body that is one JSON value.
        line: a JSON value on a line, without SSE.
        aws_event, aws_exception: name -> JSON value of an AWS message.
        bedrock_chunk: a JSON value in the envelope of Amazon Bedrock's invoke API.
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
    """Events to insert before event number `at`; a negative `at` counts from the end."""

    at: int
    events: tuple[Event, ...]


class CutEntry(File, frozen=True):
    """An edit that ends the stream inside event number `event`, after `bytes` bytes of it."""

    event: int
    bytes: Count


class BitEntry(File, frozen=True):
    """An edit that flips the lowest bit of one byte of an event, as a faulty line does."""

    event: int
    byte: int


class EditEntry(OneKey, frozen=True):
    """A change of the finished events. It has exactly one of these keys.

    Fields:
        insert, append: adds raw events in the middle or at the end.
        cut_after: ends the stream after this text.
        end_before: ends the stream before the event that contains this text.
        swap: replaces the first text by the second one in every event.
        prefix: adds this text before every event.
        wrap: puts every event into the envelope of Amazon Bedrock's invoke API.
        keep: keeps this number of events; a negative number removes as many from the end.
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
    """The messages that the client sends after a response.

    Fields:
        tool_results: id of a call -> its result. The turn of the response precedes the results.
        user: the user's next message. The turn of the response precedes it.
        messages: the messages in the format of the API, instead of the other two keys.
    """

    tool_results: dict[str, str] = msgspec.field(default_factory=dict)
    user: str = ""
    messages: tuple[dict[str, Any], ...] = ()


class ResponseEntry(File, frozen=True):
    """One response. It has `deltas` for the dialect's writer, or `raw` events from the author.

    Fields:
        raw: the events. The text `{model}` in them represents the model of the cassette.
        bare: whether the raw events have only what `raw` contains. By default, the members that the
            API has in each event are added.
        writer: options of the dialect's writer.
        content_type: the default is the content type of the dialect's streams.
        ended: how the network ended the body. `complete`: as its framing specifies. `reset` and
            `truncated`: the connection broke, which an HTTP library reports.
        next: the messages that the client sends next; None if no request follows.
    """

    deltas: tuple[DeltaEntry, ...] | None = None
    raw: tuple[Event, ...] | None = None
    bare: bool = False
    writer: dict[str, Any] = msgspec.field(default_factory=dict)
    edits: tuple[EditEntry, ...] = ()
    status: int = 200
    content_type: str = ""
    ended: Literal["complete", "reset", "truncated"] = "complete"
    next: NextEntry | None = None


class RecipeEntry(File, frozen=True):
    """A recipe: the value of the key `emulate` of a scenario file.

    Fields:
        question: the user's text.
        variant: the name of a second request format, if the API has one; "" for the usual format.
        tools: names of files in the folder `tools/` of the scenarios.
        prompt: id of a prompt. If this prompt describes tools in text, the request declares none.
        request: further keys of the request's JSON body.
        close: for a session over WebSocket, the code with which the server closes it; 0 if it stays
            open. Then the key `next` of a response has the client's `messages`.
    """

    question: str
    responses: Annotated[tuple[ResponseEntry, ...], msgspec.Meta(min_length=1)]
    dialect: str = "openai-chat"
    variant: str = ""
    tools: tuple[Text, ...] = ()
    prompt: str = "native-tools/v1"
    request: dict[str, Any] = msgspec.field(default_factory=dict)
    close: Count = 0


class TextFormEntry(File, frozen=True):
    """The value of the key `emulate` if the key `conversation` names another scenario.

    The cassette contains the turns of the other scenario, with text calls instead of calls in the
    API's field.

    Fields:
        prompt: id of a prompt that describes tools in text and the format of the text calls.
        writer: options of the dialect's writer, for each response.
        request: further keys of the request's JSON body.
    """

    prompt: str
    dialect: str = "openai-chat"
    writer: dict[str, Any] = msgspec.field(default_factory=dict)
    request: dict[str, Any] = msgspec.field(default_factory=dict)


class EmulateKey(File, frozen=True):
    """The only key of a scenario file that this package reads."""

    emulate: RecipeEntry | Literal["by-hand"]


class TextFormKey(File, frozen=True):
    """A scenario file whose key `emulate` writes the calls of another scenario as text.

    Only this key is read here.
    """

    emulate: TextFormEntry


class Recipe(msgspec.Struct, frozen=True):
    """A recipe with the data that the emulator needs to write its cassette.

    Fields:
        cassette: the id of the cassette.
        where: the scenario file.
        file: the key `emulate` of this file.
        tools: the tools whose names are in `file`.
        form: how a request of the dialect is written, with its addresses.
    """

    cassette: str
    where: str
    file: RecipeEntry
    tools: tuple[Tool, ...]
    form: RequestForm


class ByHand(msgspec.Struct, frozen=True):
    """A cassette that an author wrote, because no recipe can describe it. It is not overwritten."""

    cassette: str
    where: str
