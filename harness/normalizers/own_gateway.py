"""The suite's own gateway: it translates between two APIs, or passes through if both are the same.

It is judged like every other gateway, and shows that a correct gateway conforms. Each mutant of the
gateway is this one with one edit. It does no input or output, so that it needs no server.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

import msgspec
from msgspec.structs import replace

from harness.dialects.table import AGENT_DIALECTS, DIALECTS
from harness.normalizers.gateway import UNOFFERED, question_in
from harness.normalizers.gateway.neutral import NeutralRequest, build_request, read_neutral
from harness.normalizers.protocol import CAPABILITIES, Normalizer
from harness.normalizers.respond import respond
from harness.playback.refusals import refusal_of
from harness.results.exchange import Exchange
from harness.turns.deltas import (
    SILENT_FAILURES,
    ArgumentsDelta,
    Delta,
    Finish,
    SealedDelta,
    StreamFailure,
    ToolCallRejected,
)
from harness.turns.exact_json import encode_json
from harness.wire.interaction import Ended, Interaction, Request
from harness.wire.payload import json_or_none

EditRequest: TypeAlias = Callable[[NeutralRequest], NeutralRequest]
EditDeltas: TypeAlias = Callable[[Iterable[Delta]], Iterable[Delta]]
EditBody: TypeAlias = Callable[[bytes], bytes]
EditArrived: TypeAlias = Callable[[tuple[Request, ...]], tuple[Request, ...]]

_FIRST_ERROR_STATUS: Final = 400
_JSON: Final = (("content-type", "application/json"),)
_URL: Final = "http://gateway.example/"


class OwnGateway(msgspec.Struct, frozen=True):
    """A gateway that answers in the API `front`.

    Fields:
        front: the dialect of its clients.
        edit_request: changes the request on the way up; a fault in a mutant.
        edit_deltas: changes the response on the way down; a fault in a mutant.
        edit_body: changes the bytes of the answer; a fault in a mutant.
        edit_arrived: changes the list of requests that are sent upstream; a fault in a mutant.
    """

    front: str
    edit_request: EditRequest | None = None
    edit_deltas: EditDeltas | None = None
    edit_body: EditBody | None = None
    edit_arrived: EditArrived | None = None

    def request(self, asked: Request, dialect: str, uri: str) -> Request:
        """Return the request to send upstream, to `uri`, in `dialect`."""
        neutral = read_neutral(self.front, asked)
        if neutral is None or (dialect == self.front and self.edit_request is None):
            return replace(asked, uri=uri)
        if self.edit_request is not None:
            neutral = self.edit_request(neutral)
        body = build_request(neutral, dialect, "replay", uri) or {}
        headers = (*asked.headers, *DIALECTS[dialect].request_headers)
        return replace(asked, uri=uri, headers=headers, body=encode_json(body))

    def response(self, came: Interaction, asked: Request) -> Interaction:
        """Return the answer in the API of the front for a response from upstream."""
        if came.dialect == self.front and self.edit_deltas is None:
            return self._edited(replace(came, request=asked, dialect=self.front))
        deltas = respond(came, iter([came.body]))
        if self.edit_deltas is not None:
            deltas = iter(self.edit_deltas(deltas))
        answer = came_as(self.front, tuple(deltas), came, asked)
        return self._edited(answer)

    def _edited(self, answer: Interaction) -> Interaction:
        if self.edit_body is None:
            return answer
        return replace(answer, body=self.edit_body(answer.body), reads=())


def came_as(
    front: str, deltas: tuple[Delta, ...], came: Interaction, asked: Request
) -> Interaction:
    """Return `deltas` as a response of the API `front`, with the status of `came`."""
    failure = next((each for each in deltas if isinstance(each, StreamFailure)), None)
    if came.status >= _FIRST_ERROR_STATUS:
        code, message = (failure.code, failure.message) if failure else ("error", "")
        error = {"type": code, "code": code, "message": message}
        body = encode_json({"type": "error", "error": error})
        return Interaction(asked, came.status, _JSON, body, (), dialect=front)
    dialect = DIALECTS[front]
    is_broken = failure is not None and failure.code in SILENT_FAILURES
    said = (it for it in _sayable(deltas) if not (is_broken and isinstance(it, Finish)))
    body = b"".join(dialect.write(tuple(_one_by_one(said)), dialect.writer_options()))
    kind = (("content-type", dialect.content_type),)
    ended: Ended = "truncated" if is_broken else "complete"
    return Interaction(asked, came.status, kind, body, (), dialect=front, ended=ended)


def _sayable(deltas: Iterable[Delta]) -> Iterator[Delta]:
    """Yield the deltas without what only the API of the response has.

    No API has a word for a call that must not run. If its arguments are complete, they lose their
    last character, so that no client executes it.
    """
    deltas = tuple(deltas)
    fragments = [it for it in deltas if isinstance(it, ArgumentsDelta) and it.fragment.strip()]
    rejected = {it.index for it in deltas if isinstance(it, ToolCallRejected)}
    last = {it.index: it for it in fragments if it.index in rejected}
    for index in [*last]:
        text = "".join(it.fragment for it in fragments if it.index == index)
        if json_or_none(text.encode("utf-8", "surrogatepass")) is None:
            del last[index]
    for delta in deltas:
        if isinstance(delta, SealedDelta):
            continue
        if isinstance(delta, ArgumentsDelta) and delta is last.get(delta.index):
            yield replace(delta, fragment=delta.fragment.rstrip().rstrip("}"))
        elif isinstance(delta, Finish):
            yield replace(delta, raw="")
        else:
            yield delta


def _one_by_one(deltas: Iterable[Delta]) -> Iterator[Delta]:
    """Yield all deltas of a call in a row, because some APIs send one block after the other."""
    groups: list[list[Delta]] = []
    of_call: dict[int, list[Delta]] = {}
    was_call = True
    for delta in deltas:
        index = getattr(delta, "index", None)
        if index is None and not was_call:
            groups[-1].append(delta)
        elif index is not None and index in of_call:
            of_call[index].append(delta)
            continue
        else:
            groups.append([delta])
        was_call = index is not None
        if index is not None:
            of_call[index] = groups[-1]
    yield from (delta for group in groups for delta in group)


class _LocalLink:
    """Connects the suite's own gateway to the harness, without a server."""

    def __init__(self, gateway: OwnGateway) -> None:
        self._gateway = gateway
        self.latest: Exchange | None = None

    def prepare(self) -> None:
        """Do nothing: there is nothing to start."""

    def normalize(self, interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
        """Send the question through the gateway, and yield the deltas of its answer."""
        gateway = self._gateway
        asked = question_in(gateway.front, interaction, "replay", _URL, ())
        arrived = gateway.request(asked, interaction.dialect, interaction.request.uri)
        answer = gateway.response(replace(interaction, body=b"".join(reads)), asked)
        requests: tuple[Request, ...] = (arrived,)
        if gateway.edit_arrived is not None:
            requests = gateway.edit_arrived(requests)
        refusal = refusal_of(interaction.dialect, requests[0]) if requests else None
        self.latest = Exchange(answer, requests, refused=refusal.message if refusal else "")
        yield from respond(answer.without_body(), iter([answer.body]))


def own_gateway(gateway: OwnGateway, dialects: Iterable[str] = AGENT_DIALECTS) -> Normalizer:
    """Return the normalizer of a gateway of the suite, for streams of `dialects`."""
    link = _LocalLink(gateway)
    return Normalizer(
        name=f"own-gateway-{gateway.front}",
        normalize=link.normalize,
        dialects=frozenset(dialects),
        capabilities=frozenset(CAPABILITIES) - UNOFFERED,
        streams=False,
        summary=f"the gateway of the suite with the front {gateway.front}",
        front=gateway.front,
        link=link,
    )
