"""Play many recordings at once: each has its own base URL, and its id is also a model name.

    /ID/...                           any path of the API below the base URL of a recording
    /cuts=seams/fault=reset@300/ID    the same with options of `harness.playback.delivery`
    /v1/...                           the model that the request names is the id, with or without
                                      options in front of it
    /, /index.json                    the index

Nothing is stored between two requests, so any number of clients may use the same base URL. If a
recording has several interactions, the one answers whose recorded request contains as many turns
of the model as the request that was sent.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher, get_close_matches
from functools import cached_property, lru_cache
from http import HTTPStatus
from threading import Lock
from typing import Any, Final
from urllib.parse import quote, unquote

import msgspec

from harness.dialects.table import DETECTOR, message_form, request_body
from harness.errors import UsageError
from harness.playback.delivery import OPTIONS, Delivery, Wait
from harness.playback.endpoints import model_document
from harness.playback.matching import path_of
from harness.playback.server import MOST_CONNECTIONS, AnswerServer
from harness.playback.timed import TimedPlayback
from harness.playback.transports import Answer
from harness.wire.cassette import Cassette
from harness.wire.interaction import Headers, Interaction, Request

INDEX_NAME: Final = "index.json"

# Larger documents are sent in several reads, because each connection copies one read.
_READ_BYTES: Final = 65_536
_MOST_HISTORY_BYTES: Final = 2 * 1024 * 1024
_NAMES_KEPT: Final = 256
_MOST_ID_CHARS: Final = 200
_MOST_NEAR: Final = 3
_NEAR: Final = 0.6
_READING: Final = ("GET", "HEAD")
_JSON: Final[Headers] = (("content-type", "application/json"), ("x-should-retry", "false"))
_MODEL_IN_PATH: Final = re.compile(
    r"/models?/(.+?)(?::\w+|/converse(?:-stream)?|/invoke(?:-with-response-stream)?)$"
)


class Recording(msgspec.Struct, frozen=True, dict=True):
    """A scenario or cassette that the server plays.

    Fields:
        id: the id of the scenario or cassette, such as `qwen/two-calls`.
        cassette: a cassette with at least one interaction.
        describe: returns further facts about it for the index.
        timed: plays the script of a timing scenario instead of the turns; None for all others.
    """

    id: str
    cassette: Cassette
    describe: Callable[[], dict[str, Any]] = dict
    timed: TimedPlayback | None = None

    @cached_property
    def replies(self) -> tuple[int, ...]:
        """For each recorded request, the number of turns of the model that it contains."""
        return tuple(_replies(each, each.request.body) for each in self.cassette.interactions)


class SelectionServer(AnswerServer):
    """Serves recordings while its `with` block runs.

    Args:
        recordings: the recordings, whose ids must differ.
        delivery: how answers are delivered, unless the path of a request changes that.
        port: 0 for any free port.
        most_connections: further connections get status 503.

    Attributes:
        played: number of requests that a recording answered.
        refused: number of requests that got an error of the server.

    Raises:
        UsageError: the port is not available when the block begins.
    """

    def __init__(
        self,
        recordings: Iterable[Recording],
        delivery: Delivery | None = None,
        *,
        port: int = 0,
        most_connections: int = MOST_CONNECTIONS,
    ) -> None:
        self._recordings = {each.id: each for each in recordings}
        self._nearest = lru_cache(_NAMES_KEPT)(self._find_nearest)
        self._longest = max((each.count("/") + 1 for each in self._recordings), default=0)
        self._delivery = delivery or Delivery()
        self._lock = Lock()
        self._indexing = Lock()
        self._parsing = Lock()
        self.played = self.refused = 0
        super().__init__(self._answer, port=port, most_connections=most_connections)

    @cached_property
    def _index(self) -> bytes:
        rows = list(map(self._row, self._recordings.values()))
        return msgspec.json.encode(
            {"base_url": self.base_url, "options": OPTIONS, "recordings": rows}
        )

    def url_of(self, recording: Recording) -> str:
        """Return the base URL of a recording, after the block began."""
        return self.base_url + _path(recording.id)

    def _row(self, recording: Recording) -> dict[str, Any]:
        cassette, path = recording.cassette, _path(recording.id)
        return {
            "id": recording.id,
            "dialect": cassette.dialect,
            "base_url": self.url_of(recording),
            "path": path,
            "model": recording.id,
            "endpoint": path_of(cassette.interactions[0].request.uri),
            "interactions": len(cassette.interactions),
            "provider": cassette.provider,
            "recorded_model": cassette.model,
            **recording.describe(),
        }

    def _answer(self, request: Request, wait: Wait) -> Answer:
        try:
            answer = self._list(request) or self._play(request, wait)
        except _RefusedError as error:
            with self._lock:
                self.refused += 1
            return _document(msgspec.json.encode(error.document), error.status)
        with self._lock:
            self.played += request.method not in _READING
        return answer

    def _list(self, request: Request) -> Answer | None:
        """Return the index, its entry for a recording, or a list of models; else None."""
        if request.method not in _READING:
            return None
        _, parts = self._options(_parts(request), self._delivery)
        if parts in ([], [INDEX_NAME]):
            with self._indexing:  # the first request makes the index
                return _document(self._index)
        recording, rest = self._find(parts)
        if recording is not None and not rest:
            return _document(msgspec.json.encode(self._row(recording)))
        ids = tuple(self._recordings) if recording is None else (recording.id,)
        models = model_document("/" + "/".join(rest), ids)
        return None if models is None else _document(models)

    def _play(self, request: Request, wait: Wait) -> Answer:
        delivery, parts = self._options(_parts(request), self._delivery)
        recording, rest = self._find(parts)
        model = ""
        if recording is None and (model := _model_of(request)):
            delivery, name = self._options(model.split("/"), delivery)
            model = "/".join(name)
            recording = self._recordings.get(model)
        if recording is None:
            raise self._unknown(parts, model)
        if recording.timed is not None:
            return recording.timed.answer(request, wait)
        interaction = self._interaction(recording, delivery.turn, request)
        _check_endpoint(recording, interaction, rest)
        return delivery.deliver(interaction, delivery.reads(interaction), wait)

    def _options(self, parts: list[str], delivery: Delivery) -> tuple[Delivery, list[str]]:
        """Split a path: return `delivery` with the options at its beginning, and the rest."""
        for place, part in enumerate(parts):
            name, is_option, value = part.partition("=")
            if not is_option or self._find(parts[place:])[0] is not None:  # an id may have a `=`
                return delivery, parts[place:]
            try:
                delivery = delivery.with_option(name, value)
            except UsageError as error:
                raise _RefusedError(400, "invalid_option", str(error)) from None
        return delivery, []

    def _find(self, parts: list[str]) -> tuple[Recording | None, list[str]]:
        """Return the recording with the longest id at the start of a path, and the path's rest."""
        for size in range(min(len(parts), self._longest), 0, -1):
            found = self._recordings.get("/".join(parts[:size]))
            if found is not None:
                return found, parts[size:]
        return None, parts

    def _interaction(self, recording: Recording, turn: int | None, request: Request) -> Interaction:
        interactions = recording.cassette.interactions
        if turn is not None:
            if turn <= len(interactions):
                return interactions[turn - 1]
            message = f"turn: expected at most {len(interactions)} for {recording.id}, found {turn}"
            raise _RefusedError(404, "no_such_turn", message)
        if len(interactions) == 1:
            return interactions[0]
        if len(request.body) > _MOST_HISTORY_BYTES:
            message = "the body is too large to count its turns; put turn=1 in front of the id"
            raise _RefusedError(413, "request_too_large", message)
        with self._parsing:  # one at a time, because a parsed body takes many times its size
            sent = _replies(interactions[0], request.body)
        if sent < recording.replies[0]:
            return interactions[0]
        if sent in recording.replies:
            return interactions[recording.replies.index(sent)]
        message = (
            f"surplus request: it contains {sent} turns of the model; the {len(interactions)} "
            f"requests of {recording.id} contain {', '.join(map(str, recording.replies))}"
        )
        raise _RefusedError(410, "no_interaction_left", message)

    def _unknown(self, parts: Sequence[str], model: str) -> "_RefusedError":
        path = "/" + "/".join(parts)[:_MOST_ID_CHARS]
        model = model[:_MOST_ID_CHARS]
        near = self._nearest((model, *_beginnings(parts, self._longest)))
        found = f"the path {path!r}" + (f" and the model {model!r}" if model else "")
        hint = f"Did you mean {' or '.join(map(repr, near))}? " if near else ""
        return _RefusedError(
            HTTPStatus.NOT_FOUND,
            "unknown_id",
            f"expected the id of a scenario or recording in the path or as the model, found "
            f"{found}. {hint}The index is at {self.base_url}/{INDEX_NAME}",
            nearest=[{"id": each, "base_url": self.base_url + _path(each)} for each in near],
            index=f"{self.base_url}/{INDEX_NAME}",
        )

    def _find_nearest(self, names: tuple[str, ...]) -> list[str]:
        """Return the ids that are most similar to one of `names`, the most similar first."""
        ids = list(self._recordings)
        found = {
            near: SequenceMatcher(None, near, name).ratio()
            for name in names
            for near in get_close_matches(name, ids, _MOST_NEAR, _NEAR)
        }
        return sorted(found, key=lambda near: -found[near])[:_MOST_NEAR]


class _RefusedError(Exception):
    """The server refuses a request, because no recording answers it."""

    def __init__(self, status: int, code: str, message: str, **more: object) -> None:
        super().__init__(message)
        self.status = status
        error = {"code": code, "type": "replay_server", "message": message}
        # AWS SDKs report the member `message`, all others that of `error`.
        self.document = {"error": error | more, "message": message}


class _Named(msgspec.Struct):
    """The key `model` of a request's JSON body; other keys are ignored."""

    model: str = ""


def _document(body: bytes, status: int = HTTPStatus.OK) -> Answer:
    answer = Interaction(Request(), status, _JSON, body, ())
    starts = range(0, len(body), _READ_BYTES)
    return answer, (body[start : start + _READ_BYTES] for start in starts)


def _parts(request: Request) -> list[str]:
    return [unquote(part) for part in path_of(request.uri).split("/") if part]


def _path(name: str) -> str:
    return "/" + quote(name, safe="/:")


def _model_of(request: Request) -> str:
    """Return the model that a request names in its body or its path; "" if none."""
    try:
        model = msgspec.json.decode(request.body, type=_Named).model
    except (msgspec.DecodeError, RecursionError):
        model = ""
    in_path = _MODEL_IN_PATH.search(unquote(path_of(request.uri)))
    return model or (in_path[1] if in_path else "")


def _replies(interaction: Interaction, body: bytes) -> int:
    """Return how many turns of the model the request `body` contains."""
    parsed = request_body(body)
    if parsed is None:
        return 0
    messages = message_form(interaction.dialect).messages_of(parsed)
    return sum(isinstance(it, dict) and it.get("role") == "assistant" for it in messages)


def _check_endpoint(recording: Recording, interaction: Interaction, rest: Sequence[str]) -> None:
    """Reject a request to another API, or to an endpoint that does not return turns."""
    recorded = path_of(interaction.request.uri)
    sent = "/" + "/".join(rest)
    dialect = DETECTOR.dialect_of_path(sent)
    if not rest or sent.rpartition("/")[2] == recorded.rpartition("/")[2]:
        return
    if not dialect or dialect != DETECTOR.dialect_of_path(recorded):
        raise _RefusedError(
            HTTPStatus.NOT_FOUND,
            "wrong_endpoint",
            f"{recording.id} is a recording of {interaction.dialect}: expected a path that ends as "
            f"{recorded[-_MOST_ID_CHARS:]!r}, found {sent[-_MOST_ID_CHARS:]!r}",
        )


def _beginnings(parts: Sequence[str], most: int) -> Iterator[str]:
    """Yield the ids that the author of a path may have meant: its first parts."""
    for size in range(1, min(len(parts), most) + 1):
        yield "/".join(parts[:size])[:_MOST_ID_CHARS]
