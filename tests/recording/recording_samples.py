"""Recordings in the formats of other tools, written by their documented rules."""

from collections.abc import Callable, Sequence
from typing import Any

URI = "https://api.openai.com/v1/chat/completions"
ASKED = '{"model": "m", "stream": true}'


def tnetstring(value: object) -> bytes:
    """Return `value` as mitmproxy spells it."""
    data, kind = _spelled(value)
    return b"%d:%s%s" % (len(data), data, kind)


def _spelled(value: Any) -> tuple[bytes, bytes]:  # noqa: ANN401 - any value of a flow
    kind, spell = _TYPES[type(value)]
    return spell(value), kind


def _pairs(value: dict[str, object]) -> bytes:
    return b"".join(tnetstring(part) for item in value.items() for part in item)


def _items(value: Sequence[object]) -> bytes:
    return b"".join(map(tnetstring, value))


_TYPES: dict[type, tuple[bytes, Callable[[Any], bytes]]] = {
    type(None): (b"~", lambda _: b""),
    bool: (b"!", lambda value: b"true" if value else b"false"),
    int: (b"#", lambda value: str(value).encode()),
    float: (b"^", lambda value: repr(value).encode()),
    bytes: (b",", bytes),
    str: (b";", str.encode),
    dict: (b"}", _pairs),
    list: (b"]", _items),
    tuple: (b"]", _items),
}


def flow(body: bytes | None, **changed: Any) -> dict[str, Any]:  # noqa: ANN401 - the parts of a flow
    """Return a flow of version 21 whose answer is `body`; without one it has none."""
    moment = {"timestamp_start": 1.25, "timestamp_end": 2.5, "trailers": None}
    request = {
        **moment,
        "http_version": b"HTTP/2.0",
        "headers": ((b"host", b"api.openai.com"), (b"accept", b"*/*")),
        "content": ASKED.encode(),
        "host": "192.0.2.1",
        "port": 443,
        "method": b"POST",
        "scheme": b"https",
        "authority": b"",
        "path": b"/v1/chat/completions",
    }
    response = {
        **moment,
        "http_version": b"HTTP/2.0",
        "headers": ((b"content-type", b"text/event-stream"),),
        "content": body,
        "status_code": 200,
        "reason": b"OK",
    }
    return {
        "version": 21,
        "type": "http",
        "id": "a",
        "intercepted": False,
        "error": None,
        "websocket": None,
        "request": request,
        "response": None if body is None else response,
        **changed,
    }


def flows(*values: object) -> bytes:
    """Return a flow file."""
    return b"".join(map(tnetstring, values))


def trace(
    body: bytes, *, time: str = "", plain: bool = False, cuts: Sequence[int] = (40, 60)
) -> bytes:
    """Return what `curl --trace` writes for an exchange with the answer `body`, chunked.

    Args:
        body: with its chunked transfer coding.
        time: what stands before each heading.
        plain: whether it is `--trace-ascii`.
        cuts: where the network cut the body.
    """
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: api.openai.com\r\nA: {'b' * 70}\r\n\r\n"
    ends = [*cuts, len(body)]
    answer = ("HTTP/1.1 100 Continue", "", "HTTP/1.1 200 OK", "Content-Type: text/event-stream")
    parts: list[tuple[str, bytes]] = [
        ("=> Send header", head.encode()),
        ("=> Send data", ASKED.encode()),
        *(("<= Recv header", f"{line}\r\n".encode()) for line in answer),
        ("<= Recv header", b"Transfer-Encoding: chunked\r\n"),
        ("<= Recv header", b"\r\n"),
        ("<= Recv SSL data", b"\x17\x03\x03\x00\x00"),
        *(("<= Recv data", body[a:b]) for a, b in zip([0, *cuts], ends, strict=True)),
    ]
    dump = _dump_ascii if plain else _dump
    text = [f"{time}== Info: Trying 192.0.2.1:443...\n".encode()]
    for name, data in parts:
        text.append(f"{time}{name}, {len(data)} bytes (0x{len(data):x})\n".encode() + dump(data))
    return b"".join([*text, f"{time}== Info: Connection #0 left intact, and so on\n".encode()])


def _dump(data: bytes) -> bytes:
    rows = ((start, data[start : start + 16]) for start in range(0, len(data), 16))
    return b"".join(
        b"%04x: %s%s\n" % (start, row.hex(" ").encode().ljust(47) + b" ", _shown(row))
        for start, row in rows
    )


def _dump_ascii(data: bytes) -> bytes:
    """Write rows of at most 64 bytes; a CRLF ends a row and is not shown."""
    rows, at = [], 0
    while at < len(data):
        row = data[at : at + 64]
        end = data.find(b"\r\n", at, at + 66)
        row = data[at:end] if end >= 0 else row
        rows.append(b"%04x: %s\n" % (at, _shown(row)))
        at += len(row) + 2 * (end >= 0)
    return b"".join(rows)


def _shown(row: bytes) -> bytes:
    return bytes(byte if 0x20 <= byte < 0x7F else ord(".") for byte in row)
