"""Read and write the key `session` of a cassette file: the frames of one WebSocket connection.

Each frame has who sent it (`from`), when (`at`), its opcode unless it is text, and its payload.
`turns` has the numbers of the frames of each response, such as `0 2-6`.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Final, TypeVar, get_args

from harness.errors import UnreadableError
from harness.files.typed import (
    expect_list,
    expect_mapping,
    expect_text,
    refuse_type,
    refuse_unknown_keys,
)
from harness.files.yaml_text import format_scalar
from harness.wire.interaction import Ended, Headers, Request
from harness.wire.session import MAX_FRAMES, Opcode, Session, SessionFrame, Side, check_session

T = TypeVar("T")

_KEYS: Final = ("uri", "request_headers", "headers", "ended", "times", "turns", "frames")
_FRAME_KEYS: Final = ("from", "at", "opcode", "data")
_TIMES: Final = ("recorded", "synthetic")
_NUMBERS: Final = re.compile(r"(?:[0-9]{1,7}(?:-[0-9]{1,7})?)(?: [0-9]{1,7}(?:-[0-9]{1,7})?)*")

ParseHeaders = Callable[[object, str], Headers]


def read_session(value: object, where: str, parse_headers: ParseHeaders) -> Session:
    """Return the session in `value`, the data of the key `session`.

    Args:
        value: plain data.
        where: the location in the file, for messages.
        parse_headers: reads headers as the rest of the file does.

    Raises:
        UnreadableError: a value has the wrong type, or the session cannot be used.
    """
    fields = expect_mapping(value, where)
    refuse_unknown_keys(fields, _KEYS, where)
    items = expect_list(fields.get("frames"), f"{where}.frames")
    turns = expect_list(fields.get("turns") or [], f"{where}.turns")
    request_headers = parse_headers(fields.get("request_headers"), f"{where}.request_headers")
    uri = expect_text(fields.get("uri"), f"{where}.uri")
    times = _choice(_TIMES, fields.get("times") or "recorded", f"{where}.times")
    session = Session(
        Request("GET", uri, request_headers),
        tuple(_frame(item, f"{where}.frames[{n}]") for n, item in enumerate(items)),
        tuple(_numbers(turn, f"{where}.turns[{n}]") for n, turn in enumerate(turns)),
        parse_headers(fields.get("headers"), f"{where}.headers"),
        times == "recorded",
        _choice(get_args(Ended), fields.get("ended") or "complete", f"{where}.ended"),
    )
    check_session(session, where)
    return session


def _choice(choices: tuple[T, ...], value: object, where: str) -> T:
    found = next((choice for choice in choices if choice == value), None)
    if found is None:
        refuse_type(f"one of {', '.join(map(str, choices))}", value, where)
    return found


def _frame(value: object, where: str) -> SessionFrame:
    fields = expect_mapping(value, where)
    refuse_unknown_keys(fields, _FRAME_KEYS, where)
    data = fields.get("data")
    if not isinstance(data, str | bytes):
        refuse_type("text or bytes", data, f"{where}.data")
    at_ms = fields.get("at", 0)
    if type(at_ms) is not int or at_ms < 0:
        refuse_type("milliseconds", at_ms, f"{where}.at")
    return SessionFrame(
        _choice(get_args(Side), fields.get("from"), f"{where}.from"),
        data.encode() if isinstance(data, str) else data,
        at_ms,
        _choice(get_args(Opcode), fields.get("opcode") or "text", f"{where}.opcode"),
    )


def _numbers(value: object, where: str) -> tuple[int, ...]:
    text = str(value) if isinstance(value, int | str) else ""
    if not _NUMBERS.fullmatch(text):
        refuse_type("numbers of frames such as `0 2-6`", value, where)
    found: list[int] = []
    for part in text.split(" "):
        first, _, last = part.partition("-")
        stop = int(last or first) + 1
        if stop > MAX_FRAMES:
            raise UnreadableError(f"expected numbers below {MAX_FRAMES}", where=where)
        found += range(int(first), stop)
    return tuple(found)


def format_numbers(numbers: Iterable[int]) -> str:
    """Return ascending numbers as text such as `0 2-6`."""
    runs = groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    parts = []
    for _, run in runs:
        members = [number for _, number in run]
        parts.append(f"{members[0]}-{members[-1]}" if len(members) > 1 else str(members[0]))
    return " ".join(parts)


def format_session(
    session: Session,
    format_body: Callable[[bytes, int], str],
    format_headers: Callable[[Headers, str], Iterable[str]],
) -> Iterator[str]:
    """Yield the lines of the key `session`.

    Args:
        session: the session.
        format_body: formats bytes at an indent.
        format_headers: formats headers under a key.
    """
    yield "session:"
    yield f"  uri: {format_scalar(session.request.uri)}"
    yield from format_headers(session.request.headers, "request_headers")
    yield from format_headers(session.headers, "headers")
    if session.ended != "complete":
        yield f"  ended: {session.ended}"
    if not session.times_kept:
        yield "  times: synthetic"
    yield "  turns:" + ("" if session.turns else " []")
    for turn in session.turns:
        yield f'  - "{format_numbers(turn)}"'
    yield "  frames:" + ("" if session.frames else " []")
    for frame in session.frames:
        yield f"  - from: {frame.side}"
        if frame.at_ms:
            yield f"    at: {frame.at_ms}"
        if frame.opcode != "text":
            yield f"    opcode: {frame.opcode}"
        yield f"    data: {format_body(frame.data, 4)}"
