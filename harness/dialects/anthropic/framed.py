"""JSON events of a message -> bytes: as server-sent events, or as tools write them down."""

from typing import Any

from harness.dialects.anthropic.spelling import Spelling
from harness.turns.json_text import dump
from harness.wire.sse import encode

_LINE_ENDS = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}
_BOM = b"\xef\xbb\xbf"


def framed(
    events: list[dict[str, Any]], spelling: Spelling, *, done: bool = False
) -> tuple[bytes, ...]:
    """Return the bytes of each event; `done` adds the mark that gateways end streams with."""
    payloads = [dump(event) for event in events]
    if spelling.whole == "document" and len(payloads) == 1:
        return tuple(payloads)
    if spelling.framing == "lines":
        return tuple(payload + b"\n" for payload in payloads)
    if spelling.framing == "list":
        return _listed(payloads)
    names = [str(event["type"]) for event in events]
    if done:
        payloads.append(b"[DONE]")
        names.append("data")
    return _sse(payloads, names, spelling)


def _listed(payloads: list[bytes]) -> tuple[bytes, ...]:
    if not payloads:
        return (b"[]",)
    starts = [b"[", *[b", "] * (len(payloads) - 1)]
    *most, last = (start + payload for start, payload in zip(starts, payloads, strict=True))
    return (*most, last + b"]")


def _sse(payloads: list[bytes], names: list[str], spelling: Spelling) -> tuple[bytes, ...]:
    line_end = _LINE_ENDS[spelling.line_end]
    comment = f":{spelling.comment}".encode() + line_end * 2 if spelling.comment else b""
    lines = {"type": names, "absent": [""] * len(names), "chunk": ["chunk"] * len(names)}
    events = [
        comment + encode(payload, event=name, line_end=line_end, space=spelling.space)
        for payload, name in zip(payloads, lines[spelling.event_line], strict=True)
    ]
    if spelling.bom and events:
        events[0] = _BOM + events[0]
    return tuple(events)
