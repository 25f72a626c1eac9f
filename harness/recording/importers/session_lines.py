"""Import messages of a WebSocket session, one a line: logs, consoles of browsers, `wscat`.

A line is the JSON of a message, with the direction before it or in a record around it:
`> {...}`, `recv: {...}`, `{"type": "send", "data": "{...}"}`. Without any direction, all messages
are the server's, and at least one must be of a kind that only sessions have, or a second response
must begin.
"""

import json
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import PurePath
from typing import Any, Final

from harness.dialects.table import DETECTOR, SESSION_FORMS
from harness.recording.importers.container import ContainerFile, container_file
from harness.recording.importers.event_list import elements, parse_event
from harness.recording.importers.websocket import timed_session
from harness.turns.json_values import as_dict, as_text
from harness.wire.payload import NotJson, json_or_none
from harness.wire.session import SessionFrame, Side

_KEPT: Final = "messages and their direction; no handshake, no fragments"
_WORDS: Final[dict[Side, str]] = {
    "client": "client send sent out outgoing outbound output up upstream client_to_server "
    "client->server c->s c2s c > >> >>> -> --> => → ↑ ⬆ ▲ ⇑ ⟶",
    "server": "server receive received recv in incoming inbound input down downstream "
    "server_to_client server->client s->c s2c s < << <<< <- <-- <= ← ↓ ⬇ ▼ ⇓ ⟵",
}
_SIDES: Final = {word: side for side, words in _WORDS.items() for word in words.split()}
_PREFIX: Final = re.compile(
    r"""(?P<before>[^{"']{0,120}?)
    (?<![\w<>=-])(?P<word>[A-Za-z_0-9]{1,16}(?:->[A-Za-z]{1,6})?|[<>=-]{1,3}|[←→↑↓⬆⬇▲▼⇑⇓⟶⟵]\ufe0f?)
    \]?[ \t]*[:|]?[ \t]*(?:TEXT|BINARY)?[ \t]*
    (?P<quote>['"]?)(?P<data>\{.*\})(?P=quote)(?:[ ]\[[0-9]+[ ]bytes[^\]]*\])?[ \t]*""",
    re.VERBOSE,
)
_DIRECTIONS: Final = ("direction", "dir", "type", "from", "side", "sender", "origin")
_PAYLOADS: Final = ("data", "payload", "message", "event", "frame", "body", "msg", "text")
_TIMES: Final = ("time", "timestamp", "ts", "at", "t")
_MOST_MS: Final = 1e11  # a later time is in milliseconds since 1970
_RESPONSE: Final = "response.created"

Timed = tuple[float, SessionFrame]


def read(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the session in the lines or records of `data`, or None if they are something else."""
    found = _records(data) or _lines(data)
    if found is None:
        return None
    directed, frames = found
    if not _is_session(frames, directed=directed):
        return None
    return container_file(path, (), _KEPT, sessions={0: timed_session(frames)})


def _records(data: bytes) -> tuple[bool, list[Timed]] | None:
    """Return the messages of a JSON array of records with a direction."""
    text = data.strip()
    if not text.startswith(b"["):
        return None
    try:
        records = [parse_event(bytes(each)) for each in elements(text)]
    except NotJson:
        return None
    frames = [_recorded(record) for record in records if record is not None]
    known = [frame for frame in frames if frame is not None]
    return (True, known) if known and len(known) == len(records) else None


def _lines(data: bytes) -> tuple[bool, list[Timed]] | None:
    frames: list[Timed] = []
    directed = 0
    # One line at a time, because the texts of all lines need the memory of the file once more.
    for line in filter(None, map(bytes.strip, BytesIO(data))):
        found = _line(line.decode("utf-8", "replace"))
        if found is None:
            return None
        frame, has_direction = found
        directed += has_direction
        frames.append(frame)
    # A log without directions in some lines does not say whose these messages are.
    return (bool(directed), frames) if directed in (0, len(frames)) and frames else None


def _line(line: str) -> tuple[Timed, bool] | None:
    """Return the message in a line, and whether the line has its direction."""
    event = parse_event(line.encode()) if line.startswith("{") else None
    if event is not None:
        recorded = _recorded(event)
        return (recorded, True) if recorded else ((0, SessionFrame("server", line.encode())), False)
    match = _PREFIX.fullmatch(line)
    side = _SIDES.get(match["word"].rstrip("\ufe0f").lower()) if match else None
    if match is None or side is None:
        return None
    return (0, SessionFrame(side, match["data"].encode())), True


def _recorded(record: dict[str, Any]) -> Timed | None:
    """Return the message in a record with a direction; None if it is not such a record."""
    words = (as_text(record.get(name)).lower() for name in _DIRECTIONS)
    side = next((_SIDES[word] for word in words if word in _SIDES), None)
    if side is None and isinstance(record.get("fromClient"), bool):
        side = "client" if record["fromClient"] else "server"
    payload = next((record[name] for name in _PAYLOADS if record.get(name) is not None), None)
    if side is None or payload is None:
        return None
    data = payload.encode("utf-8", "replace") if isinstance(payload, str) else _json_of(payload)
    at = next((record[name] for name in _TIMES if type(record.get(name)) in (int, float)), 0)
    return (at / 1000 if at > _MOST_MS else at), SessionFrame(side, data)


def _json_of(payload: object) -> bytes:
    return json.dumps(payload, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _is_session(frames: list[Timed], *, directed: bool) -> bool:
    """Return whether the server's messages are those of a session of a known API."""
    if directed:
        return any(DETECTOR.mark_of(event).strong for event in _server_events(frames))
    if any(form.is_session(event) for event in _server_events(frames) for form in SESSION_FORMS):
        return True
    begun = [event for event in _server_events(frames) if event.get("type") == _RESPONSE]
    return len({as_text(as_dict(event.get("response")).get("id")) for event in begun}) > 1


def _server_events(frames: list[Timed]) -> Iterator[dict[str, Any]]:
    for _, frame in frames:
        event = json_or_none(frame.data) if frame.side == "server" else None
        if isinstance(event, dict):
            yield event
