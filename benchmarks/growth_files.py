"""Hostile files for the importers, of any size: entries of each container, and what breaks off."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import PurePath
from typing import Final

from harness.errors import HarnessError
from harness.recording.importing import Labels, import_file
from harness.recording.pasted import ways_to_read

Make = Callable[[int], bytes]


def repeated(unit: bytes, start: bytes = b"") -> Make:
    """Return what fills a body with `unit`, after `start`."""
    return lambda size: (start + unit * (size // len(unit) + 1))[:size]


@cache
def _sample(kind: str) -> tuple[bytes, bytes, bytes]:
    """Return the start, a unit and the end of a file of one container."""
    event = json.dumps({"choices": [{"delta": {"content": "a"}}], "model": "m"})
    stream = f"data: {event}\n\n"
    address = "https://api.openai.com/v1/chat/completions"
    asked = {"method": "POST", "url": address, "headers": []}
    answer = {"status": 200, "headers": [], "content": {"text": stream}}
    entry = json.dumps({"request": asked, "response": answer})
    yaml_entry = (
        "- request:\n    method: POST\n    uri: https://api.openai.com/v1/chat/completions\n"
        "    headers: {}\n    body: '{}'\n  response:\n    status: {code: 200}\n    headers: {}\n"
        f"    body: {{string: {json.dumps(stream)}}}\n"
    )
    sent, got = b"POST / HTTP/1.1\r\n\r\n{}", b"HTTP/1.1 200 OK\r\n\r\n" + stream.encode()
    flow = b"3:a;1:b;"  # replaced below
    del flow
    asking, asked_back = {"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}
    chat = json.dumps({"messages": [asking, asked_back]})
    gemini = json.dumps({"method": "generateContentStream", "response": [{"candidates": []}]})
    mock = "---\nwhen:\n  path: /v1\n  method: POST\nthen:\n  status: 200\n  body: |\n    data: 1\n"
    files = {
        "vcr-yaml": ("interactions:\n", yaml_entry, ""),
        "vcr-ruby": ("http_interactions:\n", yaml_entry, "recorded_with: VCR 6.4.0\n"),
        "har": ('{"log": {"entries": [', entry + ",", entry + "]}}"),
        "chat-log": ("", chat + "\n", ""),
        "chunk-list": ("[", event + ",", event + "]"),
        "jsonl-events": ("", json.dumps({"Type": "message", "Data": event}) + "\n", ""),
        "gemini-cli": ("", gemini + "\n", ""),
        "raw-sse": ("", stream, ""),
        "curl-trace": (
            _section("=> Send header", "POST /v1 HTTP/1.1\r\n\r\n")
            + _section("<= Recv header", "HTTP/1.1 200 OK\r\n")
            + _section("<= Recv header", "\r\n"),
            _section("<= Recv data", "data: 1\n\n"),
            "",
        ),
        "curl-output": (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "5\r\na: b\n\r\n",
            "",
        ),
        "req_llm": (
            '{"request": {}, "response": {"status": 200}, "chunks": [',
            '{"b64": "YQ=="},',
            '{"b64": "YQ=="}]}',
        ),
        "httpmock-yaml": ("", mock, ""),
        **_samples_of_mocks(stream, address),
    }
    if kind == "httprr":
        return b"httprr trace v1\n", b"%d %d\n%s%s" % (len(sent), len(got), sent, got), b""
    if kind == "mitmproxy":
        return b"", _flow(stream.encode()), b""
    start, unit, end = files[kind]
    return start.encode(), unit.encode(), end.encode()


def _samples_of_mocks(stream: str, address: str) -> dict[str, tuple[str, str, str]]:
    """Return the start, a unit and the end of files of mock servers and recorders of clients."""
    answer = {"status": 200, "headers": {"a": "b"}, "body": stream}
    text = json.dumps(stream)
    pairs = {
        "nock": {"scope": "https://a.example", "path": "/v1", "status": 200, "response": stream},
        "http-json": {"request": {"url": address}, "response": answer},
        "wiremock": {"request": {"urlPath": "/v1"}, "response": answer},
        "hoverfly": {"request": {"path": [{"matcher": "exact", "value": "/"}]}, "response": answer},
        "postman": {"request": address, "response": [{"code": 200, "header": [], "body": stream}]},
    }
    starts = {
        "nock": ("[", "]"),
        "http-json": ("[", "]"),
        "wiremock": ('{"mappings": [', "]}"),
        "hoverfly": ('{"data": {"pairs": [', "]}}"),
        "postman": ('{"info": {"schema": "https://schema.getpostman.com/"}, "item": [', "]}"),
    }
    found = {}
    for kind, pair in pairs.items():
        (start, end), entry = starts[kind], json.dumps(pair)
        found[kind] = (start, f"{entry},", f"{entry}{end}")
    go_vcr = (
        f"- request:\n    url: {address}\n    method: POST\n"
        f"  response:\n    body: {text}\n    headers: {{}}\n    status: 200 OK\n    code: 200\n"
    )
    return {**found, "go-vcr": ("version: 1\ninteractions:\n", go_vcr, "")}


def _section(name: str, data: str) -> str:
    """Return a section of a trace of curl, of short data."""
    rows = (data[at : at + 16].encode() for at in range(0, len(data), 16))
    lines = (
        f"{16 * n:04x}: {row.hex(' '):<48}{row.decode().translate({10: '.', 13: '.'})}\n"
        for n, row in enumerate(rows)
    )
    return f"{name}, {len(data)} bytes (0x{len(data):x})\n" + "".join(lines)


def _flow(body: bytes) -> bytes:
    def text(value: bytes, kind: bytes = b",") -> bytes:
        return b"%d:%s%s" % (len(value), value, kind)

    def mapping(**items: bytes) -> bytes:
        return text(b"".join(text(k.encode(), b";") + v for k, v in items.items()), b"}")

    none = text(b"", b"]")
    request = mapping(
        headers=none, content=text(b"{}"), host=text(b"a.example", b";"), port=text(b"443", b"#"),
        method=text(b"POST"), scheme=text(b"https"), path=text(b"/v1/chat/completions"),
    )  # fmt: skip
    response = mapping(headers=none, content=text(body), status_code=text(b"200", b"#"))
    return mapping(version=text(b"21", b"#"), request=request, response=response)


CONTAINERS: Final = (
    "vcr-yaml", "vcr-ruby", "har", "chat-log", "chunk-list", "jsonl-events", "gemini-cli",
    "raw-sse", "curl-trace", "curl-output", "req_llm", "httpmock-yaml", "httprr", "mitmproxy",
    "nock", "http-json", "wiremock", "hoverfly", "postman", "go-vcr",
)  # fmt: skip


def file_families(kind: str) -> Iterator[tuple[str, Make]]:
    """Yield hostile files of one container."""
    start, unit, end = _sample(kind)
    yield "entries", lambda size: start + unit * max(1, size // len(unit)) + end
    yield "entries, no end", lambda size: start + unit * max(1, size // len(unit))
    yield "half entries", repeated(unit[: len(unit) // 2], start)
    yield "line ends", repeated(b"\n", start + unit)
    yield "spaces", repeated(b" ", start + unit)
    yield "braces", repeated(b"{", start + unit)
    yield "digits", repeated(b"1", start + unit)
    yield "quotes", repeated(b'"', start + unit)
    yield "CRLF", repeated(b"\r\n", start + unit)


def bare_files() -> Iterator[tuple[str, Make]]:
    """Yield files that begin as no container does, or as several do."""
    units = (
        b" ",
        b"\n",
        b"[",
        b"{",
        b'{"a":',
        b"a",
        b"a\n",
        b"1 1\n",
        b"1:",
        b"data:",
        b"- ",
        b"{}\n",
    )
    yield from ((repr(unit.decode()), repeated(unit)) for unit in units)


def pasted_files() -> Iterator[tuple[str, Make]]:
    """Yield texts that a person may paste, and those that are hard to find a stream in."""
    units = (
        b"{",
        b'{"a":',
        b"b'",
        b"b'\\'",
        b'b"data: {',
        b"event: a\n",
        b"12:00 data: {}\n",
        b'a {"m": "data: {}"}\n',
        b"<\n",
        b"< HTTP/2 200\n",
        b"> ",
    )
    yield from ((repr(unit.decode()), repeated(unit)) for unit in units)


def read_pasted(body: bytes) -> object:
    """Return all ways to read a pasted text."""
    return list(ways_to_read(body))


def import_body(body: bytes) -> object:
    """Return what the importer makes of a file; None if it refuses it."""
    with suppress(HarnessError):
        return import_file(PurePath("a.x"), body, "a.x", Labels())
    return None
