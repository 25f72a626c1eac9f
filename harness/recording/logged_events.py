"""Find the events of a response, and its request, in the values that a log printed.

A log prints an event as JSON, as a Python literal, as the `repr()` of an SDK's object, or as text
in a member of a record. An event that other logs may contain too, such as an error, counts if it is
in the same member as the certain ones.
"""

import json
import re
from contextlib import suppress
from typing import Any, Final

import msgspec

from harness.dialects.kit.detect import Mark
from harness.dialects.table import DETECTOR
from harness.recording.importers.event_list import (
    DONE,
    elements,
    members,
    on_one_line,
    parse_event,
)
from harness.recording.logged_request import LoggedRequest, curl_request, request_in
from harness.recording.printed import Printed, PrintedValue, encoded, literal_text
from harness.wire.payload import NotJson

_START: Final = re.compile(
    r"""(?<![\w-])(?:
        (?P<framed>data:\ ?(?=\{|\[DONE\]))
      | event:\ ?(?P<name>[A-Za-z][\w.:-]*)[ \t\r]*$
      | (?P<curl>curl[ \t])(?=[^\n]{0,2000}?https?:|[^\n]{0,500}\\\r?\n)
    )
    | (?P<quoted>b?['"])(?=(?:data|event):|\{|\[DONE\])
    | (?P<object>(?<![\w.])[A-Za-z_][\w.]{0,200}\()(?=[a-z_]\w*=|\s*\n)
    | (?P<keywords>(?:^|(?<=[^,(\s]\s))[a-z_]\w{0,100}=(?=['"\[(A-Z0-9]))
    | (?P<value>[{\[])""",
    re.VERBOSE | re.MULTILINE,
)
_LITERAL: Final = re.compile(
    r"""b?(?:'(?:[^'\\\n]|\\.){0,1000000}'|"(?:[^"\\\n]|\\.){0,1000000}")"""
)
_ADDRESS: Final = re.compile(r"\bPOST[ :=\"']{1,4}(https?://[^\s\"'<>,]{1,2000})")
# Members of a record, and texts in texts, are searched so deeply.
_MOST_DEPTH: Final = 3


class Event(msgspec.Struct, frozen=True):
    """An event of a log.

    Fields:
        data: its JSON on one line, or what is left of it.
        name: the event name before it.
        is_framed: whether `data:` is before it.
        path: the members of a record that it was in.
        mark: the dialect that it shows.
        lines: the first and the last line of it.
    """

    data: bytes
    name: str = ""
    is_framed: bool = False
    path: tuple[str, ...] = ()
    mark: Mark = msgspec.field(default_factory=Mark)
    lines: tuple[int, int] = (0, 0)


class LoggedEvents(msgspec.Struct, frozen=True):
    """What a log contains.

    Fields:
        events: the events in their order.
        lost: what is left of the events that do not close, as text.
        lost_first: whether the first event is one of these.
        requests: the requests in their order.
        used: the number of lines with events.
    """

    events: tuple[Event, ...]
    lost: tuple[bytes, ...] = ()
    lost_first: bool = False
    requests: tuple[LoggedRequest, ...] = ()
    used: int = 0


def find_events(text: str) -> LoggedEvents:
    """Return the events and requests in the text of a log."""
    scan = _Scan()
    scan.read(text)
    strong = {event.path: event.mark.dialect for event in scan.found if event.mark.strong}
    kept = tuple(
        event
        for event in scan.found
        if event.is_framed or event.mark.strong or event.mark.dialect == strong.get(event.path)
    )
    return LoggedEvents(
        kept,
        tuple(scan.lost),
        scan.lost_first,
        _with_address(scan.requests, text),
        len(scan.used_lines.union(*(range(a, b + 1) for a, b in (each.lines for each in kept)))),
    )


def _with_address(requests: list[LoggedRequest], text: str) -> tuple[LoggedRequest, ...]:
    """Return the requests; if one has no host, the log may have its address in another line."""
    match = _ADDRESS.search(text)
    if not match:
        return tuple(requests)
    return tuple(
        each if "://" in each.uri else msgspec.structs.replace(each, uri=match[1])
        for each in requests
    )


class _Scan:
    """Collects what the text of a log contains, and what is in the texts inside it."""

    def __init__(self) -> None:
        self.found: list[Event] = []
        self.lost: list[bytes] = []
        self.lost_first = False
        self.requests: list[LoggedRequest] = []
        self.used_lines: set[int] = set()
        self._name = ""
        self._lines = (0, 0)

    def read(self, text: str, depth: int = 0, path: tuple[str, ...] = ()) -> None:
        """Collect what `text` contains; `depth` and `path` say how deep it was in a record."""
        printed, at, line, counted = Printed(text), 0, 0, 0
        while match := _START.search(text, at):
            line, counted = line + text.count("\n", counted, match.start()), match.start()
            at = self._at(match, printed, depth, path, line)

    def _at(
        self,
        match: re.Match[str],
        printed: Printed,
        depth: int,
        path: tuple[str, ...],
        line: int,
    ) -> int:
        """Collect what begins at `match`; return where the search continues."""
        kind, text = match.lastgroup, printed.text
        if depth == 0:
            self._lines = (line, line)
        match kind:
            case "name":
                self._name = match["name"]
                self.used_lines.update((line,) if depth == 0 else ())
            case "quoted":
                literal = _LITERAL.match(text, match.start())
                if literal and depth < _MOST_DEPTH:
                    self.read(literal_text(literal[0]), depth + 1, path)
                    return literal.end()
            case "curl":
                request, end = curl_request(text, match.start())
                self.requests += [request] if request else []
                return end
            case "framed" if text.startswith(DONE.decode(), match.end()):
                self._add(Event(DONE, is_framed=True, path=path))
                return match.end() + len(DONE)
            case _:
                return self._value_at(match, printed, depth, path, line)
        return match.end()

    def _value_at(
        self,
        match: re.Match[str],
        printed: Printed,
        depth: int,
        path: tuple[str, ...],
        line: int,
    ) -> int:
        """Collect the events in the value that begins at `match`; return where it ends."""
        is_framed = match.lastgroup == "framed"
        at = match.end() if is_framed else match.start()
        if match.lastgroup == "keywords":
            value = printed.keywords_at(at)
            if value is None or not DETECTOR.mark_of(parse_event(value.data)).strong:
                return match.end()
        else:
            value = printed.value_at(at)
        if value and value.complete:
            if depth == 0:
                self._lines = (line, line + printed.text.count("\n", value.start, value.end))
            if is_framed:
                self._add(Event(on_one_line(value.data), is_framed=True, path=path))
            else:
                self._member(value.data, path, depth)
            return value.end
        self._take_cut(value, printed.text, at, path, is_framed=is_framed)
        is_over = is_framed or (value is not None and not value.data)
        return _end_of_line(printed.text, at) if is_over else match.end()

    def _take_cut(
        self,
        value: PrintedValue | None,
        text: str,
        at: int,
        path: tuple[str, ...],
        *,
        is_framed: bool,
    ) -> None:
        """Collect an event that does not close: a log may cut its lines."""
        rest = encoded(text[at : _end_of_line(text, at)].rstrip())
        if is_framed:
            self._add(Event(rest, is_framed=True, path=path))
        elif value and DETECTOR.mark_of(parse_event(value.data)).strong:
            self.lost_first = self.lost_first or not self.found
            self.lost.append(rest)

    def _list(self, data: bytes, path: tuple[str, ...], depth: int) -> None:
        with suppress(NotJson):
            for part in elements(data):
                self._member(bytes(part), path, depth)

    def _record(self, data: bytes, path: tuple[str, ...], depth: int) -> None:
        """Collect the event in `data`, or the events and requests in the members of a record."""
        value = parse_event(data)
        if not value:
            return
        mark, before = DETECTOR.mark_of(value), len(self.found)
        if not mark.strong and depth < _MOST_DEPTH:
            if request := request_in(value):
                self.requests.append(request)
                return
            with suppress(NotJson):
                for key, part in members(data).items():
                    self._member(bytes(part), (*path, key), depth + 1)
        if mark.strong or (mark.label and len(self.found) == before):
            self._add(Event(on_one_line(data), path=path, mark=mark))

    def _member(self, part: bytes, path: tuple[str, ...], depth: int) -> None:
        if part.startswith(b"{"):
            self._record(part, path, depth)
        elif part.startswith(b"[") and depth < _MOST_DEPTH:
            self._list(part, path, depth)
        elif part.startswith(b'"'):
            text = _text(part)
            if "data:" in text or text.startswith("{"):
                self.read(text, depth, path)

    def _add(self, event: Event) -> None:
        self.found.append(msgspec.structs.replace(event, name=self._name, lines=self._lines))
        self._name = ""


def _text(part: bytes) -> str:
    value: Any = None
    with suppress(ValueError):
        value = json.loads(part)
    return value if isinstance(value, str) else ""


def _end_of_line(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end
