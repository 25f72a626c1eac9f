"""Import requests and responses as JSON: `{request, response}`, or `{status, headers, body}`.

The file is one of these, an array of them, or an object with such an array: `interactions` of VCR
in several languages, also `http_interactions`. php-vcr writes an array. A body is text, base64, or
JSON that the recorder has parsed.

A line of a log with an answer that is JSON is left to the reader of logs, because logs contain
complete answers, which count there.
Sources: https://vcrpy.readthedocs.io/en/latest/advanced.html (`serializer='json'`),
https://github.com/php-vcr/php-vcr#readme (`json` storage).
"""

from pathlib import PurePath
from typing import Any, Final

from harness.files.typed import expect_mapping, expect_text, refuse_type
from harness.recording.importers.container import ContainerFile, entries_file
from harness.recording.importers.http_fields import (
    body_bytes,
    encoded_body,
    header_fields,
    is_object_or_list,
    status_code,
)
from harness.recording.importers.http_message import response_interaction
from harness.wire.interaction import Interaction, Request
from harness.wire.payload import json_or_none

_LISTS: Final = ("interactions", "http_interactions", "recordings")
_STATUSES: Final = ("status", "status_code", "statusCode")
# go-vcr writes it next to the status line.
_CODE: Final = "code"
_BODIES: Final = ("body", "body_base64", "bodyBase64")
# Other names of a body, next to headers only.
_CONTENTS: Final = ("content", "text")
_ADDRESSES: Final = ("uri", "url")


def read(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the entries of the file, or None if it has another format."""
    if not is_object_or_list(data) or b'"status' not in data:
        return None
    value = json_or_none(data)
    members = value if isinstance(value, dict) else {}
    listed = next((key for key in _LISTS if key in members), "")
    entries = members[listed] if listed else value
    items = entries if isinstance(entries, list) else [entries]
    if not items or not all(map(_is_entry, items)):
        return None
    if entries is value and isinstance(value, dict) and _is_line_of_log(value, data):
        return None
    place = f"{path}: {listed}" if listed else f"{path}: "
    named = isinstance(entries, list)
    placed = ((f"{place}[{n}]" if named else f"{path}: $", item) for n, item in enumerate(items))
    return entries_file(path, placed, interaction)


def _is_entry(value: object) -> bool:
    """Whether `value` has a response with a status and a body, and is not a fixture of req_llm."""
    if not isinstance(value, dict) or "chunks" in value:
        return False
    response = value.get("response") if "request" in value else value
    return isinstance(response, dict) and _is_response(response)


def _is_response(value: dict[str, Any]) -> bool:
    names = (*_BODIES, *_CONTENTS) if "headers" in value else _BODIES
    # The answer of an API may have a `status`, too, but it is a word.
    return any(key in value for key in names) and any(
        _is_status(value.get(key)) for key in _STATUSES
    )


def _is_status(value: object) -> bool:
    return isinstance(value, int | dict) or (isinstance(value, str) and value[:3].isdigit())


def _is_line_of_log(value: dict[str, Any], data: bytes) -> bool:
    response = value.get("response")
    is_parsed = isinstance(response, dict) and isinstance(response.get("body"), dict | list)
    return is_parsed and b"\n" not in data.strip() and "headers" not in value["response"]


def interaction(value: object, where: str) -> Interaction:
    """Return the interaction of one entry.

    Raises:
        UnreadableError: a part of the entry has a wrong type.
    """
    entry = expect_mapping(value, where)
    paired = "request" in entry
    answer = entry.get("response") if paired else entry
    response = expect_mapping(answer, f"{where}.response" if paired else where)
    place = f"{where}.response" if paired else where
    key = next((key for key in (_CODE, *_STATUSES) if key in response), "status")
    return response_interaction(
        _request(entry.get("request") if paired else entry, f"{where}.request", flat=not paired),
        status_code(response.get(key), f"{place}.{key}"),
        header_fields(response.get("headers"), f"{place}.headers"),
        [(_body(response, place), 0)],
        kept=False,
    )


def _request(value: object, where: str, *, flat: bool) -> Request:
    """Return the request of an entry: an object with an address, a body alone, or an address."""
    fields = expect_mapping(value, where)
    address = next((fields[key] for key in _ADDRESSES if key in fields), None)
    method = expect_text(fields.get("method"), f"{where}.method").upper() or "POST"
    uri = expect_text(address, f"{where}.url")
    if flat:
        return Request(method, uri)
    if address is None and "body" not in fields and "method" not in fields:
        return Request(body=body_bytes(fields, where) if fields else b"")
    headers = header_fields(fields.get("headers"), f"{where}.headers")
    return Request(method, uri, headers, _body(fields, where))


def _body(fields: dict[str, object], where: str) -> bytes:
    encoded = encoded_body(fields, where)
    if encoded is not None:
        return encoded
    key = next((key for key in (*_BODIES, *_CONTENTS) if key in fields), "body")
    value = fields.get(key)
    if not isinstance(value, dict) or not value.keys() & {"string", "base64_string", "encoding"}:
        return body_bytes(value, f"{where}.{key}")
    inner = encoded_body({"base64": value.get("base64_string")}, f"{where}.{key}")
    text = value.get("string")
    if inner is None and text is not None and not isinstance(text, str | bytes):
        refuse_type("text", text, f"{where}.{key}.string")
    return body_bytes(text, f"{where}.{key}.string") if inner is None else inner
