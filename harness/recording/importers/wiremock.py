"""Import stub mappings of WireMock, one or `mappings`, also with bodies in the folder `__files`.

A mapping describes which requests it answers. Only its exact conditions are imported as the
request. WireMock stores no host, unless the mapping requires one.
Sources: https://wiremock.org/docs/stubbing/, https://wiremock.org/docs/record-playback/
"""

from pathlib import Path, PurePath
from typing import Any, Final

from harness.errors import UnreadableError
from harness.files.typed import expect_mapping, expect_text
from harness.recording.importers.body_files import read_body_file
from harness.recording.importers.container import ContainerFile, entries_file
from harness.recording.importers.http_fields import (
    body_bytes,
    encoded_body,
    header_fields,
    is_object_or_list,
    status_code,
)
from harness.recording.importers.http_message import response_interaction
from harness.wire.interaction import Headers, Interaction, Request
from harness.wire.payload import json_or_none

_BODIES: Final = "__files"
_MAPPINGS: Final = "mappings"
_KEPT: Final = "bodies and headers, the request as far as the mapping states it; no reads, no times"
_PATHS: Final = ("url", "urlPath", "urlPattern", "urlPathPattern", "urlPathTemplate")
# Keys that no other recorder of requests and responses writes.
_OF_REQUEST: Final = frozenset({*_PATHS[1:], "bodyPatterns", "queryParameters", "basicAuth"})
_OF_RESPONSE: Final = frozenset(
    {
        *("jsonBody", "base64Body", "bodyFileName", "fault", "proxyBaseUrl", "transformers"),
        *("fixedDelayMilliseconds", "chunkedDribbleDelay", "delayDistribution"),
    }
)
_OF_MAPPING: Final = frozenset({"uuid", "scenarioName", "persistent", "priority"})
_WITHOUT_BODY: Final = {"fault": "a fault", "proxyBaseUrl": "a proxy"}
_TEMPLATES: Final = frozenset({"response-template"})


def read(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the interactions of the mappings, or None if the data are not mappings."""
    if not is_object_or_list(data) or b'"response"' not in data:
        return None
    value = json_or_none(data)
    if not isinstance(value, dict):
        return None
    listed = value.get(_MAPPINGS) if isinstance(value.get(_MAPPINGS), list) else None
    items = [value] if listed is None else listed
    if not any(map(_is_mapping, items)):
        return None
    folder = bodies_folder(Path(path).absolute())
    placed = (
        (f"{path}: $" if listed is None else f"{path}: {_MAPPINGS}[{n}]", item)
        for n, item in enumerate(items)
    )
    return entries_file(path, placed, lambda item, where: _interaction(item, folder, where), _KEPT)


def bodies_folder(path: Path) -> Path:
    """Return the folder `__files` with the bodies of the mapping at `path`.

    It is next to the folder `mappings`, or next to the file.
    """
    around = next((each for each in path.parents if each.name == _MAPPINGS), None)
    return (path if around is None else around).with_name(_BODIES)


def is_body_file(path: Path) -> bool:
    """Whether the file is in a folder `__files`, next to a folder of mappings."""
    folders = (each for each in path.absolute().parents if each.name == _BODIES)
    return any(each.with_name(_MAPPINGS).is_dir() for each in folders)


def _is_mapping(item: object) -> bool:
    if not isinstance(item, dict):
        return False
    request, response = item.get("request"), item.get("response")
    if not isinstance(request, dict) or not isinstance(response, dict):
        return False
    return bool(
        item.keys() & _OF_MAPPING or request.keys() & _OF_REQUEST or response.keys() & _OF_RESPONSE
    )


def _interaction(value: object, folder: Path, where: str) -> Interaction:
    item = expect_mapping(value, where)
    place = f"{where}.response"
    response = expect_mapping(item.get("response"), place)
    request = _request(expect_mapping(item.get("request"), f"{where}.request"), f"{where}.request")
    status = status_code(response.get("status", 200), f"{place}.status")
    headers = header_fields(response.get("headers"), f"{place}.headers")
    body = _body(response, folder, place)
    return response_interaction(request, status, headers, [(body, 0)], kept=False)


def _body(response: dict[str, Any], folder: Path, where: str) -> bytes:
    for key, label in _WITHOUT_BODY.items():
        if response.get(key):
            raise UnreadableError(f"expected a body, found {label}", where=f"{where}.{key}")
    encoded = encoded_body(response, where)
    if encoded is not None:
        return encoded
    name = expect_text(response.get("bodyFileName"), f"{where}.bodyFileName")
    if name:
        body = read_body_file(folder, name, f"{where}.bodyFileName")
    else:
        key = "jsonBody" if "jsonBody" in response else "body"
        body = body_bytes(response.get(key), f"{where}.{key}")
    if _is_template(response) and b"{{" in body:
        raise UnreadableError("expected a body, found a template of one", where=where)
    return body


def _is_template(response: dict[str, Any]) -> bool:
    transformers = response.get("transformers")
    names = transformers if isinstance(transformers, list) else []
    return any(isinstance(name, str) and name in _TEMPLATES for name in names)


def _request(pattern: dict[str, Any], where: str) -> Request:
    path = next((pattern[key] for key in _PATHS if key in pattern), None)
    method = expect_text(pattern.get("method"), f"{where}.method").upper()
    host = _exact(pattern.get("host"), f"{where}.host")
    scheme = expect_text(pattern.get("scheme"), f"{where}.scheme") or "https"
    address = expect_text(path, f"{where}.url")
    return Request(
        method="POST" if method in ("", "ANY") else method,
        uri=f"{scheme}://{host}{address}" if host else address,
        headers=tuple(_headers(pattern.get("headers"), f"{where}.headers")),
        body=_request_body(pattern.get("bodyPatterns"), f"{where}.bodyPatterns"),
    )


def _headers(value: object, where: str) -> Headers:
    patterns = expect_mapping(value, where)
    exact = ((name, _exact(each, f"{where}.{name}")) for name, each in patterns.items())
    return tuple((name, text) for name, text in exact if text)


def _exact(pattern: object, where: str) -> str:
    """Return the text that a pattern requires exactly; "" if the pattern allows several texts."""
    if isinstance(pattern, str):
        return pattern
    return expect_text(expect_mapping(pattern, where).get("equalTo"), f"{where}.equalTo")


def _request_body(value: object, where: str) -> bytes:
    """Return the first body that a pattern requires exactly; b"" if there is none."""
    for n, pattern in enumerate(value if isinstance(value, list) else []):
        location = f"{where}[{n}]"
        fields = expect_mapping(pattern, location)
        for key in ("equalToJson", "equalTo"):
            if key in fields:
                return body_bytes(fields[key], f"{location}.{key}")
    return b""
