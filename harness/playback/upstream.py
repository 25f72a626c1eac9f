"""Play the provider behind a gateway: a server that answers one open case at a time.

A gateway is configured with one upstream address, so that no address can name the case. The server
behaves like a server of the API: it lists models, keeps connections open, accepts any prefix of the
path, reports the numbers of tokens if the request asks for them, and sends one document if the
request does not ask for a stream. It refuses what the API refuses. It answers one request for each
case. A further one gets status 410, and a request for another API gets status 404.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

import msgspec

from harness.dialects.table import DETECTOR, read_request, request_body
from harness.playback.complete import complete_response
from harness.playback.matching import path_of
from harness.playback.playback import SURPLUS_HEADERS, SURPLUS_STATUS
from harness.playback.refusals import (
    Refusal,
    body_refusal,
    not_found,
    refusal_body,
    refusal_of,
)
from harness.playback.server import AnswerServer
from harness.playback.timed import TimedPlayback, Wait
from harness.playback.transports import Answer
from harness.turns.exact_json import encode_json
from harness.wire.interaction import Interaction, Request
from harness.wire.reads import synthetic_interaction

_MOST_REQUESTS: Final = 20
_JSON: Final = (("content-type", "application/json"),)
_NOT_FOUND: Final = 404
_FIRST_ERROR_STATUS: Final = 400
_DONE: Final = b"data: [DONE]"
_USAGE_MEMBERS: Final = (b'"usage": {', b'"usage":{')
_MODELS: Final = encode_json(
    {
        "object": "list",
        "data": [{"id": "replay", "object": "model", "created": 1_760_000_000, "owned_by": "any"}],
        "models": [{"name": "replay", "model": "replay"}],  # Ollama and Gemini
    }
)
# What an OpenAI server sends before `[DONE]` if the request has `stream_options.include_usage`.
_USAGE_CHUNK: Final = b"data: %b\n\n" % encode_json(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1_760_000_000,
        "model": "replay",
        "choices": [],
        "usage": {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18},
    }
)


class OpenCase(msgspec.Struct):
    """The case that waits for the request of the gateway.

    Fields:
        reads: the body; None after the request came.
        front: the dialect of the gateway's clients; "" if the server accepts every request.
        arrived: the requests that ask for a response, at most `_MOST_REQUESTS`.
        not_played: why the server could not play the response; "" if it could.
        refused: why the API refuses the request that the gateway made; "" if it does not.
    """

    interaction: Interaction
    reads: Iterator[bytes] | None
    front: str = ""
    arrived: list[Request] = msgspec.field(default_factory=list)
    not_played: str = ""
    refused: str = ""


class Upstream(AnswerServer):
    """Answers the first request of the open case with its response.

    Args:
        port: the port with which the gateway is configured; 0 for any free port.
        sends_usage: whether it adds the numbers of tokens to a chat stream without them if the
            request asks for them.
    """

    def __init__(self, port: int = 0, *, sends_usage: bool = True) -> None:
        self._case: OpenCase | None = None
        self._timed: TimedPlayback | None = None
        self._lock = Lock()
        self._sends_usage = sends_usage
        super().__init__(self._answer, port=port, daemon=True)

    @contextmanager
    def open(
        self, interaction: Interaction, reads: Iterable[bytes], front: str = ""
    ) -> Iterator[OpenCase]:
        """Open a case until the block ends; yield it, so that it shows what arrived.

        Args:
            interaction: the response to play.
            reads: its body.
            front: the dialect of the gateway's clients; "" to accept every request.
        """
        case = OpenCase(interaction, filter(None, reads), front)
        with self._lock:
            self._case = case
        try:
            yield case
        finally:
            with self._lock:
                self._case = None

    @contextmanager
    def open_timed(self, playback: TimedPlayback) -> Iterator[None]:
        """Let `playback` answer all requests until the block ends."""
        self._timed = playback
        try:
            yield
        finally:
            self._timed = None

    def _answer(self, request: Request, wait: Wait) -> Answer:
        if request.method in ("GET", "HEAD"):
            return _document(_MODELS, request)
        if (playback := self._timed) is not None:
            return playback.answer(request, wait)
        with self._lock:
            case = self._case
            reads = None if case is None else self._taken(case, request)
        if case is None or reads is None:
            return _surplus(request, case)
        if case.front and (refusal := refusal_of(case.interaction.dialect, request)):
            _note_refusal(case, request, refusal)
            body = refusal_body(case.interaction.dialect, refusal)
            return _document(body, request, refusal.status)
        return self._played(case, request, reads)

    def _played(self, case: OpenCase, request: Request, reads: Iterator[bytes]) -> Answer:
        """Return the response of the case in the form that the request asks for."""
        if case.interaction.status < _FIRST_ERROR_STATUS and not _asks_for_stream(case, request):
            document = complete_response(case.interaction, b"".join(reads))
            if document is None:
                case.not_played = "the gateway asked for a complete response, and not for a stream"
                return _surplus(request, case)
            return _document(document, request)
        if self._sends_usage and _asks_for_usage(case, request):
            reads = iter(_with_usage(list(reads)))
        return case.interaction, self._while_open(case, reads)

    def _taken(self, case: OpenCase, request: Request) -> Iterator[bytes] | None:
        """Note the request, and return the reads if it is the first one for the right API."""
        if len(case.arrived) < _MOST_REQUESTS:
            case.arrived.append(request)
        asked = DETECTOR.dialect_of_path(path_of(request.uri))
        played = DETECTOR.dialect_of_path(path_of(case.interaction.request.uri))
        if asked not in (case.interaction.dialect, played):
            api = asked or "an unknown API"
            case.not_played = (
                f"the gateway asked {path_of(request.uri)} ({api}), and the upstream plays "
                f"{case.interaction.dialect}"
            )
            return None
        reads, case.reads = case.reads, None
        return reads

    def _while_open(self, case: OpenCase, reads: Iterator[bytes]) -> Iterator[bytes]:
        """Yield reads until the case ends, because then no client waits for them."""
        for read in reads:
            if case is not self._case:
                return
            yield read


def _document(body: bytes, request: Request, status: int = 200) -> Answer:
    answer = synthetic_interaction(body, request, status=status, headers=_JSON, dialect="unknown")
    return answer, iter([body])


def _note_refusal(case: OpenCase, request: Request, refusal: Refusal) -> None:
    """Note whether the gateway made a request that is refused, or is configured to pass it on."""
    front, dialect = case.front, case.interaction.dialect
    foreign = body_refusal(dialect, request) if front != dialect else None
    if foreign is not None and body_refusal(front, request) is None:
        case.not_played = (
            f"the gateway's configuration sends a request of {front} to an upstream of {dialect}, "
            f"which refuses it: {foreign.message}"
        )
    elif refusal.about == "key":
        case.not_played = (
            f"the gateway's configuration sends no key to an upstream of {dialect}, which refuses "
            f"it: {refusal.message}"
        )
    else:
        case.refused = refusal.message


def _surplus(request: Request, case: OpenCase | None) -> Answer:
    if case is not None and case.not_played:
        body = not_found(case.interaction.dialect, case.not_played)
        return _document(body, request, _NOT_FOUND)
    message = f"surplus request: expected one request for each case, found {request.uri}"
    body = encode_json({"error": {"type": "surplus_request", "message": message}})
    answer = synthetic_interaction(
        body, request, status=SURPLUS_STATUS, headers=SURPLUS_HEADERS, dialect="unknown"
    )
    return answer, iter([body])


def _asks_for_stream(case: OpenCase, request: Request) -> bool:
    dialect = case.interaction.dialect
    # A header of DashScope's API asks for the stream.
    return dialect == "dashscope" or read_request(dialect, request).stream


def _asks_for_usage(case: OpenCase, request: Request) -> bool:
    options = (request_body(request.body) or {}).get("stream_options")
    asks = isinstance(options, dict) and options.get("include_usage") is True
    return asks and case.interaction.dialect == "openai-chat"


def _with_usage(reads: list[bytes]) -> list[bytes]:
    """Return the reads with a chunk that has the numbers of tokens, unless they have some."""
    body = b"".join(reads)
    at = body.rfind(_DONE)
    has_usage = any(member in body for member in _USAGE_MEMBERS)
    if has_usage or at < 0 or not body[:at].endswith((b"\n\n", b"\r\n\r\n")):
        return reads
    start = 0
    for index, read in enumerate(reads):
        if start <= at < start + len(read):
            split = read[: at - start] + _USAGE_CHUNK + read[at - start :]
            return [*reads[:index], split, *reads[index + 1 :]]
        start += len(read)
    return reads
