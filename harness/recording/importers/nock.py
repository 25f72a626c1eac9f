"""Import what nock records with `output_objects`, and the fixtures of nock back.

A file is an array of `{scope, method, path, body, status, response}`. nock parses a response that
is JSON. It writes bytes that are not text, and each chunk of a response with a content encoding,
in hexadecimal.
Source: https://github.com/nock/nock#recording
"""

from pathlib import PurePath
from typing import Any, Final

from harness.files.typed import expect_mapping, expect_text
from harness.recording.importers.container import ContainerFile, entries_file
from harness.recording.importers.http_fields import (
    body_bytes,
    decode_hex,
    header_fields,
    is_encoded,
    status_code,
)
from harness.recording.importers.http_message import response_interaction
from harness.wire.interaction import Headers, Interaction, Request
from harness.wire.payload import json_or_none

_KEYS: Final = {"scope", "path"}
_KEPT: Final = "bodies and headers, JSON bodies written again; no reads, no times"


def read(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the interactions of the file, or None if nock did not write it."""
    if not data.lstrip().startswith(b"[") or b'"scope"' not in data:
        return None
    items = json_or_none(data)
    if not isinstance(items, list) or not any(map(_is_definition, items)):
        return None
    placed = ((f"{path}: [{n}]", item) for n, item in enumerate(items))
    return entries_file(path, placed, _interaction, _KEPT)


def _is_definition(item: object) -> bool:
    return isinstance(item, dict) and item.keys() >= _KEYS


def _interaction(value: object, where: str) -> Interaction:
    item = expect_mapping(value, where)
    key = "rawHeaders" if "rawHeaders" in item else "headers"
    headers = header_fields(item.get(key), f"{where}.{key}")
    address = expect_text(item.get("scope"), f"{where}.scope")
    request = Request(
        method=expect_text(item.get("method"), f"{where}.method").upper() or "POST",
        uri=address + expect_text(item.get("path"), f"{where}.path"),
        headers=header_fields(item.get("reqheaders"), f"{where}.reqheaders"),
        body=body_bytes(item.get("body"), f"{where}.body"),
    )
    status = status_code(item.get("status", 200), f"{where}.status")
    body = _body(item, headers, f"{where}.response")
    return response_interaction(request, status, headers, [(body, 0)], kept=False)


def _body(item: dict[str, Any], headers: Headers, where: str) -> bytes:
    response = item.get("response")
    if item.get("responseIsBinary") is True:
        return decode_hex([response], where)
    if isinstance(response, list) and is_encoded(headers):
        return decode_hex(response, where)
    return body_bytes(response, where)
