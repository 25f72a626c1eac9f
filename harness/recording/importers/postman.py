"""Import saved responses of Postman collections, format 2.0 and 2.1, with their requests.

Folders may be nested. Variables such as `{{baseUrl}}` are not replaced.
Source: https://schema.postman.com/collection/json/v2.1.0/draft-07/docs/index.html
"""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, Final

from harness.errors import UnreadableError
from harness.files.typed import expect_list, expect_mapping, expect_text
from harness.recording.importers.container import ContainerFile, entries_file
from harness.recording.importers.event_list import parse_event
from harness.recording.importers.http_fields import body_bytes, header_fields, status_code
from harness.recording.importers.http_message import response_interaction
from harness.wire.interaction import Headers, Interaction, Request

_KEPT: Final = "saved responses: bodies and headers; no reads, no times"
_SCHEMAS: Final = ("schema.getpostman.com", "schema.postman.com")


class _Saved:
    """A saved response, and the request to which it belongs."""

    def __init__(self, response: object, request: object) -> None:
        self.response = response
        self.request = request


def read(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the saved responses of the collection, or None if the data are not a collection."""
    if not data.lstrip().startswith(b"{") or not any(name.encode() in data for name in _SCHEMAS):
        return None
    value = parse_event(data) or {}
    collection = value.get("collection", value)  # the API of Postman wraps it
    info = collection.get("info") if isinstance(collection, dict) else None
    schema = info.get("schema") if isinstance(info, dict) else None
    if not isinstance(schema, str) or not any(name in schema for name in _SCHEMAS):
        return None
    if "item" not in collection:
        raise UnreadableError(
            "expected a collection of format 2.0 or 2.1, found another one",
            where=str(path),
            hint="Export it from Postman as Collection v2.1.",
        )
    return entries_file(path, _saved(collection["item"], f"{path}: item"), _interaction, _KEPT)


def _saved(top: object, where: str) -> Iterator[tuple[str, _Saved]]:
    """Yield the path and the content of each saved response, depth first in the file's order."""
    open_items = [(where, top)]
    while open_items:
        place, value = open_items.pop()
        if not isinstance(value, list):
            item = value if isinstance(value, dict) else {}
            for n, response in enumerate(_listed(item.get("response"))):
                yield f"{place}.response[{n}]", _Saved(response, item.get("request"))
            value = _listed(item.get("item"))
            place = f"{place}.item"
        open_items += [(f"{place}[{n}]", each) for n, each in enumerate(value)][::-1]


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _interaction(saved: _Saved, where: str) -> Interaction:
    response = expect_mapping(saved.response, where)
    original = response.get("originalRequest") or saved.request
    request = _request(original, f"{where}.originalRequest")
    status = status_code(response.get("code"), f"{where}.code")
    headers = _headers(response.get("header"), f"{where}.header")
    body = body_bytes(expect_text(response.get("body"), f"{where}.body"), f"{where}.body")
    return response_interaction(request, status, headers, [(body, 0)], kept=False)


def _request(value: object, where: str) -> Request:
    if isinstance(value, str):  # the address of a GET
        return Request("GET", value)
    fields = expect_mapping(value, where)
    body = expect_mapping(fields.get("body"), f"{where}.body")
    return Request(
        method=expect_text(fields.get("method"), f"{where}.method").upper() or "GET",
        uri=_address(fields.get("url"), f"{where}.url"),
        headers=_headers(fields.get("header"), f"{where}.header"),
        body=body_bytes(expect_text(body.get("raw"), f"{where}.body.raw"), where),
    )


def _address(value: object, where: str) -> str:
    if isinstance(value, str):
        return value
    url = expect_mapping(value, where)
    if "raw" in url:
        return expect_text(url["raw"], f"{where}.raw")
    host, path = _joined(url.get("host"), ".", where), _joined(url.get("path"), "/", where)
    scheme = expect_text(url.get("protocol"), f"{where}.protocol") or "https"
    return f"{scheme}://{host}/{path}"


def _joined(value: object, separator: str, where: str) -> str:
    if isinstance(value, str):
        return value
    return separator.join(expect_text(part, where) for part in expect_list(value or [], where))


def _headers(value: object, where: str) -> Headers:
    """Return headers from a list of objects, or from one text with a header on each line."""
    if not isinstance(value, str):
        return header_fields(value, where)
    pairs = (line.partition(":") for line in value.splitlines())
    return tuple((name.strip(), text.strip()) for name, colon, text in pairs if colon)
