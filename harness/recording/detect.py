"""Detect the dialect of one interaction, with a confidence and a reason.

The request (address, then headers, then body) shows the dialect of the client, and the first events
show that of the server. If both agree, the result is certain. If only one shows a dialect, the
result is likely. If they disagree, the events count, but an error or a page does not contradict the
address.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final, Literal

import msgspec

from harness.dialects.kit.detect import Detector, Mark
from harness.dialects.table import DETECTOR
from harness.errors import StreamError
from harness.providers import UNKNOWN
from harness.recording.unread_apis import unread_api
from harness.wire.frames import Frame
from harness.wire.framing import iter_frames as frames_of
from harness.wire.interaction import Interaction, Request
from harness.wire.payload import json_or_none

Confidence = Literal["certain", "likely", "guess", "unknown"]

MOST_EVENTS: Final = 12
# Members of a request's body with what the model gets.
_INPUTS: Final = frozenset({"contents", "input", "messages", "prompt"})
# Members of requests and responses of OAuth (RFC 6749, sections 4 and 5), and those of AWS.
_TOKENS: Final = frozenset({"accessToken", "access_token", "grantType", "grant_type"})
_FORM: Final = re.compile(rb"(?:[^{\s].*&)?grant_type=", re.DOTALL)
# The body is framed in steps, so that a long one is not read completely.
_STEP = 1 << 16


class Detected(msgspec.Struct, frozen=True):
    """The detected dialect of one interaction, and how certain it is.

    Fields:
        dialect: the name; "unknown" if no part of the interaction shows the dialect.
        confidence: `certain` if request and response agree, or the user named the dialect; `likely`
            if one of the two shows it; `guess` if there is only a feature that other dialects have,
            too.
        because: the reason.
        against: the dialect that the request shows if the events show another one, else "".
    """

    dialect: str = UNKNOWN
    confidence: Confidence = "unknown"
    because: str = "neither the request nor the first events show it"
    against: str = ""

    @property
    def doubtful(self) -> bool:
        """Whether the user should check the detected dialect."""
        return self.confidence == "guess" or bool(self.against)


class _Hint(msgspec.Struct, frozen=True):
    """The dialect that one part of the interaction shows.

    Fields:
        label: the feature that shows it.
        firm: False if other dialects have this feature, too.
    """

    dialect: str
    label: str
    firm: bool = True


_NOTHING: Final = _Hint(UNKNOWN, "", firm=False)


def detect(interaction: Interaction, by: str = UNKNOWN, detector: Detector = DETECTOR) -> Detected:
    """Return the dialect of an interaction, with a confidence and a reason.

    Args:
        interaction: the interaction.
        by: the provider that sent the response, if it is known.
        detector: the tables of features of the dialects.
    """
    if api := unsupported_api(interaction, detector):
        return Detected(because=f"no dialect reads {api}")
    request = _of_provider(_request_hint(interaction.request, detector), by, detector)
    mark = detector.first_mark(_named_events(interaction.body))
    label = f"the first events ({mark.label})"
    events = _of_provider(_Hint(mark.dialect, label, firm=mark.strong), by, detector)
    if events.firm:
        return _by_events(request, events, mark, detector)
    return _without_events(request, events, interaction, detector)


def token_exchange_reason(interaction: Interaction) -> str:
    """Return why to skip an interaction in which a client gets an access token; "" for others."""
    request = interaction.request.body
    values = (json_or_none(request), json_or_none(interaction.body))
    has_members = any(isinstance(it, dict) and not _TOKENS.isdisjoint(it) for it in values)
    return "an OAuth token exchange" if has_members or _FORM.match(request) else ""


def unsupported_api(interaction: Interaction, detector: Detector = DETECTOR) -> str:
    """Return the name of the API of a response that no dialect reads; else ""."""
    events = tuple(first_events(interaction.body))
    is_known = any(detector.mark_of(event).strong for event in events)
    return unread_api(interaction, events, is_known=is_known)


def first_events(body: bytes) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects among the first events of `body`, or the document if it is one."""
    return (event for event, _ in _named_events(body) if isinstance(event, dict))


def _by_events(request: _Hint, events: _Hint, mark: Mark, detector: Detector) -> Detected:
    if request.dialect == UNKNOWN:
        return Detected(events.dialect, "likely", events.label)
    both = f"{request.label} and {events.label}"
    if request.dialect == events.dialect or detector.looks_like(request.dialect) == mark.dialect:
        return Detected(request.dialect, "certain", both)
    if detector.looks_like(events.dialect) == request.dialect:
        return Detected(events.dialect, "certain", both)
    because = f"{events.label}, although {request.label} shows {request.dialect}"
    return Detected(events.dialect, "likely", because, request.dialect)


def _without_events(
    request: _Hint, events: _Hint, interaction: Interaction, detector: Detector
) -> Detected:
    """Return the dialect of a response that is empty, an error, a page or unrecognized."""
    if request.firm:
        return Detected(
            request.dialect, "likely", f"{request.label}; the response does not show it"
        )
    content_type = interaction.header("content-type").partition(";")[0].strip().lower()
    by_type = detector.dialect_of_content_type(content_type)
    hints = (request, events, _Hint(by_type, f"the content type {content_type}", firm=False))
    hint = next((hint for hint in hints if hint.dialect not in (UNKNOWN, "")), None)
    return Detected(hint.dialect, "guess", hint.label) if hint else Detected()


def _of_provider(hint: _Hint, by: str, detector: Detector) -> _Hint:
    return msgspec.structs.replace(hint, dialect=detector.dialect_of_provider(by, hint.dialect))


def _request_hint(request: Request, detector: Detector) -> _Hint:
    """Return the dialect that the request shows: by its address, else a header, else its body."""
    if dialect := detector.dialect_of_path(request.uri.partition("?")[0]):
        return _Hint(dialect, "the address")
    value = json_or_none(request.body)
    body = value if isinstance(value, dict) else {}
    # Clients send the same headers to log in, so a header counts only if the model gets an input.
    for name, _ in () if _INPUTS.isdisjoint(body) else request.headers:
        if dialect := detector.dialect_of_header(name.lower()):
            return _Hint(dialect, f"the header {name.lower()}", firm=False)
    key, dialect = detector.key_of_request(body)
    return _Hint(dialect, f"{key} in the request", firm=False) if dialect else _NOTHING


def _named_events(body: bytes) -> Iterator[tuple[object, str]]:
    """Yield the JSON value and the event name of each of the first frames of `body`."""
    try:
        for frame in islice(_frames(body), MOST_EVENTS):
            yield json_or_none(frame.data), frame.event
    except StreamError:  # larger than any event
        return


def _frames(body: bytes) -> Iterator[Frame]:
    return frames_of(body[start : start + _STEP] for start in range(0, len(body), _STEP))
