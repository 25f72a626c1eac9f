"""Events as JSON values -> their bytes, in the framing and the member names of a spelling."""

import json
import re
from typing import Any, assert_never

from harness.dialects.gemini.spelling import Spelling
from harness.turns.exact_json import written
from harness.wire.sse import encode

_LINE_ENDS = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}
_CAPITAL = re.compile("[A-Z]")
_BREAK = re.compile(rb"[\r\n]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Raw(str):
    """JSON text that is written as it is: arguments, whose every digit counts."""

    __slots__ = ()


def framed(events: list[dict[str, Any]], spelling: Spelling, *, ended: bool) -> tuple[bytes, ...]:
    """Return the bytes of each event; an array is only closed where the stream `ended`."""
    wrapped = [{"response": event} if spelling.wrapped else event for event in events]
    payloads = [_dump(event, snake=spelling.names == "snake") for event in wrapped]
    match spelling.framing:
        case "sse":
            line_end = _LINE_ENDS[spelling.line_end]
            return tuple(encode(payload, line_end=line_end) for payload in payloads)
        case "lines":
            # Arguments keep their spelling; a line end in it stands between tokens alone.
            return tuple(_BREAK.sub(b" ", payload) + b"\n" for payload in payloads)
        case "array":
            return _array(payloads, ended=ended)
        case "document":
            return tuple(payloads)
        case _:
            assert_never(spelling.framing)


def _array(payloads: list[bytes], *, ended: bool) -> tuple[bytes, ...]:
    if not payloads:
        return (b"[]",) if ended else ()
    elements = (b"[" + payloads[0], *(b"\n,\n" + payload for payload in payloads[1:]))
    return (*elements, b"\n]") if ended else elements


def _dump(value: object, *, snake: bool) -> bytes:
    text = _text(value, snake=snake)
    # Half a surrogate pair can only be escaped; it stands inside of strings alone.
    return _SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text).encode()


def _text(value: object, *, snake: bool) -> str:
    match value:
        case Raw():
            return value
        case dict():
            members = (
                f"{json.dumps(_snake(name) if snake else name)}: {_text(member, snake=snake)}"
                for name, member in value.items()
            )
            return "{" + ", ".join(members) + "}"
        case list():
            return "[" + ", ".join(_text(item, snake=snake) for item in value) + "]"
        case _:
            return written(value)


def _snake(name: str) -> str:
    return _CAPITAL.sub(lambda letter: f"_{letter[0].lower()}", name)
