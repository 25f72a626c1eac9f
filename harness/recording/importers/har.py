"""HTTP archives of browsers and proxies: `log.entries[]`, bodies as text or base64.

What a browser left out (a body too large, a stream that was still open) is an empty body. An
entry that is damaged costs no other; where all are, the first says why. WebSocket messages are
no streamed response, and are not looked at.
Source: http://www.softwareishard.com/blog/har-12-spec/
"""

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any, Final

from harness.errors import UnreadableError
from harness.recording.importers.container import Found, found, from_base64, why
from harness.recording.importers.http_message import answered
from harness.wire.fields import mapping, refuse, sequence, text
from harness.wire.interaction import Headers, Interaction, Request
from harness.wire.payload import NotJson, decode_json

_KEPT: Final = "bodies and headers; no reads, no times"
_MOST_TOLD: Final = 20
_START: Final = b"\xef\xbb\xbf \t\r\n"


def read(path: PurePath, data: bytes) -> Found | None:
    """Return the entries of the archive; None where the data are no such archive."""
    if not data.lstrip(_START).startswith(b"{") or b'"entries"' not in data:
        return None
    try:
        log = decode_json(data).get("log")
    except NotJson:
        return None
    if not isinstance(log, dict) or "entries" not in log:
        return None
    interactions: list[Interaction] = []
    damaged: dict[int, str] = {}
    first: UnreadableError | None = None
    for n, entry in enumerate(sequence(log["entries"], f"{path}: log.entries")):
        try:
            interactions.append(_interaction(entry, f"{path}: log.entries[{n}]"))
        except UnreadableError as error:
            first = first or error
            more = f": {why(error, path)}" if len(damaged) < _MOST_TOLD else ""
            damaged[n] = f"damaged{more}"
    if first and not interactions:
        raise first
    return found(path, interactions, _KEPT, damaged)


def _interaction(value: object, where: str) -> Interaction:
    entry = mapping(value, where)
    response = mapping(entry.get("response"), f"{where}.response")
    status = response.get("status")
    if not isinstance(status, int):
        refuse("a status code", status, f"{where}.response.status")
    content = mapping(response.get("content"), f"{where}.response.content")
    body = _body(content, f"{where}.response.content")
    headers = _headers(response.get("headers"), f"{where}.response.headers")
    request = _request(mapping(entry.get("request"), f"{where}.request"), f"{where}.request")
    return answered(request, max(status, 0), headers, [(body, 0)], kept=False)


def _request(asked: dict[str, Any], where: str) -> Request:
    posted = mapping(asked.get("postData"), f"{where}.postData")
    return Request(
        method=text(asked.get("method"), f"{where}.method") or "POST",
        uri=text(asked.get("url"), f"{where}.url"),
        headers=_headers(asked.get("headers"), f"{where}.headers"),
        body=_body(posted, f"{where}.postData"),
    )


def _body(content: dict[str, Any], where: str) -> bytes:
    said = text(content.get("text"), where)
    if content.get("encoding") == "base64":
        return from_base64(said, where)
    return said.encode("utf-8", "replace")


def _headers(value: object, where: str) -> Headers:
    items: Iterable[object] = sequence(value or [], where)
    fields = [mapping(item, where) for item in items]
    return tuple((text(f.get("name"), where), text(f.get("value"), where)) for f in fields)
