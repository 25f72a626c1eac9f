"""Import flow files of mitmproxy: one typed netstring for each flow, in any version.

Flows that are not HTTP, or have no answer, contain no response. mitmproxy joins a stream before it
stores the stream. A flow with the messages of a WebSocket connection is a session.
Source: https://docs.mitmproxy.org/stable/api/mitmproxy/http.html
"""

import re
from collections.abc import Callable
from pathlib import PurePath
from typing import Any, Final

from harness.errors import UnreadableError
from harness.files.typed import expect_mapping, refuse_type
from harness.recording.importers.container import ContainerFile, entries_file
from harness.recording.importers.http_message import header_of, response_interaction
from harness.recording.importers.websocket import OPCODES, timed_session
from harness.wire.interaction import Headers, Interaction, Request
from harness.wire.session import Session, SessionFrame, Side, close_data

MAX_DEPTH: Final = 32
MAX_VALUES: Final = 1_000_000

_MOST_DIGITS = 12
_COLON = b":"


class NotTnetstringError(ValueError):
    """The bytes are not typed netstrings; the message contains the offset of the error."""


def load_tnetstrings(data: bytes) -> list[Any]:
    """Return the sequence of values in `data`.

    Raises:
        NotTnetstringError: the values are invalid, nested too deeply, or too many.
    """
    return _Reader(data).values(0, len(data), 0)


class _Reader:
    """Reads values from one buffer, and does not copy nested values."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._left = MAX_VALUES

    def values(self, at: int, end: int, depth: int) -> list[Any]:
        if depth > MAX_DEPTH:
            raise NotTnetstringError(f"nested more than {MAX_DEPTH} deep at byte {at}")
        found = []
        while at < end:
            start, stop = self._bounds(at, end)
            found.append(self._value(start, stop, depth))
            at = stop + 1
        return found

    def _bounds(self, at: int, end: int) -> tuple[int, int]:
        colon = self._data.find(_COLON, at, at + _MOST_DIGITS + 1)
        digits = self._data[at : max(colon, at)]
        if not digits.isdigit():
            raise NotTnetstringError(f"expected a length at byte {at}")
        stop = colon + 1 + int(digits)
        if stop >= end:
            raise NotTnetstringError(f"expected {int(digits)} bytes and a type at byte {colon + 1}")
        return colon + 1, stop

    def _value(self, start: int, stop: int, depth: int) -> Any:  # noqa: ANN401 - any value of the file
        self._left -= 1
        if self._left < 0:
            raise NotTnetstringError(f"more than {MAX_VALUES} values")
        kind = self._data[stop : stop + 1]
        if kind == b"]":
            return self.values(start, stop, depth + 1)
        if kind == b"}":
            items = self.values(start, stop, depth + 1)
            return {
                _decode_key(key): value for key, value in zip(items[::2], items[1::2], strict=False)
            }
        parse = _SCALARS.get(kind)
        if parse is None:
            raise NotTnetstringError(f"unknown type {kind!r} at byte {stop}")
        try:
            return parse(self._data[start:stop])
        except ValueError as error:
            raise NotTnetstringError(f"{error} at byte {start}") from None


def _decode_key(key: object) -> object:
    """Return a key as text; before 2016 keys were bytes."""
    if isinstance(key, bytes):
        return key.decode("utf-8", "replace")
    return key if isinstance(key, str) else ""


def _decode_boolean(data: bytes) -> bool:
    if data not in (b"true", b"false"):
        raise ValueError(f"expected true or false, found {data[:20]!r}")
    return data == b"true"


def _decode_text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


_SCALARS: Final[dict[bytes, Callable[[bytes], Any]]] = {
    b",": bytes,
    b";": _decode_text,
    b"#": int,
    b"^": float,
    b"!": _decode_boolean,
    b"~": lambda _: None,
}


# A length, and in it a first key: a length again, and a name as text or bytes.
_MAGIC: Final = re.compile(rb"[0-9]{1,12}:[0-9]{1,3}:[a-z_]{1,40}[;,]")
_PORTS: Final = {("http", 80), ("https", 443)}
_LAST_PORT: Final = 65_535
_LAST_CLOSE_CODE: Final = 4_999


def read(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the answered HTTP flows, or None if the data are not flows."""
    if not _MAGIC.match(data):
        return None
    where = str(path)
    try:
        flows = load_tnetstrings(data)
    except NotTnetstringError as error:
        raise UnreadableError(
            f"expected flows of mitmproxy: {error}", where=where, hint="Save the flows again."
        ) from None
    numbered = ((f"{where}: flow {n}", flow) for n, flow in enumerate(flows))
    return entries_file(path, (each for each in numbered if _is_answered(each[1])), _flow)


def _is_answered(flow: object) -> bool:
    return (
        isinstance(flow, dict)
        and isinstance(flow.get("request"), dict)
        and isinstance(flow.get("response"), dict)
    )


def _flow(flow: dict[str, Any], where: str) -> Interaction | Session:
    interaction = _interaction(flow, where)
    socket = flow.get("websocket")
    if not isinstance(socket, dict):
        return interaction
    messages = socket.get("messages")
    if not isinstance(messages, list):
        refuse_type("a list of messages", messages, f"{where}: websocket.messages")
    frames = [
        _message(each, f"{where}: websocket.messages[{n}]") for n, each in enumerate(messages)
    ]
    code = socket.get("close_code")
    if isinstance(code, int) and 0 < code <= _LAST_CLOSE_CODE:
        side: Side = "client" if socket.get("closed_by_client") else "server"
        data = close_data(code, _text(socket.get("close_reason")))
        end = socket.get("timestamp_end")
        last = frames[-1][0] if frames else 0.0
        at = end if isinstance(end, float) else last
        frames.append((at, SessionFrame(side, data, opcode="close")))
    return timed_session(frames, interaction.request, interaction.headers)


def _message(value: object, where: str) -> tuple[float, SessionFrame]:
    """Return time and frame of `[opcode, from_client, content, timestamp, ...]`."""
    match value:
        case [int(opcode), bool(by_client), bytes(content), int(at) | float(at), *_] if (
            opcode in OPCODES
        ):
            side: Side = "client" if by_client else "server"
            return at, SessionFrame(side, content, opcode=OPCODES[opcode])
        case _:
            return refuse_type("opcode, sender, content and time of a message", value, where)


def _interaction(flow: dict[str, Any], where: str) -> Interaction:
    request_flow, answer = flow["request"], flow["response"]
    headers = _headers(request_flow.get("headers"), f"{where}: request.headers")
    request = Request(
        method=_text(request_flow.get("method")) or "POST",
        uri=_address(request_flow, headers, f"{where}: request"),
        headers=headers,
        body=_bytes(request_flow.get("content")),
    )
    place = f"{where}: response"
    status = expect_mapping(answer, place).get("status_code", answer.get("code"))
    if not isinstance(status, int):
        refuse_type("a status code", status, place)
    answer_headers = _headers(answer.get("headers"), f"{place}.headers")
    body = _bytes(answer.get("content"))
    return response_interaction(request, status, answer_headers, [(body, 0)], kept=False)


def _address(request_flow: dict[str, Any], headers: Headers, where: str) -> str:
    """Return the address that the client requested, with the host name and not the IP."""
    port = request_flow.get("port")
    if port is not None and (not isinstance(port, int) or not 0 <= port <= _LAST_PORT):
        refuse_type(f"a port from 0 to {_LAST_PORT}", port, f"{where}.port")
    scheme = _text(request_flow.get("scheme"))
    named = _text(request_flow.get("authority")) or header_of(headers, "host")
    host = _text(request_flow.get("host"))
    own = host if (scheme, port) in _PORTS or not port else f"{host}:{port}"
    return f"{scheme}://{named or own}{_text(request_flow.get('path'))}"


def _headers(value: object, where: str) -> Headers:
    if not isinstance(value, list):
        refuse_type("a list of headers", value, where)
    pairs = [pair for pair in value if isinstance(pair, list) and len(pair) == 2]  # noqa: PLR2004 - name and value
    return tuple((_text(name), _text(item)) for name, item in pairs)


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return value if isinstance(value, str) else ""


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else b""
