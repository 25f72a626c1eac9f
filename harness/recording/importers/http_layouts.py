"""Import recordings that differ only in the names of their members: each format is one row.

A row states where the entries are, and the path of each part of an entry. A path is names with
dots. A part that an entry lacks stays empty.

Sources: the test proxy of https://github.com/Azure/azure-sdk-tools (`Entries`), req_cassette
(https://hexdocs.pm/req_cassette), MockServer (https://www.mock-server.com, recorded
expectations), EasyVCR (https://github.com/EasyPost/easyvcr-csharp) and Scotch
(https://github.com/mleech/scotch), sessions of Charles as JSON, mocks of Keploy
(https://keploy.io/docs), the recorder of https://github.com/getsentry/responses, and tapes of
https://github.com/airtasker/proxay.
"""

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

import msgspec

from harness.errors import UnreadableError
from harness.files import yaml_text
from harness.files.typed import expect_text
from harness.recording.importers.container import ContainerFile, decode_base64, entries_file
from harness.recording.importers.http_fields import (
    body_bytes,
    header_fields,
    is_object_or_list,
    status_code,
)
from harness.recording.importers.http_message import header_of, response_interaction
from harness.turns.json_values import at_path
from harness.wire.interaction import Headers, Interaction, Request
from harness.wire.payload import json_or_none

_BASE64: Final = "base64"
_DOCUMENTS: Final = re.compile(rb"^---[ \t]*\r?$", re.MULTILINE)


class _Layout(msgspec.Struct, frozen=True):
    """Where a format stores the parts of an entry.

    Fields:
        mark: bytes that each file of the format contains.
        entries: the member of the document with the list; "" if the document is the list or one
            entry, "*" if each YAML document is an entry.
        signs: paths that each entry has.
        uri: paths whose texts are joined.
        status, headers, body: of the response; likewise those of the request.
        body: (path, "base64" or the path of the name of the encoding); the first that exists.
    """

    mark: bytes
    entries: str
    signs: tuple[str, ...]
    method: str
    uri: tuple[str, ...]
    status: str
    headers: tuple[str, ...]
    body: tuple[tuple[str, str], ...]
    request_headers: tuple[str, ...] = ()
    request_body: tuple[tuple[str, str], ...] = ()


def _dotnet(uri: str) -> _Layout:
    """Return the layout of the recorders for .NET, which differ in the spelling of one member."""
    return _Layout(
        mark=b'"ContentHeaders"',
        entries="",
        signs=(uri, "Response.Status"),
        method="Request.Method",
        uri=(uri,),
        status="Response.Status.Code",
        headers=("Response.ResponseHeaders", "Response.ContentHeaders"),
        body=(("Response.Body", ""),),
        request_headers=("Request.RequestHeaders", "Request.ContentHeaders"),
        request_body=(("Request.Body", ""),),
    )


def _blobs(side: str) -> tuple[tuple[str, str], ...]:
    return (f"{side}.body_blob", _BASE64), (f"{side}.body_json", ""), (f"{side}.body", "")


def _expected(side: str) -> tuple[tuple[str, str], ...]:
    names = (("base64Bytes", _BASE64), ("string", ""), ("json", ""))
    return *((f"{side}.body.{name}", form) for name, form in names), (f"{side}.body", "")


_LAYOUTS: Final = {
    "azure-test-proxy": _Layout(
        mark=b'"RequestUri"',
        entries="Entries",
        signs=("RequestUri", "StatusCode"),
        method="RequestMethod",
        uri=("RequestUri",),
        status="StatusCode",
        headers=("ResponseHeaders",),
        body=(("ResponseBody", ""),),
        request_headers=("RequestHeaders",),
        request_body=(("RequestBody", ""),),
    ),
    "req-cassette": _Layout(
        mark=b'"body_type"',
        entries="interactions",
        signs=("request.uri", "response.body_type"),
        method="request.method",
        uri=("request.uri",),
        status="response.status",
        headers=("response.headers",),
        body=_blobs("response"),
        request_headers=("request.headers",),
        request_body=_blobs("request"),
    ),
    "mockserver": _Layout(
        mark=b'"httpResponse"',
        entries="",
        signs=("httpRequest", "httpResponse"),
        method="httpRequest.method",
        uri=("httpRequest.path",),
        status="httpResponse.statusCode",
        headers=("httpResponse.headers",),
        body=_expected("httpResponse"),
        request_headers=("httpRequest.headers",),
        request_body=_expected("httpRequest"),
    ),
    "easyvcr": _dotnet("Request.Uri"),
    "scotch": _dotnet("Request.URI"),
    "charles": _Layout(
        mark=b'"firstLine"',
        entries="",
        signs=("host", "response.header"),
        method="method",
        uri=("path",),
        status="response.status",
        headers=("response.header.headers",),
        body=(("response.body.text", ""), ("response.body.encoded", _BASE64)),
        request_headers=("request.header.headers",),
        request_body=(("request.body.text", ""), ("request.body.encoded", _BASE64)),
    ),
    "keploy": _Layout(
        mark=b"api.keploy.io",
        entries="*",
        signs=("spec.req.url", "spec.resp"),
        method="spec.req.method",
        uri=("spec.req.url",),
        status="spec.resp.status_code",
        headers=("spec.resp.header",),
        body=(("spec.resp.body", ""),),
        request_headers=("spec.req.header",),
        request_body=(("spec.req.body", ""),),
    ),
    "responses": _Layout(
        mark=b"auto_calculate_content_length",
        entries="responses",
        signs=("response.url", "response.auto_calculate_content_length"),
        method="response.method",
        uri=("response.url",),
        status="response.status",
        headers=("response.content_type", "response.headers"),
        body=(("response.body", ""),),
    ),
    "proxay": _Layout(
        mark=b"compression",
        entries="http_interactions",
        signs=("request.host", "request.path", "response.body"),
        method="request.method",
        uri=("request.host", "request.path"),
        status="response.status",
        headers=("response.headers",),
        body=(("response.body.data", "response.body.encoding"),),
        request_headers=("request.headers",),
        request_body=(("request.body.data", "request.body.encoding"),),
    ),
}


def read(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the entries of the file, or None if it has the form of no row."""
    for layout in _LAYOUTS.values():
        if layout.mark not in data:
            continue
        try:
            items = list(_items(layout, data, str(path)))
        except UnreadableError:  # YAML with tags of another recorder, which its reader knows
            continue
        if items and all(_has_signs(layout, item) for _, item in items):
            return _container(path, layout, items)
    return None


def _container(path: PurePath, layout: _Layout, items: list[tuple[str, object]]) -> ContainerFile:
    placed = ((f"{path}: {place}", item) for place, item in items)
    return entries_file(path, placed, lambda item, where: _interaction(layout, item, where))


def _items(layout: _Layout, data: bytes, where: str) -> Iterator[tuple[str, object]]:
    """Yield the place and the value of each entry."""
    if is_object_or_list(data):
        documents = [json_or_none(data)]
    else:
        parts = _DOCUMENTS.split(data)
        documents = [yaml_text.load_yaml(part, where) for part in parts if part.strip()]
    for number, document in enumerate(documents):
        key = layout.entries.strip("*")
        listed = document.get(key) if key and isinstance(document, dict) else document
        if isinstance(listed, list):
            yield from ((f"{key}[{n}]", item) for n, item in enumerate(listed))
        elif not key:
            yield f"[{number}]", listed


def _has_signs(layout: _Layout, item: object) -> bool:
    return all(at_path(item, sign) is not None for sign in layout.signs)


def _interaction(layout: _Layout, item: object, where: str) -> Interaction:
    headers = _headers(item, layout.request_headers, where)
    method = expect_text(at_path(item, layout.method), f"{where}.{layout.method}").upper()
    request = Request(
        method or "POST",
        _uri(layout, item, headers, where),
        headers,
        _body(item, layout.request_body, where),
    )
    return response_interaction(
        request,
        status_code(at_path(item, layout.status), f"{where}.{layout.status}"),
        _headers(item, layout.headers, where),
        [(_body(item, layout.body, where), 0)],
        kept=False,
    )


def _uri(layout: _Layout, item: object, headers: Headers, where: str) -> str:
    """Return the address; a path gets the host that the request names."""
    uri = "".join(expect_text(at_path(item, path), f"{where}.{path}") for path in layout.uri)
    host = header_of(headers, "host")
    return f"https://{host}{uri}" if host and uri.startswith("/") else uri


def _headers(item: object, paths: tuple[str, ...], where: str) -> Headers:
    """Return all headers; a text is the type of the content, which is stored alone."""
    found: Headers = ()
    for path in paths:
        value = at_path(item, path)
        named = {"content-type": value} if isinstance(value, str) else value
        found += header_fields(named, f"{where}.{path}")
    return found


def _body(item: object, forms: tuple[tuple[str, str], ...], where: str) -> bytes:
    for path, form in forms:
        value, place = at_path(item, path), f"{where}.{path}"
        if value is None:
            continue
        if form == _BASE64 or (form and at_path(item, form) == _BASE64):
            return decode_base64(expect_text(value, place), place)
        if isinstance(value, list) and value and all(isinstance(line, str) for line in value):
            return body_bytes("".join(value), place)
        return body_bytes(value, place)
    return b""
