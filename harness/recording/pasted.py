r"""Find the stream in a text that a person pasted: output of curl, copies from devtools, logs.

There are several ways to read the text. Each gives data that an importer may know. Those that
change least come first: all lines, all without a margin, those of the response, joined bytes
literals, and last the events alone, framed again.
"""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from harness.recording.importers.event_list import parse_event
from harness.recording.importers.http_message import header_of, parse_message, status_of
from harness.recording.logged_events import Event, find_events
from harness.recording.logged_request import LoggedRequest
from harness.recording.printed import literal_value
from harness.wire.sse import encode

_FENCE: Final = b"```"
_MARGIN: Final = re.compile(rb"[ \t>|]*")
_STATUS_LINE: Final = re.compile(rb"^HTTP/[0-9.]{1,3} [0-9]{3}\b", re.MULTILINE)
# What `curl -v` prints among the lines of the response.
_REMARK: Final = re.compile(rb"\* |[{}] \[[0-9]+ bytes data\]\s*\Z")
_BYTES_LITERAL: Final = re.compile(
    rb"""\bb(?:'(?:[^'\\]|\\.){0,1000000}'|"(?:[^"\\]|\\.){0,1000000}")"""
)
# Where an event, its name or JSON begins in a line.
_START: Final = re.compile(rb"(?<![\w-])(?:data|event): ?|\{")
_BETWEEN_LITERALS: Final = re.compile(rb"[\s,()\[\]]*")
_FIELD: Final = re.compile(rb"(?:data|event|id|retry):")
_DATA_FIELD: Final = b"data:"
# All attempts to join lines may read so many times the length of the text.
_MOST_TIMES: Final = 64


class Pasted(msgspec.Struct, frozen=True):
    """The data that one way of reading a pasted text gives.

    Fields:
        data: in a format that an importer may know.
        kept: what was changed, as text; "" if nothing was changed.
        dropped: the number of lines that are not in `data`; blank lines do not count.
        lost: what is left of events that do not close, and are not in `data`.
        lost_first: whether the first event is one of these.
    """

    data: bytes
    kept: str = ""
    dropped: int = 0
    lost: tuple[bytes, ...] = ()
    lost_first: bool = False


def ways_to_read(data: bytes) -> Iterator[Pasted]:
    """Yield the data that each way of reading gives; the ways that change least come first."""
    yield Pasted(data)
    lines = data.replace(b"\r\n", b"\n").split(b"\n")
    plain = _without_margin(lines)
    if plain != lines:
        yield _pasted(plain, lines, "the margin was removed")
    unwrapped = _unwrapped(plain)
    if unwrapped != plain:
        yield Pasted(b"\n".join(unwrapped), "wrapped lines joined")
    if any(line.startswith(b"< HTTP/") for line in plain):
        yield _verbose(plain)
    text = b"\n".join(plain)
    status = _STATUS_LINE.search(text)
    if status and status.start():
        rest = text[status.start() :].split(b"\n")
        yield _pasted(rest, lines, "the lines before the response were removed")
    reads = list(_reads(plain))
    if any(b"\n" in literal for _, literal in reads):
        dropped = _full_lines(lines) - len({number for number, _ in reads})
        data = b"".join(literal for _, literal in reads)
        yield Pasted(data, "bytes literals joined", max(dropped, 0))
    if way := _events_way(text.decode("utf-8", "surrogateescape"), lines):
        yield way


def _pasted(kept: list[bytes], lines: list[bytes], how: str) -> Pasted:
    return Pasted(b"\n".join(kept), how, _full_lines(lines) - _full_lines(kept))


def _full_lines(lines: Iterable[bytes]) -> int:
    return sum(bool(line.strip(b" \t<>|")) for line in lines)


def _without_margin(lines: list[bytes]) -> list[bytes]:
    """Remove Markdown code fences, and the common start of all lines, such as spaces or `>`."""
    kept = [line for line in lines if not line.strip().startswith(_FENCE)]
    full = [line for line in kept if line.strip()]
    margins = [match[0] for line in full if (match := _MARGIN.match(line))]
    margin = _common_start(margins)
    # The marks of `curl -v` are not a margin: it prints the body without one.
    return [line.removeprefix(margin) if line.strip() else b"" for line in kept]


def _common_start(texts: Iterable[bytes]) -> bytes:
    ordered = sorted(texts)
    if not ordered:
        return b""
    first, last = ordered[0], ordered[-1]
    length = next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), None)
    return first[: len(first) if length is None else length]


# The output of `curl -v`


def _verbose(lines: list[bytes]) -> Pasted:
    """Return the request and the response in the output of `curl -v`, as JSON."""
    sent = [line[2:] for line in lines if line.startswith(b"> ")]
    received = [line[2:].rstrip() for line in lines if line.startswith(b"< ")]
    end = max(n for n, line in enumerate(lines) if line.startswith(b"<"))
    start = max(n for n, line in enumerate(received) if status_of(line) is not None)
    status, headers, _ = parse_message(b"\n".join(received[start:]))
    body = [line for line in lines[end + 1 :] if not _REMARK.match(line)]
    response = {
        "status": status_of(status),
        "headers": headers,
        "body_base64": base64.b64encode(b"\n".join(body)).decode(),
    }
    dropped = _full_lines(lines) - _full_lines((*sent, *received, *body))
    value = {"request": _request(sent), "response": response}
    return Pasted(json.dumps(value).encode(), "output of curl -v", max(dropped, 0))


def _request(sent: list[bytes]) -> dict[str, str]:
    first, headers, _ = parse_message(b"\n".join(sent))
    method, _, rest = first.decode("latin-1").partition(" ")
    address = f"https://{header_of(headers, 'host')}{rest.partition(' ')[0]}"
    return {"method": method, "url": address} if sent else {}


# Literals of Python and JSON


def _reads(lines: list[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield each read that the lines contain as a bytes literal, with the line number.

    A log writes a read as one literal at the end of a line, or several reads as a list. The lines
    before the first event, such as those of the headers, do not count.
    """
    has_begun = False
    for number, line in enumerate(lines):
        parts = _BYTES_LITERAL.split(line)
        if len(parts) == 1 or not all(map(_BETWEEN_LITERALS.fullmatch, parts[1:])):
            continue
        literals = [_literal(literal) for literal in _BYTES_LITERAL.findall(line)]
        has_begun = has_begun or any(_START.match(literal) for literal in literals)
        if has_begun:
            yield from ((number, literal) for literal in literals)


def _literal(literal: bytes) -> bytes:
    """Return the content of a literal of Python or a string of JSON; "" if it is invalid."""
    value = literal_value(literal.decode("utf-8", "surrogateescape"))
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value


# Events in values


def _events_way(text: str, lines: list[bytes]) -> Pasted | None:
    """Return the events in the printed values of `text`, framed again; None if there are none."""
    found = find_events(text)
    if not found.events:
        return None
    dropped = max(_full_lines(lines) - found.used, 0)
    kept = "events in lines; framing rebuilt"
    return Pasted(_framed(found.events), kept, dropped, found.lost, found.lost_first)


def _framed(events: Iterable[Event]) -> bytes:
    """Return the body: server-sent events, or one event a line if the API sends JSON lines."""
    listed = tuple(events)
    if not any(event.is_framed for event in listed):
        return b"\n".join(event.data for event in listed)
    return b"".join(encode(event.data, event=event.name) for event in listed)


def _unwrapped(lines: list[bytes]) -> list[bytes]:
    """Join the lines of each event that does not close at its line end, as in wrapped output.

    White space may stand between values. In a text, a line that is as wide as the widest was cut at
    this width, and any other line lost the space at which it was wrapped.
    """
    joined: list[bytes] = []
    width, budget = max(map(len, lines), default=0), _MOST_TIMES * sum(map(len, lines))
    at = 0
    while at < len(lines):
        text, end = lines[at], at + 1
        while budget > 0 and end < len(lines) and _is_open(text):
            if not lines[end].strip() or _FIELD.match(lines[end]):
                break
            text += (b"" if len(lines[end - 1]) >= width else b" ") + lines[end]
            budget, end = budget - len(text), end + 1
        if end > at + 1 and _is_open(text):  # a log cut it, so that no line closes it
            text, end = lines[at], at + 1
        joined.append(text)
        at = end
    return joined


def _is_open(line: bytes) -> bool:
    """Whether `line` is a data field with JSON that does not close."""
    value = line.removeprefix(_DATA_FIELD).lstrip()
    is_object = line.startswith(_DATA_FIELD) and value.startswith(b"{")
    return is_object and parse_event(value) is None


def requests_in(data: bytes) -> tuple[LoggedRequest, ...]:
    """Return the requests in a pasted text, in their order."""
    return find_events(data.decode("utf-8", "surrogateescape")).requests
