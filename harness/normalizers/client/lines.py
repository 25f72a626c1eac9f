"""The messages between the harness and a client: JSON Lines in UTF-8, protocol version 2.

The harness writes `hello` first, then one `case` or `timed_case` at a time, and `stop` at the end.
The client answers `hello` with its own, and each case with one `turn`. A client that answers with
version 1 of the protocol gets no `timed_case`. It writes nothing else to its
standard output; what it writes to its standard error is shown if it fails.
"""

from typing import Annotated, Any, Final, Literal, TypeAlias

import msgspec

from harness import __version__
from harness.normalizers.protocol import Hidden
from harness.normalizers.timing import Told
from harness.turns.deltas import CallKind, FinishReason

PROTOCOL: Final = 2

_Count = Annotated[int, msgspec.Meta(ge=0)]


class _Sent(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """The base class of messages that the harness sends."""


class _Received(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="type", forbid_unknown_fields=True
):
    """The base class of messages from the client; an unknown key is an error."""


class Hello(_Sent, frozen=True, kw_only=True, tag="hello"):
    """The first message of the harness.

    Fields:
        protocol: the version of the protocol.
        harness: the version of this package.
    """

    protocol: int = PROTOCOL
    harness: str = __version__


class Introduction(_Received, frozen=True, kw_only=True, tag="hello"):
    """The client's answer to `hello`.

    Fields:
        protocol: the version of the protocol that the client supports.
        name: the name of the library under test.
        version: the version of the library.
        language: the programming language of the library.
        kind: an `sdk` passes on what the provider sent, a `gateway` normalizes it.
        dialects: the dialects that the client supports; the harness sends no others.
        capabilities: optional features that the client supports, such as custom tools (see `harness
            list normalizers`).
        hides: the fields that the library does not expose, so that the harness does not judge them.
        policies: the client's choices between rules that exclude each other, such as `{"names":
            "append"}`.
        times: what the client can be told in a `timed_case`; None if it takes part in no timing
            scenario. Needs version 2.
        untold: what the library cannot be told -> the place that documents it.
    """

    protocol: Literal[1, 2]
    name: str
    version: str = ""
    language: str = ""
    kind: Literal["sdk", "gateway"] = "sdk"
    dialects: tuple[str, ...] = ("openai-chat",)
    capabilities: tuple[str, ...] = ()
    hides: tuple[Hidden, ...] = ()
    policies: dict[str, str] = {}
    times: tuple[Told, ...] | None = None
    untold: dict[Told, str] = {}


class Case(_Sent, frozen=True, kw_only=True, tag="case"):
    """A message that tells the client to send one request, with streaming and without retries.

    Fields:
        id: a number that the client repeats in its `turn`.
        dialect: the API of the response.
        base_url: the address for the client's library, which appends its path.
        api_key: any text is accepted.
        model: the model to name in the request.
        request: the JSON body of the recorded request; {} if it is not known.
    """

    id: int
    dialect: str
    base_url: str
    api_key: str = "none"
    model: str
    request: dict[str, Any]


class TimedCaseLine(_Sent, frozen=True, kw_only=True, tag="timed_case"):
    """A message that tells the client to send one request, with the times of a timing scenario.

    Fields:
        id, dialect, base_url, api_key, model, request: as in `case`.
        idle_timeout: seconds without data after which the library must give up; None for its
            default.
        max_retries: how often the library may send the request again.
        cancel_after: after this number of pieces of content the client stops, and closes the
            stream as agent code does; None if it reads to the end.
    """

    id: int
    dialect: str
    base_url: str
    api_key: str = "none"
    model: str
    request: dict[str, Any]
    idle_timeout: float | None = None
    max_retries: int = 0
    cancel_after: int | None = None


class Stop(_Sent, frozen=True, kw_only=True, tag="stop"):
    """The last message of the harness, after which the client exits."""


class ClientCall(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A call that the library passed to agent code, or withheld.

    Fields:
        id: the id from the library; "" if it gave none.
        name: the name from the library.
        arguments: the raw text, which the harness parses strictly; or the value, if the library
            parsed the text and the value is not a text.
        value: the value as JSON text, if the library parsed the arguments; None if it did not. What
            JSON does not have is written by its name, such as `Infinity`. It counts instead of
            `arguments`.
        sent: the raw text as the provider sent it, if the library converted the arguments and
            reports it; else "".
        kind: the kind of the call.
        error: why agent code must not execute the call; "" if it may.
    """

    id: str = ""
    name: str = ""
    arguments: Any = ""
    value: str | None = None
    sent: str = ""
    kind: CallKind = "function"
    error: str = ""


class ClientUsage(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The numbers of tokens that the library reports; None if it does not report one."""

    input_tokens: _Count | None = None
    output_tokens: _Count | None = None


class ClientFailure(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The exception that the library raised.

    Fields:
        type: the class of the exception.
        documented: whether the library documents it for failures of a turn; any other one is a
            crash.
        message: the text of the exception.
        code: the provider's error code in the exception; "" if it has none.
    """

    type: str
    documented: bool
    message: str = ""
    code: str = ""


class ClientTurn(_Received, frozen=True, kw_only=True, tag="turn"):
    """The turn that the library gave to agent code.

    Fields:
        id: the id of the case.
        finish: the provider's finish reason as the library gives it; None if it gives none.
        reason: the meaning of the finish, if the library reports it itself; None if agent code gets
            only `finish`, so that the harness translates it.
        refusal: the model's refusal; "" if there is none.
        error: the exception; the other fields contain what was received before it.
    """

    id: int
    text: str = ""
    reasoning: str = ""
    calls: tuple[ClientCall, ...] = ()
    finish: str | None = None
    reason: FinishReason | None = None
    refusal: str = ""
    usage: ClientUsage | None = None
    error: ClientFailure | None = None


AnyCase: TypeAlias = Case | TimedCaseLine
Line: TypeAlias = Hello | AnyCase | Stop
Reply: TypeAlias = Introduction | ClientTurn
