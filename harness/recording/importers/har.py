"""Import HTTP archives of browsers and proxies: `log.entries[]`, bodies as text or base64.

A body that a browser left out (too large, or a stream that was still open) is empty. A damaged
entry is skipped. If all are damaged, the error of the first is raised. WebSocket messages are not
streamed responses, and are ignored.
Source: http://www.softwareishard.com/blog/har-12-spec/
"""

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any, Final

from harness.files.typed import expect_list, expect_mapping, expect_text, refuse_type
from harness.recording.importers.container import ContainerFile, decode_base64, entries_file
from harness.recording.importers.event_list import parse_event
from harness.recording.importers.http_message import response_interaction
from harness.wire.interaction import Headers, Interaction, Request

_START: Final = b"\xef\xbb\xbf \t\r\n"


def read(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the entries of the archive, or None if the data are not an archive."""
    if not data.lstrip(_START).startswith(b"{") or b'"entries"' not in data:
        return None
    log = (parse_event(data) or {}).get("log")
    if not isinstance(log, dict) or "entries" not in log:
        return None
    entries = expect_list(log["entries"], f"{path}: log.entries")
    placed = ((f"{path}: log.entries[{n}]", entry) for n, entry in enumerate(entries))
    return entries_file(path, placed, _interaction)


def _interaction(value: object, where: str) -> Interaction:
    entry = expect_mapping(value, where)
    response = expect_mapping(entry.get("response"), f"{where}.response")
    status = response.get("status")
    if not isinstance(status, int):
        refuse_type("a status code", status, f"{where}.response.status")
    content = expect_mapping(response.get("content"), f"{where}.response.content")
    body = _body(content, f"{where}.response.content")
    headers = _headers(response.get("headers"), f"{where}.response.headers")
    request = _request(expect_mapping(entry.get("request"), f"{where}.request"), f"{where}.request")
    return response_interaction(request, max(status, 0), headers, [(body, 0)], kept=False)


def _request(asked: dict[str, Any], where: str) -> Request:
    posted = expect_mapping(asked.get("postData"), f"{where}.postData")
    return Request(
        method=expect_text(asked.get("method"), f"{where}.method") or "POST",
        uri=expect_text(asked.get("url"), f"{where}.url"),
        headers=_headers(asked.get("headers"), f"{where}.headers"),
        body=_body(posted, f"{where}.postData"),
    )


def _body(content: dict[str, Any], where: str) -> bytes:
    body = expect_text(content.get("text"), where)
    if content.get("encoding") == "base64":
        return decode_base64(body, where)
    return body.encode("utf-8", "replace")


def _headers(value: object, where: str) -> Headers:
    items: Iterable[object] = expect_list(value or [], where)
    fields = [expect_mapping(item, where) for item in items]
    return tuple(
        (expect_text(f.get("name"), where), expect_text(f.get("value"), where)) for f in fields
    )
