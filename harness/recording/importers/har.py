"""Import HTTP archives of browsers and proxies: `log.entries[]`, bodies as text or base64.

A body that a browser left out (too large, or a stream that was still open) is empty. The importer
skips a damaged entry. If all are damaged, it raises the error of the first one. An entry of
status 101 with `_webSocketMessages` is a session; browsers write a binary message in base64.

Polly.js writes such archives with further keys. It writes bodies that are not text in hexadecimal,
and bodies with a content encoding as a list of chunks in hexadecimal or base64. Its storage in a
browser has one archive for each recording.
Sources: http://www.softwareishard.com/blog/har-12-spec/,
https://netflix.github.io/pollyjs/#/examples, https://netflix.github.io/pollyjs/#/persisters/fs
"""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, Final

from harness.files.typed import expect_list, expect_mapping, expect_text, refuse_type
from harness.recording.importers.container import ContainerFile, decode_base64, entries_file
from harness.recording.importers.event_list import parse_event
from harness.recording.importers.http_fields import decode_hex, header_fields, is_encoded
from harness.recording.importers.http_message import response_interaction
from harness.recording.importers.websocket import OPCODES, timed_session
from harness.wire.interaction import SWITCHING_PROTOCOLS, Headers, Interaction, Request
from harness.wire.payload import json_or_none
from harness.wire.session import Session, SessionFrame, Side

_START: Final = b"\xef\xbb\xbf \t\r\n"


def read(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the entries of the archive, or None if the data are not an archive."""
    if not data.lstrip(_START).startswith(b"{") or b'"entries"' not in data:
        return None
    logs = list(_logs(parse_event(data) or {}, str(path)))
    if not logs:
        return None
    placed = (
        (f"{where}.entries[{n}]", entry)
        for where, log in logs
        for n, entry in enumerate(_released(expect_list(log["entries"], f"{where}.entries")))
    )
    return entries_file(path, placed, _entry)


def _released(entries: list[Any]) -> Iterator[Any]:
    """Yield each entry and forget it, so that only one is in memory as text and as bytes."""
    entries.reverse()
    while entries:
        yield entries.pop()


def _logs(archive: dict[str, Any], where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the log of an archive, or the logs of the recordings that are its members."""
    named = {"": archive} if "log" in archive else archive
    for name, held in named.items():
        log = held.get("log") if isinstance(held, dict) else None
        if isinstance(log, dict) and "entries" in log:
            yield f"{where}: {name}.log" if name else f"{where}: log", log


def _entry(value: object, where: str) -> Interaction | Session:
    entry = expect_mapping(value, where)
    response = expect_mapping(entry.get("response"), f"{where}.response")
    is_open = response.get("status") == SWITCHING_PROTOCOLS and entry.get("_webSocketMessages")
    return _session(entry, where) if is_open else _interaction(entry, where)


def _session(entry: dict[str, Any], where: str) -> Session:
    response = expect_mapping(entry.get("response"), f"{where}.response")
    headers = header_fields(response.get("headers") or [], f"{where}.response.headers")
    request = _request(expect_mapping(entry.get("request"), f"{where}.request"), f"{where}.request")
    place = f"{where}._webSocketMessages"
    messages = expect_list(entry["_webSocketMessages"], place)
    frames = [_message(each, f"{place}[{n}]") for n, each in enumerate(messages)]
    return timed_session(frames, request, headers)


def _message(value: object, where: str) -> tuple[float, SessionFrame]:
    message = expect_mapping(value, where)
    kind, opcode, time = message.get("type"), message.get("opcode", 1), message.get("time", 0)
    if kind not in ("send", "receive"):
        refuse_type("send or receive", kind, f"{where}.type")
    text = expect_text(message.get("data"), f"{where}.data")
    if opcode not in OPCODES or not isinstance(time, int | float):
        refuse_type("an opcode and a time", message, where)
    data = text.encode("utf-8", "replace")
    if OPCODES[opcode] != "text":
        data = decode_base64(text, f"{where}.data")
    side: Side = "client" if kind == "send" else "server"
    return time, SessionFrame(side, data, opcode=OPCODES[opcode])


def _interaction(entry: dict[str, Any], where: str) -> Interaction:
    response = expect_mapping(entry.get("response"), f"{where}.response")
    status = response.get("status")
    if not isinstance(status, int):
        refuse_type("a status code", status, f"{where}.response.status")
    content = expect_mapping(response.get("content"), f"{where}.response.content")
    headers = header_fields(response.get("headers") or [], f"{where}.response.headers")
    body = _body(content, headers, f"{where}.response.content")
    request = _request(expect_mapping(entry.get("request"), f"{where}.request"), f"{where}.request")
    return response_interaction(request, max(status, 0), headers, [(body, 0)], kept=False)


def _request(asked: dict[str, Any], where: str) -> Request:
    posted = expect_mapping(asked.get("postData"), f"{where}.postData")
    return Request(
        method=expect_text(asked.get("method"), f"{where}.method") or "POST",
        uri=expect_text(asked.get("url"), f"{where}.url"),
        headers=header_fields(asked.get("headers") or [], f"{where}.headers"),
        body=_body(posted, (), f"{where}.postData"),
    )


def _body(content: dict[str, Any], headers: Headers, where: str) -> bytes:
    text = expect_text(content.get("text"), where)
    is_base64 = content.get("encoding") == "base64"
    if text.startswith("[") and (is_base64 or is_encoded(headers)):
        chunks = json_or_none(text.encode("utf-8", "replace"))
        if isinstance(chunks, list) and all(isinstance(chunk, str) for chunk in chunks):
            return (
                b"".join(decode_base64(chunk, where) for chunk in chunks)
                if is_base64
                else decode_hex(chunks, where)
            )
    if is_base64:
        return decode_base64(text, where)
    if content.get("_isBinary") is True:
        return decode_hex([text], where)
    return text.encode("utf-8", "replace")
