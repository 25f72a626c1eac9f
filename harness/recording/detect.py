"""One interaction -> its dialect, how sure that is, and why.

The request says what the client meant (address, then headers, then body), the first events
what the server wrote. The two together are certain, one of them is likely; where they
disagree the bytes are right, but an error or a page tells nothing against the address.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, Final, Literal

import msgspec

from harness.dialects.kit import detect as marks
from harness.dialects.kit.detect import Mark, first_mark
from harness.errors import StreamError
from harness.providers import UNKNOWN
from harness.wire.frames import Frame
from harness.wire.framing import iter_frames as frames_of
from harness.wire.interaction import Interaction, Request
from harness.wire.payload import NotJson, decode_json

Confidence = Literal["certain", "likely", "guess", "unknown"]

MOST_EVENTS: Final = 12
# Events are taken from so much of the body at a time, so that a long one is not read whole.
_STEP = 1 << 16


class Detected(msgspec.Struct, frozen=True):
    """The dialect of one interaction.

    Fields:
        dialect: "unknown" where nothing tells it.
        confidence: certain: request and response agree, or the user said it; likely: one of
            them tells it; guess: only something that other dialects have too.
        because: what told it, in words.
        against: the dialect that the request says where the events say another; "" where
            nothing contradicts.
    """

    dialect: str = UNKNOWN
    confidence: Confidence = "unknown"
    because: str = "neither the request nor the first events tell it"
    against: str = ""

    @property
    def doubtful(self) -> bool:
        """Whether a person should look at it."""
        return self.confidence == "guess" or bool(self.against)


# How an address goes on before its query -> the dialect; the first match counts.
_PATHS: Final = tuple(
    (re.compile(pattern), dialect)
    for pattern, dialect in (
        (r"/chat/completions$", marks.OPENAI_CHAT),
        (r"/responses$", marks.RESPONSES),
        (r"/completions$", marks.COMPLETIONS),
        (r"/messages$", marks.ANTHROPIC),
        (r"publishers/anthropic/models/[^/]+:(?:streamR|r)awPredict$", marks.ANTHROPIC),
        (r"publishers/mistralai/models/[^/]+:(?:streamR|r)awPredict$", marks.MISTRAL),
        (r":(?:streamG|g)enerateContent$", marks.GEMINI),
        (r"/interactions$", marks.INTERACTIONS),
        (r"/api/(?:chat|generate)$", marks.OLLAMA),
        (r"/model/[^/]+/converse(?:-stream)?$", marks.CONVERSE),
        (r"/model/[^/]*anthropic\.[^/]+/invoke(?:-with-response-stream)?$", marks.ANTHROPIC),
        (r"/model/[^/]*meta\.[^/]+/invoke(?:-with-response-stream)?$", marks.LLAMA),
        (r"/model/[^/]*openai\.[^/]+/invoke(?:-with-response-stream)?$", marks.OPENAI_CHAT),
        (r"/v[12]/chat$", marks.COHERE),
        (r"/services/aigc/", marks.DASHSCOPE),
        (r"/generate_stream$", marks.TGI),
    )
)
_REQUEST_HEADERS: Final = {
    "anthropic-version": marks.ANTHROPIC,
    "anthropic-beta": marks.ANTHROPIC,
    "x-goog-api-key": marks.GEMINI,
    "x-goog-api-client": marks.GEMINI,
    "x-dashscope-sse": marks.DASHSCOPE,
}
_REQUEST_KEYS: Final = {
    "anthropic_version": marks.ANTHROPIC,
    "contents": marks.GEMINI,
    "inferenceConfig": marks.CONVERSE,
    "toolConfig": marks.CONVERSE,
    "inputs": marks.TGI,
    "input": marks.RESPONSES,
}
_CONTENT_TYPES: Final = {
    "application/vnd.amazon.eventstream": marks.CONVERSE,
    "application/x-ndjson": marks.OLLAMA,
}

# Dialects whose events may look like those of another: only the provider tells them apart.
_LOOKS_LIKE: Final = {marks.MISTRAL: marks.OPENAI_CHAT}
# (provider, dialect that its spelling seems to be) -> the one that it is.
_OWN_DIALECTS: Final = {("mistral", marks.OPENAI_CHAT): marks.MISTRAL}


class _Hint(msgspec.Struct, frozen=True):
    """What one part of the interaction tells."""

    dialect: str
    said: str
    firm: bool = True


_NOTHING: Final = _Hint(UNKNOWN, "", firm=False)


def detect(interaction: Interaction, by: str = UNKNOWN) -> Detected:
    """Return the dialect of a response of the provider `by`."""
    asked = _own(_asked(interaction.request), by)
    mark = first_mark(_named_events(interaction.body))
    told = _own(_Hint(mark.dialect, f"the first events ({mark.said})", firm=mark.strong), by)
    if told.firm:
        return _by_events(asked, told, mark)
    return _without_events(asked, told, interaction)


def first_events(body: bytes) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects among the first events of `body`, or the one it is."""
    return (event for event, _ in _named_events(body) if isinstance(event, dict))


def _by_events(asked: _Hint, told: _Hint, mark: Mark) -> Detected:
    if asked.dialect == UNKNOWN:
        return Detected(told.dialect, "likely", told.said)
    if asked.dialect == told.dialect or _LOOKS_LIKE.get(asked.dialect) == mark.dialect:
        return Detected(asked.dialect, "certain", f"{asked.said} and {told.said}")
    if _LOOKS_LIKE.get(told.dialect) == asked.dialect:
        return Detected(told.dialect, "certain", f"{asked.said} and {told.said}")
    because = f"{told.said}, though {asked.said} says {asked.dialect}"
    return Detected(told.dialect, "likely", because, asked.dialect)


def _without_events(asked: _Hint, told: _Hint, interaction: Interaction) -> Detected:
    """Decide where the response is empty, an error, a page or nothing that is known."""
    if asked.firm:
        return Detected(asked.dialect, "likely", f"{asked.said}; the response does not tell")
    hints = (asked, told, _by_content_type(interaction.header("content-type")))
    hint = next((hint for hint in hints if hint.dialect != UNKNOWN), None)
    return Detected(hint.dialect, "guess", hint.said) if hint else Detected()


def _own(hint: _Hint, by: str) -> _Hint:
    own = _OWN_DIALECTS.get((by, hint.dialect))
    return msgspec.structs.replace(hint, dialect=own) if own else hint


def _asked(request: Request) -> _Hint:
    """Return what the request tells: the first of its parts that tells anything."""
    hints = (tells(request) for tells in _PARTS)
    return next((hint for hint in hints if hint), _NOTHING)


def _by_address(request: Request) -> _Hint | None:
    path = request.uri.partition("?")[0]
    found = next((dialect for ending, dialect in _PATHS if ending.search(path)), None)
    return _Hint(found, "the address") if found else None


def _by_header(request: Request) -> _Hint | None:
    names = (name.lower() for name, _ in request.headers)
    known = next((name for name in names if name in _REQUEST_HEADERS), None)
    return _Hint(_REQUEST_HEADERS[known], f"the header {known}", firm=False) if known else None


def _by_body(request: Request) -> _Hint | None:
    value = _decoded(request.body) if request.body else None
    if not isinstance(value, dict):
        return None
    key = next((key for key in _REQUEST_KEYS if key in value), None)
    return _Hint(_REQUEST_KEYS[key], f"{key} in the request", firm=False) if key else None


_PARTS: Final[tuple[Callable[[Request], _Hint | None], ...]] = (_by_address, _by_header, _by_body)


def _by_content_type(content_type: str) -> _Hint:
    plain = content_type.partition(";")[0].strip().lower()
    dialect = _CONTENT_TYPES.get(plain)
    return _Hint(dialect, f"the content type {plain}", firm=False) if dialect else _NOTHING


def _named_events(body: bytes) -> Iterator[tuple[object, str]]:
    """Yield the values of the first frames of `body` with their names."""
    try:
        for frame in islice(_frames(body), MOST_EVENTS):
            yield _decoded(frame.data), frame.event
    except StreamError:  # larger than any event: no event to tell by
        return


def _frames(body: bytes) -> Iterator[Frame]:
    return frames_of(body[start : start + _STEP] for start in range(0, len(body), _STEP))


def _decoded(data: bytes) -> object:
    try:
        return decode_json(data)
    except NotJson:
        return None
