"""Import dumps of `curl --trace` and `curl --trace-ascii`: the network traffic, read by read.

Each `Recv data` is a read; its time is known with `--trace-time`. The ASCII form replaces all other
bytes by dots: the importer restores the line ends of an event stream, and other bytes are missing.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import PurePath
from typing import Final

import msgspec

from harness.recording.importers.container import ContainerFile, container_file
from harness.recording.importers.http_message import (
    Piece,
    header_of,
    is_interim,
    parse_message,
    response_interaction,
    status_of,
)
from harness.wire.interaction import Interaction, Request

_SECTION: Final = re.compile(
    rb"(?:([0-9]{2}):([0-9]{2}):([0-9]{2})\.([0-9]{6}) )?(?:\[[^\]\n]{1,40}\] )?"
    rb"(?:== Info:.*|[=<][=>] ([A-Z][A-Za-z ]{3,20}), ([0-9]{1,12}) bytes \(0x[0-9a-f]{1,12}\)\s*)"
)
_LINE: Final = re.compile(rb"([0-9a-f]{4,12}): (.*)", re.DOTALL)
_HEX: Final = re.compile(rb"(?:[0-9a-f]{2} ){1,16}")
_HEX_COLUMNS: Final = 48
# Content type -> the dots that replace line ends: before a field or a comment, at the end.
_LINE_ENDS: Final = {
    "text/event-stream": re.compile(
        rb"\.{1,2}(?=(?:data|event|id|retry):)|\.\.(?=:)|\.{1,2}\Z",
    ),
    "application/x-ndjson": re.compile(rb"(?<=\})\.(?=\{|\Z)"),
}
_DAY_MS: Final = 24 * 60 * 60 * 1000
_SECURE: Final = (b"SSL", b"TLS", b"ALPN")


class _Section(msgspec.Struct, frozen=True):
    """A section of the dump: its kind, such as `Send header`, its time and its bytes."""

    kind: bytes
    at_ms: int | None
    data: bytes
    ascii: bool


class _TracedInteraction(msgspec.Struct):
    """A request and its response, to which each section of the dump is added."""

    sent_ms: int | None
    head: bytearray
    body: bytearray
    answer: bytearray
    pieces: list[_Section]


def read(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the interactions of the dump, or None if the data are not a dump."""
    if _SECTION.fullmatch(data.partition(b"\n")[0]) is None:
        return None
    sections = list(_sections(data.split(b"\n")))
    scheme = "https" if any(word in data for word in _SECURE) else "http"
    answered = (traced for traced in _iter_traced(sections) if traced.answer)
    found = [each for traced in answered if (each := _interaction(traced, scheme))]
    return container_file(path, found, _kept(sections)) if found else None


def _kept(sections: list[_Section]) -> str:
    parts = ["bodies, headers and reads"]
    parts.append("times" if any(part.at_ms is not None for part in sections) else "no times")
    if any(part.ascii for part in sections):
        parts.append("line ends put back, bytes that are not printable ASCII lost")
    return "; ".join(parts)


def _sections(lines: list[bytes]) -> Iterator[_Section]:
    """Yield the sections with sent and received bytes, without remarks and the TLS handshake."""
    for _, group in groupby(_numbered(lines), key=itemgetter(0)):
        (_, heading), *body = list(group)
        match = _SECTION.fullmatch(heading)
        if match is None or match[5] is None:
            continue
        size = int(match[6])
        dumped = [part for _, line in body if (part := _LINE.fullmatch(line))]
        pairs = [(int(part[1], 16), part[2]) for part in dumped]
        plain = _from_hex(pairs)
        data = _from_ascii(pairs, size) if plain is None else plain
        yield _Section(match[5], _time(match), data, plain is None)


def _numbered(lines: list[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield each line with the number of its section."""
    number = 0
    for line in lines:
        number += _SECTION.fullmatch(line) is not None
        yield number, line


def _time(match: re.Match[bytes]) -> int | None:
    if match[1] is None:
        return None
    hours, minutes, seconds, micros = (int(part) for part in match.groups()[:4])
    return ((hours * 60 + minutes) * 60 + seconds) * 1000 + micros // 1000


def _from_hex(lines: list[tuple[int, bytes]]) -> bytes | None:
    """Return the bytes of a section in hexadecimal, or None if it is not in hexadecimal."""
    data = bytearray()
    for at, text in lines:
        digits = _HEX.match(text[:_HEX_COLUMNS].rstrip(b" \r") + b" ")
        if digits is None or at != len(data):
            return None
        data += bytes.fromhex(digits[0].decode("ascii"))
    return bytes(data)


def _from_ascii(lines: list[tuple[int, bytes]], size: int) -> bytes:
    """Join the lines; if the next offset is two higher than expected, insert a CRLF."""
    ends = [at for at, _ in lines[1:]] + [size]
    pieces = (
        text + b"\r\n" * (end - at - len(text) == len(b"\r\n"))
        for (at, text), end in zip(lines, ends, strict=True)
    )
    return b"".join(pieces)


def _iter_traced(sections: list[_Section]) -> Iterator[_TracedInteraction]:
    traced = _TracedInteraction(None, bytearray(), bytearray(), bytearray(), [])
    for part in sections:
        if part.kind == b"Send header":
            if traced.answer:
                yield traced
                traced = _TracedInteraction(None, bytearray(), bytearray(), bytearray(), [])
            traced.sent_ms = part.at_ms
            traced.head += part.data
        elif part.kind == b"Send data":
            traced.body += part.data
        elif part.kind == b"Recv header":
            if _replaces(part.data, traced):
                traced.answer.clear()
            traced.answer += part.data
        elif part.kind == b"Recv data":
            traced.pieces.append(part)
    yield traced


def _replaces(header: bytes, traced: _TracedInteraction) -> bool:
    """Whether a status line begins the response that follows an interim response."""
    before = status_of(bytes(traced.answer[:20]))
    return status_of(header) is not None and before is not None and is_interim(before)


def _interaction(traced: _TracedInteraction, scheme: str) -> Interaction | None:
    request_line, headers, _ = parse_message(bytes(traced.head))
    method, _, rest = request_line.decode("latin-1").partition(" ")
    if method == "CONNECT":
        return None
    address = f"{scheme}://{header_of(headers, 'host')}{rest.partition(' ')[0]}"
    line, answer_headers, _ = parse_message(bytes(traced.answer))
    request = Request(method or "POST", address if rest else "", headers, bytes(traced.body))
    answer = response_interaction(
        request, status_of(line) or 0, answer_headers, _pieces(traced), kept=True
    )
    return _with_line_ends(answer) if any(part.ascii for part in traced.pieces) else answer


def _pieces(traced: _TracedInteraction) -> Iterator[Piece]:
    before = traced.sent_ms
    for part in traced.pieces:
        delay = 0 if part.at_ms is None or before is None else (part.at_ms - before) % _DAY_MS
        before = part.at_ms
        yield part.data, delay


def _with_line_ends(answer: Interaction) -> Interaction:
    """Replace the dots that stand for line ends; the length of each read stays the same."""
    kind = answer.header("content-type").partition(";")[0].strip().lower()
    dots = _LINE_ENDS.get(kind)
    if dots is None:
        return answer
    body = dots.sub(lambda match: b"\n" * len(match[0]), answer.body)
    return msgspec.structs.replace(answer, body=body)
