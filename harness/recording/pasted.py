r"""Find the stream in a text that a person pasted: output of curl, copies from devtools, logs.

There are several ways to read the text. Each gives data that an importer may know. Those that
change least come first: all lines, all without a margin, those of the response, joined bytes
literals, and last the events alone, framed again.
"""

import ast
import base64
import json
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any, Final

import msgspec

from harness.dialects.table import DETECTOR
from harness.recording.curl_command import find_command
from harness.recording.importers.event_list import Members, members, parse_event
from harness.recording.importers.http_message import header_of, parse_message, status_of
from harness.wire.payload import NotJson
from harness.wire.sse import encode

_FENCE: Final = b"```"
_MARGIN: Final = re.compile(rb"[ \t>|]*")
_STATUS_LINE: Final = re.compile(rb"^HTTP/[0-9.]{1,3} [0-9]{3}\b", re.MULTILINE)
# What `curl -v` prints among the lines of the response.
_REMARK: Final = re.compile(rb"\* |[{}] \[[0-9]+ bytes data\]\s*\Z")
_BYTES_LITERAL: Final = re.compile(
    rb"""\bb(?:'(?:[^'\\]|\\.){0,1000000}'|"(?:[^"\\]|\\.){0,1000000}")"""
)
_TEXT_LITERAL: Final = re.compile(rb"""'(?:[^'\\]|\\.){0,1000000}'|"(?:[^"\\]|\\.){0,1000000}\"""")
# Where an event, its name or JSON begins in a line.
_START: Final = re.compile(rb"(?<![\w-])(?:data|event): ?|\{")
_BETWEEN_LITERALS: Final = re.compile(rb"[\s,()\[\]]*")
_DATA: Final = re.compile(rb"(?<![\w-])data: ?(\{.*|\[DONE\])", re.DOTALL)
_EVENT: Final = re.compile(rb"(?<![\w-])event: ?([A-Za-z][\w.:-]*)\s*\Z")
_MOST_OBJECTS: Final = 8
_MOST_DICT: Final = 1_000_000
_DONE: Final = b"[DONE]"
# Members of a record of a log are searched so deeply.
_MOST_DEPTH: Final = 3


class Pasted(msgspec.Struct, frozen=True):
    """The data that one way of reading a pasted text gives.

    Fields:
        data: in a format that an importer may know.
        kept: what was changed, as text; "" if nothing was changed.
        dropped: the number of lines that are not in `data`; blank lines do not count.
    """

    data: bytes
    kept: str = ""
    dropped: int = 0


def ways_to_read(data: bytes) -> Iterator[Pasted]:
    """Yield the data that each way of reading gives; the ways that change least come first.

    If the text has the `curl` command with the request, its ways with the request come first.
    """
    command = find_command(data.replace(b"\r\n", b"\n").split(b"\n"))
    if command is not None:
        for way in _ways(b"\n".join(command.lines)):
            if not way.data.startswith(b"{"):  # a request that `curl -v` printed
                kept = "; ".join(filter(None, ("the request is that of the command", way.kept)))
                yield Pasted(command.with_response(way.data), kept, way.dropped)
    yield from _ways(data)


def _ways(data: bytes) -> Iterator[Pasted]:
    yield Pasted(data)
    lines = data.replace(b"\r\n", b"\n").split(b"\n")
    plain = _without_margin(lines)
    if plain != lines:
        yield _pasted(plain, lines, "the margin was removed")
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
    found = list(_payloads(plain))
    if found:
        used = len(found) + sum(bool(event.name) for event in found)
        dropped = max(_full_lines(lines) - used, 0)
        yield Pasted(_framed(found), "events in lines; framing rebuilt", dropped)


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


def _unquoted(line: bytes) -> list[bytes]:
    """Return the lines in the quoted literals of `line`, or `line` itself if none has an event."""
    literals = [_literal(literal) for literal in _BYTES_LITERAL.findall(line)]
    events = [literal for literal in literals if b"data:" in literal or b"event:" in literal]
    if events:
        return b"".join(events).split(b"\n")
    start = _START.search(line)
    if not start or line[max(start.start() - 1, 0)] not in b"'\"":
        return [line]
    quoted = _TEXT_LITERAL.findall(line, start.start() - 1)
    texts = [text for text in map(_literal, quoted) if _START.match(text)]
    return b"\n".join(texts).split(b"\n") if texts else [line]


def _literal(literal: bytes) -> bytes:
    """Return the content of a literal of Python or a string of JSON; "" if it is invalid."""
    value: Any = None
    with suppress(ValueError):
        value = json.loads(literal)
    with suppress(ValueError, SyntaxError), warnings.catch_warnings(action="ignore"):
        value = ast.literal_eval(literal.decode()) if value is None else value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    return value if isinstance(value, bytes) else b""


# Events in lines


class _Event(msgspec.Struct, frozen=True):
    """An event: its data, the event name before it, and whether the line begins with `data:`."""

    data: bytes
    name: str = ""
    is_framed: bool = False


def _framed(events: list[_Event]) -> bytes:
    """Return the body: server-sent events, or one event a line if the API sends JSON lines."""
    if not any(event.is_framed for event in events):
        return b"\n".join(event.data for event in events)
    return b"".join(encode(event.data, event=event.name) for event in events)


def _payloads(lines: list[bytes]) -> Iterator[_Event]:
    name = ""
    for line in chain.from_iterable(map(_unquoted, lines)):
        named = _EVENT.search(line)
        if named:
            name = named[1].decode()
            continue
        for event in _events_in(line):
            yield msgspec.structs.replace(event, name=event.name or name)
            name = ""


def _events_in(line: bytes) -> Iterator[_Event]:
    """Yield the events in a line: in a record of a log, or after a prefix."""
    data, start = _DATA.search(line), line.find(b"{")
    if data and (start < 0 or data.start() < start):
        yield _Event(_one_value(data[1]), is_framed=True)
        return
    for _ in range(_MOST_OBJECTS):
        if start < 0:
            break
        value = _one_value(line[start:])
        found = list(_events_of_record(value, 0))
        if found:
            yield from found
            return
        start = line.find(b"{", start + 1)
    yield from _events_of_record(_python_dict(line), 0)


def _python_dict(line: bytes) -> bytes:
    """Return the Python dict that is printed in `line` as JSON; "" if there is none."""
    start, end = line.find(b"{'"), line.rfind(b"}") + 1
    if start < 0 or end - start > _MOST_DICT:
        return b""
    with suppress(ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return json.dumps(ast.literal_eval(line[start:end].decode()), ensure_ascii=False).encode()
    return b""


def _one_value(text: bytes) -> bytes:
    """Return the JSON value at the start of `text`, or all of it if there is none."""
    if text.startswith(_DONE):
        return _DONE
    decoded = text.decode("utf-8", "surrogateescape")
    try:
        _, end = json.JSONDecoder().raw_decode(decoded)
    except (ValueError, RecursionError):
        return text.rstrip()
    return decoded[:end].encode("utf-8", "surrogateescape")


def _events_of_record(text: bytes, depth: int) -> Iterator[_Event]:
    """Yield the event in `text`, or the events in the members of a log record."""
    value = parse_event(text)
    if value and DETECTOR.mark_of(value).strong:
        yield _Event(text)
    elif value and depth < _MOST_DEPTH:
        for part in _members(text).values():
            yield from _events_of_member(bytes(part), depth)


def _members(text: bytes) -> Members:
    try:
        return members(text)
    except NotJson:
        return {}


def _events_of_member(part: bytes, depth: int) -> Iterator[_Event]:
    value: Any = None
    if part.startswith(b'"'):
        try:
            value = json.loads(part)
        except ValueError:
            return
    if isinstance(value, str) and ("data:" in value or value.startswith("{")):
        yield from _payloads(value.encode("utf-8", "surrogatepass").split(b"\n"))
    elif part.startswith(b"{"):
        yield from _events_of_record(part, depth + 1)
