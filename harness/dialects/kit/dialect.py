"""Define the facts about one API that shared code needs, as a table row for each dialect."""

import re
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

import msgspec

from harness.dialects.kit.build_request import BuildRequest, RequestForm
from harness.dialects.kit.detect import Detection
from harness.dialects.kit.options import Options
from harness.dialects.kit.oracle.dispatch import Oracle
from harness.dialects.kit.parse_request import CHAT_MESSAGES, ChatRequest, Json, MessageForm
from harness.dialects.kit.reader import ReadFrames
from harness.dialects.kit.sessions import SessionForm
from harness.turns.deltas import Delta
from harness.wire.interaction import Headers, Interaction, Request
from harness.wire.reads import synthetic_interaction

# What the SDKs of Amazon Bedrock and Google Vertex AI append to the address of their cloud.
_OF_CLOUDS = r"/model/[^/]+/invoke[\w-]*|/v1\w*/projects/.+"

WriteDeltas: TypeAlias = Callable[..., tuple[bytes, ...]]
ParseRequest: TypeAlias = Callable[[str, Json], ChatRequest]


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """Registers one provider API for import, runs, recording and fuzzing.

    Fields:
        name: a stable name such as `openai-chat`.
        reference: the URL of the provider's documentation, which the oracle follows.
        read: a function that yields the deltas of a response, given its frames and the names of
            the declared tools. It is lazy, and no content of a stream makes it raise.
        write: a function that returns the bytes of each frame, given deltas and options; joined,
            the frames are a body.
        writer_options: the options of `write`. Each one is a quirk, and its default is what the
            API documents.
        oracle: reads one body by the contract of the API; make a new one for each body.
        parse_request: a function that returns the content of a request, given its address and
            JSON body. It never raises.
        request_forms: requests of emulated cassettes by variant; the variant "" is the usual one.
        detection: how the API is recognized by requests and events.
        record_path: the path below a server's address to which `harness record` sends requests;
            "" if it cannot send requests to this API.
        base_url_variable: the environment variable from which the SDKs of the API's provider read
            their base URL; "" if they read none.
        below_base_url: a regular expression for the path that these SDKs append to it; "" if the
            address of a request is the base URL.
        messages: where a request contains messages and tools.
        build_request: a function that returns the body for a history; None if agents do not
            support the API.
        request_headers: headers that each request needs.
        content_type: the content type of its streams.
        done: whether the API sends `[DONE]`, gateways add it, or neither does.
        unknown_events: events that the API does not define, which clients must ignore.
        meaningful_options: writer options that change the turn, and not only its format.
        option_needs: for a writer option, the capability that a client needs for other values
            than the default.
        arguments: the format of a call's arguments; "none" if the API has no calls.
        has_call_ids: calls have ids.
        can_require_tool: a request may name the tool that the model must call.
        id_pattern: a regular expression that ids must match in full; "" for any.
        may_send_snapshots: an event may contain all the text so far, so that text which repeats
            itself is ambiguous.
        sealed_kind: the API's name for data of the reasoning before a call that only the provider
            can read; "" if the harness reads no such data of the API.
        has_text_call_clients: some clients of the API read text calls.
        sessions: the messages of the API over WebSocket; None if it has no sessions.
    """

    name: str
    reference: str
    read: ReadFrames
    write: WriteDeltas
    writer_options: type[Options]
    oracle: type[Oracle]
    parse_request: ParseRequest
    request_forms: Mapping[str, RequestForm]
    detection: Detection
    messages: MessageForm = CHAT_MESSAGES
    build_request: BuildRequest | None = None
    request_headers: Headers = ()
    record_path: str = ""
    base_url_variable: str = ""
    below_base_url: str = ""
    content_type: str = "text/event-stream"
    done: Literal["sent", "added", "never"] = "never"
    unknown_events: tuple[Json, ...] = ()
    meaningful_options: frozenset[str] = frozenset()
    option_needs: Mapping[str, str] = MappingProxyType({})
    arguments: Literal["text", "object", "none"] = "text"
    has_call_ids: bool = True
    can_require_tool: bool = True
    id_pattern: str = ""
    may_send_snapshots: bool = False
    sealed_kind: str = ""
    has_text_call_clients: bool = False
    sessions: SessionForm | None = None

    def base_of(self, path: str) -> str:
        """Return the base URL that an SDK needs to send requests to `path`."""
        return re.sub(f"(?:{_OF_CLOUDS}|{self.below_base_url})$", "", path)

    def interaction(
        self,
        deltas: Iterable[Delta],
        options: Options | None = None,
        request: Request | None = None,
        *,
        tools: tuple[Json, ...] = (),
    ) -> Interaction:
        """Return an interaction whose body encodes `deltas`, without any network.

        Args:
            deltas: the deltas to encode.
            options: how to write them; None for the defaults.
            request: the request of the interaction.
            tools: the tools that the prompt describes.

        Raises:
            ValueError: the API cannot encode the deltas.
        """
        return synthetic_interaction(
            b"".join(self.write(deltas, options or self.writer_options())),
            request,
            headers=(("content-type", self.content_type),),
            dialect=self.name,
            tools=tools,
        )
