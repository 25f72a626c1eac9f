"""Make a normalizer of a gateway between two APIs: any server with a URL, in any language.

    upstream, API A (a recorded response)  <-  gateway under test  <-  request, API B

The harness plays A upstream, sends the recorded question to the gateway in the API of its front,
and reads the answer. Rules, blame, gate and report treat it as any other normalizer, and judge in
addition what arrived upstream and whether the answer keeps the contract of B.
"""

import atexit
import http.client
from collections.abc import Iterable, Iterator
from functools import cache
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from msgspec.structs import replace

from harness.dialects.table import DIALECTS, request_body
from harness.errors import NormalizerLoadError, UsageError
from harness.normalizers.gateway.exchange import SECONDS, GatewayError, send
from harness.normalizers.gateway.neutral import NO_QUESTION, build_request, read_neutral
from harness.normalizers.gateway.process import GatewayProcess, free_port, is_listening
from harness.normalizers.gateway.settings import GatewaySettings, settings_of
from harness.normalizers.protocol import CAPABILITIES, Normalize, Normalizer
from harness.normalizers.respond import respond
from harness.normalizers.timed.client import Connection, HttpClient
from harness.normalizers.timing import TimedCase, TimedClient
from harness.playback.refusals import refusal_of
from harness.playback.upstream import Upstream
from harness.project import DeclaredNormalizer
from harness.results.exchange import Exchange
from harness.results.translation import require_gateway_policies
from harness.turns.deltas import Delta, Finish, FinishReason, TextDelta
from harness.turns.exact_json import encode_json
from harness.wire.interaction import Interaction, Request
from harness.workers import process_limits

__all__ = ["UNOFFERED", "gateway_normalizer", "question_in"]

_PLAIN_QUESTIONS: Final = 2
_SHOWN: Final = 160
# What a client of the front does not ask for, so that no server answers so.
UNOFFERED = frozenset(
    (
        "aws-framing",
        "calls-in-unknown-members",
        "client-actions",
        "custom-tools",
        "legacy-functions",
        "other-encodings",
        "partial-arguments",
        "realtime-events",
        "repeated-arguments",
        "sessions",
        "several-choices",
    )
)


def gateway_normalizer(text: str, declared: DeclaredNormalizer | None = None) -> Normalizer:
    """Return the normalizer of a gateway. It starts nothing before its first cell.

    Args:
        text: the text after `gateway:`, as in `settings_of`.
        declared: the declaration of the project; None without one.

    Raises:
        NormalizerLoadError: the settings cannot be used.
    """
    settings = settings_of(text, declared)
    require_gateway_policies((declared.policies if declared else None) or {}, f"gateway:{text}")
    gateway = _gateway(settings)
    reader = gateway.reader
    return Normalizer(
        name=f"gateway:{text}",
        normalize=gateway.normalize,
        dialects=frozenset(DIALECTS),
        capabilities=frozenset(CAPABILITIES) - UNOFFERED,
        streams=False,  # the answer comes as a whole, so how promptly text comes is not judged
        role="peer",
        kind="gateway" if reader is None else reader.kind,
        hides=frozenset() if reader is None else reader.hides,
        summary=f"gateway with the front {settings.front}",
        front=settings.front,
        parallel=settings.is_parallel,
        link=gateway,
        timed=TimedClient(gateway.run_timed),
    )


@cache
def _gateway(settings: GatewaySettings) -> "_Gateway":
    gateway = _Gateway(settings)
    atexit.register(gateway.close)
    return gateway


def question_in(
    front: str, interaction: Interaction, model: str, url: str, headers: Iterable[tuple[str, str]]
) -> Request:
    """Return the question of a recorded request in the API `front`.

    A request that was recorded in this API is sent as it is, but for the name of the model.
    """
    neutral = read_neutral(interaction.dialect, interaction.request)
    recorded = request_body(interaction.request.body) if interaction.dialect == front else None
    if recorded is None:
        body = build_request(neutral or NO_QUESTION, front, model, url) or {}
    else:
        body = recorded | ({"model": model} if "model" in recorded else {})
    if front == "openai-chat":  # an SDK asks for the numbers of tokens by this option
        body["stream_options"] = {"include_usage": True}
    given = {
        "content-type": "application/json",
        "accept": DIALECTS[front].content_type,
        "authorization": "Bearer none",
        **dict(DIALECTS[front].request_headers),
        **dict(headers),
    }
    return Request("POST", url, tuple(given.items()), encode_json(body))


class _Gateway:
    """Holds the process of a gateway and its upstream, which start with the first cell.

    Attributes:
        latest: the exchange of the last call of `normalize`; None before the first.
    """

    def __init__(self, settings: GatewaySettings) -> None:
        self._settings = settings
        self._upstream: Upstream | None = None
        self._process: GatewayProcess | None = None
        self._url = settings.url.replace("{model}", settings.model)
        self._answers = False  # a plain question, at least once
        self.latest: Exchange | None = None
        self.reader = _reader(settings)

    def close(self) -> None:
        """Stop the process and the upstream."""
        process, self._process = self._process, None
        upstream, self._upstream = self._upstream, None
        if process is not None:
            process.close()
        if upstream is not None:
            upstream.__exit__()

    def prepare(self) -> None:
        """Start the upstream and the gateway, if they do not run.

        Raises:
            NormalizerLoadError: the port of the upstream is in use, or the gateway does not run.
        """
        if self._upstream is None:
            port = self._settings.upstream
            upstream = Upstream(port, sends_usage=self._settings.sends_usage)
            try:
                upstream.__enter__()
            except UsageError as error:
                raise NormalizerLoadError(
                    error.what,
                    where=f"the upstream of {self._settings.url}",
                    hint="Stop what uses the port. Only one process can play the upstream: run "
                    "pytest with -n 0.",
                ) from None
            self._upstream = upstream
        if self._settings.command:
            self._ensure_process(int(urlsplit(self._upstream.base_url).port or 0))
            return
        at = urlsplit(self._url)
        if not is_listening(at.hostname or "", at.port or (443 if at.scheme == "https" else 80)):
            hint = "Start it first, or name its `command`."
            raise NormalizerLoadError("nothing listens there", where=self._url, hint=hint)

    def _ensure_process(self, upstream: int) -> None:
        if self._process is None:
            is_open = "{port}" in self._url
            port = free_port() if is_open else int(urlsplit(self._url).port or 0)
            self._process = GatewayProcess(self._settings.command, port, upstream)
            self._url = self._url.replace("{port}", str(port))
        if self._process.ensure():
            self._warm_up()

    def _warm_up(self) -> None:
        """Send plain questions that are not judged, until one is answered.

        Some gateways load on the first what they need. If a gateway never answers a plain stream,
        its installation or its configuration is at fault, and each cell would accuse it of that.

        Raises:
            NormalizerLoadError: it answers each with an error status.
        """
        asked = DIALECTS[self._settings.asks]
        if "" not in asked.request_forms:
            return
        request = asked.request_forms[""].first_request("replay", "Hi.", ())
        said = (TextDelta("Hi."), Finish(FinishReason.STOP, "stop"))
        body = b"".join(asked.write(said, asked.writer_options()))
        kind = (("content-type", asked.content_type),)
        plain = Interaction(request, 200, kind, body, (), dialect=asked.name)
        for _ in range(_PLAIN_QUESTIONS):
            process_limits.renew(SECONDS)
            try:
                exchange = self._exchange(plain, iter([body]))
            except GatewayError:
                return  # the cell says what is wrong
            is_judged = exchange.not_played or exchange.refused  # or said why it is not
            if is_judged or exchange.answer.status < HTTPStatus.BAD_REQUEST:
                self._answers = True
            if self._answers:
                return
        answer = exchange.answer
        shown = answer.body[:_SHOWN].decode("utf-8", "replace")
        raise NormalizerLoadError(
            f"it answers a plain text with HTTP {answer.status}: {shown}",
            where=self._url,
            hint="Its installation or its configuration is at fault, so no cell is judged.",
        )

    def normalize(self, interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
        """Send the question to the gateway, and yield the deltas of its answer."""
        self.latest = None
        self.latest = exchange = self._exchange(interaction, reads)
        if exchange.not_played:
            return
        read: Normalize = respond if self.reader is None else self.reader.normalize
        yield from read(exchange.answer.without_body(), iter([exchange.answer.body]))

    def _exchange(self, interaction: Interaction, reads: Iterable[bytes]) -> Exchange:
        if self._upstream is None:
            raise GatewayError("`prepare` was not called")
        settings = self._settings
        port = str(urlsplit(self._upstream.base_url).port)
        headers = [(name, value.replace("{upstream}", port)) for name, value in settings.headers]
        question = question_in(settings.front, interaction, settings.model, self._url, headers)
        # If a recorded question is one that the API refuses, the gateway may pass it on.
        strict = "" if refusal_of(settings.front, question) else settings.front
        with self._upstream.open(interaction, reads, strict) as case:
            answer = send(question, settings.front)
        return Exchange(answer, tuple(case.arrived), case.not_played, case.refused)

    def run_timed(self, case: TimedCase) -> Iterator[Delta]:
        """Ask the gateway as a client with the times of `case`, and yield what it gets.

        The client keeps the rules about time, so that the gateway decides what is left of them.
        """
        self.prepare()
        settings = self._settings
        question = question_in(
            settings.front, case.interaction, settings.model, self._url, settings.headers
        )
        if self._upstream is None or case.playback is None:
            raise GatewayError("there is no upstream")
        asked = Interaction(question, 200, (), b"", (), dialect=settings.front)
        with self._upstream.open_timed(case.playback):
            yield from _FrontClient().run(replace(case, interaction=asked))


class _FrontClient(HttpClient):
    """Sends the request of a case to its own address, and not below the address of the server."""

    def send(self, case: TimedCase) -> Connection:
        request = case.interaction.request
        at = urlsplit(request.uri)
        sender = http.client.HTTPConnection(at.netloc, timeout=self.timeout(case))
        path = at.path + (f"?{at.query}" if at.query else "")
        sender.request("POST", path, request.body, dict(request.headers))
        return sender.sock, sender.getresponse()


def _reader(settings: GatewaySettings) -> Normalizer | None:
    """Return the normalizer that reads the answers; None for the readers of the harness.

    Raises:
        NormalizerLoadError: it does not read the API of the front.
    """
    if not settings.read_with:
        return None
    from harness.normalizers.discovery import load_normalizer  # noqa: PLC0415 - it finds gateways, too

    reader = load_normalizer(settings.read_with)
    if settings.front not in reader.dialects:
        raise NormalizerLoadError(
            f"{reader.name} does not read {settings.front}", where=settings.url
        )
    return reader
