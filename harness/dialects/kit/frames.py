"""Join payloads to the bytes of a response: server-sent events, JSON lines, or one JSON array.

Each function returns one item for each event. The joined items are the body.
Source: HTML Standard, 9.2.6 "Interpreting an event stream"; https://jsonlines.org
"""

from collections.abc import Iterable, Sequence
from typing import Final, Literal, TypeAlias

from harness.wire.sse import encode

LineEnd: TypeAlias = Literal["lf", "crlf", "cr"]
LINE_ENDS: Final[dict[LineEnd, bytes]] = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}
# OpenAI's mark for the end of a stream, which many servers and gateways copied.
DONE: Final = b"[DONE]"
_BOM: Final = b"\xef\xbb\xbf"


def sse_events(  # noqa: PLR0913 - what real servers do to this format, each on its own
    payloads: Iterable[bytes],
    names: Sequence[str] = (),
    *,
    line_end: LineEnd = "lf",
    space: bool = True,
    comment: str = "",
    bom: bool = False,
) -> tuple[bytes, ...]:
    """Return the bytes of each server-sent event.

    Args:
        payloads: the data of each event.
        names: the name of each event; "" for an event without one, () if no event has one.
        line_end: the end of each line.
        space: whether a space follows the colon of a field.
        comment: a comment line before each event, like a gateway's keep-alive; "" for none.
        bom: whether the stream begins with a byte order mark.
    """
    end = LINE_ENDS[line_end]
    before = f":{comment}".encode() + end * 2 if comment else b""
    data = tuple(payloads)
    events = [
        before + encode(payload, event=name, line_end=end, space=space)
        for payload, name in zip(data, names or [""] * len(data), strict=True)
    ]
    if bom and events:
        events[0] = _BOM + events[0]
    return tuple(events)


def json_lines(
    payloads: Iterable[bytes], line_end: LineEnd = "lf", *, final: bool = True
) -> tuple[bytes, ...]:
    """Return each payload as a line. If `final` is False, the last line has no line end."""
    end = LINE_ENDS[line_end]
    lines = [payload + end for payload in payloads]
    if lines and not final:
        lines[-1] = lines[-1].removesuffix(end)
    return tuple(lines)


def json_array(
    payloads: Sequence[bytes], separator: bytes, end: bytes = b"]", *, ended: bool = True
) -> tuple[bytes, ...]:
    """Return the payloads as items of one array, with its closing bracket only if `ended`."""
    if not payloads:
        return (b"[]",) if ended else ()
    items = (b"[" + payloads[0], *(separator + payload for payload in payloads[1:]))
    return (*items, end) if ended else items
