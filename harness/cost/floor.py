"""Define the floor: a minimal client that only finds and decodes the payloads of a body.

It finds the payloads in the cheapest way that the framing allows, and stores nothing. It uses no
reader of the harness, so a faster `reference` does not make other clients look slower.
"""

import base64
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from harness.wire.interaction import Interaction

Decode: TypeAlias = Callable[[bytes], Any]
Floor: TypeAlias = Callable[[bytes], object]

_HEADERS_AT: Final = 12  # in an AWS message, after its prelude
_CHECKSUM: Final = 4
_FIRST_EVENTS: Final = 2_000


def floor_of(stream: Interaction, decode: Decode) -> Floor:
    """Return a function that finds and decodes the payloads in bodies framed like `stream`.

    Args:
        stream: a stream of the dialect, whose first bytes show the framing.
        decode: parses one JSON text.
    """
    first = stream.body[:_FIRST_EVENTS]
    if first.startswith(b"\0"):
        return _messages(decode, embedded=b'{"bytes":' in first.replace(b" ", b""))
    if first.startswith(b"["):
        return decode
    if first.startswith(b"{"):
        return _lines(decode)
    return _server_sent(decode, b"\r\n\r\n" if b"\r\n\r\n" in first else b"\n\n")


def _server_sent(decode: Decode, end: bytes) -> Floor:
    def floor(body: bytes) -> None:
        for event in body.split(end):
            payload = event[event.find(b"data:") + 5 :]
            if payload and payload != b" [DONE]":
                decode(payload)

    return floor


def _lines(decode: Decode) -> Floor:
    def floor(body: bytes) -> None:
        for line in body.split(b"\n"):
            if line:
                decode(line)

    return floor


def _messages(decode: Decode, *, embedded: bool) -> Floor:
    """Return a floor for AWS messages, which checks no checksum.

    If `embedded` is true, it also decodes the event that each payload contains.
    """

    def floor(body: bytes) -> None:
        start, size = 0, len(body)
        while start < size:
            end = start + int.from_bytes(body[start : start + 4], "big")
            headers = int.from_bytes(body[start + 4 : start + 8], "big")
            value = decode(body[start + _HEADERS_AT + headers : end - _CHECKSUM])
            if embedded:
                decode(base64.b64decode(value["bytes"]))
            start = end

    return floor
