"""Import cassettes of seinfeld, with which Braintrust records requests of its JavaScript SDK.

A body is an object with its `kind`. An event stream is the list of its events, without the blank
lines between them. A large body is a file next to the cassette.
Source: https://github.com/braintrustdata/braintrust-sdk-javascript, dev-packages/seinfeld.
"""

from functools import partial
from pathlib import Path, PurePath
from typing import Any, Final

from harness.files.typed import expect_list, expect_mapping, expect_text, refuse_type
from harness.recording.importers.body_files import read_body_file
from harness.recording.importers.container import ContainerFile, decode_base64, entries_file
from harness.recording.importers.event_list import parse_event
from harness.recording.importers.http_fields import body_bytes, header_fields, status_code
from harness.recording.importers.http_message import response_interaction
from harness.wire.interaction import Interaction, Request

_KEYS: Final = frozenset({"request", "response"})
_KINDS: Final = ("empty", "json", "text", "base64", "sse", "binary")
_LEGACY_KINDS: Final = {"utf8": "text", "sse-chunks": "sse"}
_BLANK_LINE: Final = b"\n\n"


def read(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the entries of the cassette, or None if another tool wrote the data."""
    if not data.lstrip().startswith(b"{") or b'"entries"' not in data:
        return None
    value = parse_event(data) or {}
    entries = value.get("entries")
    if not isinstance(entries, list) or not entries or not all(map(_is_entry, entries)):
        return None
    place = f"{path}: entries"
    placed = ((f"{place}[{n}]", entry) for n, entry in enumerate(entries))
    return entries_file(path, placed, partial(_interaction, Path(path).parent))


def is_body_file(path: PurePath) -> bool:
    """Return whether the file at `path` is a large body, which a cassette next to it names."""
    return path.parent.name.endswith(".cassette.blobs")


def _is_entry(value: object) -> bool:
    if not isinstance(value, dict) or not value.keys() >= _KEYS:
        return False
    parts = [part for part in map(value.get, _KEYS) if isinstance(part, dict)]
    return any("bodyEncoding" in part or _has_kind(part.get("body")) for part in parts)


def _has_kind(body: object) -> bool:
    return isinstance(body, dict) and "kind" in body


def _interaction(folder: Path, entry: dict[str, Any], where: str) -> Interaction:
    asked = expect_mapping(entry["request"], f"{where}.request")
    response = expect_mapping(entry["response"], f"{where}.response")
    request = Request(
        method=expect_text(asked.get("method"), f"{where}.request.method").upper() or "POST",
        uri=expect_text(asked.get("url"), f"{where}.request.url"),
        headers=header_fields(asked.get("headers"), f"{where}.request.headers"),
        body=_body(folder, asked, f"{where}.request"),
    )
    return response_interaction(
        request,
        status_code(response.get("status"), f"{where}.response.status"),
        header_fields(response.get("headers"), f"{where}.response.headers"),
        [(_body(folder, response, f"{where}.response"), 0)],
        kept=False,
    )


def _payload(message: dict[str, Any], where: str) -> dict[str, Any]:
    """Return the body of a request or response as an object, as releases since April 2026 do."""
    encoding = message.get("bodyEncoding")
    if encoding is None:
        return expect_mapping(message.get("body"), f"{where}.body")
    kind = _LEGACY_KINDS.get(str(encoding), encoding)
    return {"kind": kind, "value": message.get("body"), "chunks": message.get("chunks")}


def _body(folder: Path, message: dict[str, Any], where: str) -> bytes:
    fields = _payload(message, where)
    kind, value = fields.get("kind", "empty"), fields.get("value")
    if kind not in _KINDS:
        refuse_type(f"one of {', '.join(_KINDS)}", kind, f"{where}.body.kind")
    match kind:
        case "base64":
            return decode_base64(expect_text(value, f"{where}.body"), f"{where}.body.value")
        case "binary":
            name = expect_text(fields.get("path"), f"{where}.body.path")
            return read_body_file(folder, name, f"{where}.body.path")
        case "sse":
            chunks = expect_list(fields.get("chunks"), f"{where}.body.chunks")
            return b"".join(_chunk(chunk, f"{where}.body.chunks") for chunk in chunks)
        case _:
            return body_bytes(value, f"{where}.body.value")


def _chunk(chunk: object, where: str) -> bytes:
    """Return an event, or what an older release stored in its place: bytes in base64."""
    if isinstance(chunk, dict):
        return decode_base64(expect_text(chunk.get("data"), f"{where}.data"), f"{where}.data")
    event = expect_text(chunk, where).encode("utf-8", "replace")
    return event.removesuffix(_BLANK_LINE) + _BLANK_LINE
