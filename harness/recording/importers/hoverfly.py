"""Import simulations of Hoverfly, schema versions 1 to 5: `data.pairs` of request and response.

A field of a request has a list of matchers (versions 3 to 5), one object of matchers (2), or the
value (1). Only exact matchers are imported as the request. A body is text, base64, or a file next
to the simulation.
Source: https://docs.hoverfly.io/en/latest/pages/reference/simulationschema.html
"""

from pathlib import Path, PurePath
from typing import Any, Final
from urllib.parse import urlencode

from harness.files.typed import expect_list, expect_mapping, expect_text
from harness.recording.importers.body_files import read_body_file
from harness.recording.importers.container import ContainerFile, decode_base64, entries_file
from harness.recording.importers.event_list import parse_event
from harness.recording.importers.http_fields import body_bytes, header_fields, status_code
from harness.recording.importers.http_message import response_interaction
from harness.wire.interaction import Headers, Interaction, Request

_KEPT: Final = "bodies and headers, the request as far as it is exact; no reads, no times"
_EXACT: Final = frozenset({"", "exact", "json", "jsonPartial", "jsonpartial"})
_EXACT_OF_VERSION_2: Final = ("exactMatch", "jsonMatch")


def read(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the interactions of the simulation, or None if the data are not a simulation."""
    if not data.lstrip().startswith(b"{") or b'"pairs"' not in data:
        return None
    value = parse_event(data) or {}
    held = value.get("data")
    if not isinstance(held, dict) or "pairs" not in held:
        return None
    pairs = expect_list(held["pairs"], f"{path}: data.pairs")
    folder = Path(path).parent
    placed = ((f"{path}: data.pairs[{n}]", pair) for n, pair in enumerate(pairs))
    return entries_file(path, placed, lambda pair, where: _interaction(pair, folder, where), _KEPT)


def _interaction(value: object, folder: Path, where: str) -> Interaction:
    pair = expect_mapping(value, where)
    place = f"{where}.response"
    response = expect_mapping(pair.get("response"), place)
    request = _request(expect_mapping(pair.get("request"), f"{where}.request"), f"{where}.request")
    status = status_code(response.get("status"), f"{place}.status")
    headers = header_fields(response.get("headers"), f"{place}.headers")
    body = _body(response, folder, place)
    return response_interaction(request, status, headers, [(body, 0)], kept=False)


def _body(response: dict[str, Any], folder: Path, where: str) -> bytes:
    name = expect_text(response.get("bodyFile"), f"{where}.bodyFile")
    if name:
        return read_body_file(folder, name, f"{where}.bodyFile")
    if response.get("encodedBody") is True:
        return decode_base64(expect_text(response.get("body"), f"{where}.body"), f"{where}.body")
    return body_bytes(response.get("body"), f"{where}.body")


def _request(fields: dict[str, Any], where: str) -> Request:
    def text(name: str) -> str:
        return _exact(fields.get(name), f"{where}.{name}").decode("utf-8", "replace")

    query = _query(fields.get("query"), f"{where}.query")
    address = f"{text('scheme') or 'https'}://{text('destination')}{text('path')}"
    return Request(
        method=text("method").upper() or "POST",
        uri=f"{address}?{query}" if query else address,
        headers=_headers(fields.get("headers"), f"{where}.headers"),
        body=_exact(fields.get("body"), f"{where}.body"),
    )


def _exact(value: object, where: str) -> bytes:
    """Return the value of the first matcher that requires an exact value; b"" without one."""
    if isinstance(value, str):  # version 1
        return body_bytes(value, where)
    if isinstance(value, dict):  # version 2
        key = next((key for key in _EXACT_OF_VERSION_2 if key in value), "")
        return body_bytes(value.get(key), f"{where}.{key}")
    for n, item in enumerate(expect_list(value or [], where)):
        if isinstance(item, str):  # a header of version 1 or 2
            return body_bytes(item, where)
        matcher = expect_mapping(item, f"{where}[{n}]")
        if expect_text(matcher.get("matcher"), f"{where}[{n}].matcher") in _EXACT:
            return body_bytes(matcher.get("value"), f"{where}[{n}].value")
    return b""


def _query(value: object, where: str) -> str:
    """Return the query: from a mapping of matchers (version 4 on), or from text or its matchers."""
    if not isinstance(value, dict) or any(key in value for key in _EXACT_OF_VERSION_2):
        return _exact(value, where).decode("utf-8", "replace")
    return urlencode([(name, _exact(each, f"{where}.{name}")) for name, each in value.items()])


def _headers(value: object, where: str) -> Headers:
    fields = expect_mapping(value, where)
    exact = ((name, _exact(each, f"{where}.{name}")) for name, each in fields.items())
    return tuple((name, text.decode("utf-8", "replace")) for name, text in exact if text)
