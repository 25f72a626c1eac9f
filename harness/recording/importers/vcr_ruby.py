"""Cassettes of Ruby's VCR: `http_interactions` at the top, bodies beside their encoding.

`!binary` with one bang is base64, often of plain UTF-8.
"""

import re
from pathlib import PurePath

from harness.recording.importers.container import Found, found, from_base64
from harness.wire import cassette_data, yaml_guard
from harness.wire.fields import mapping, sequence

_KEY = re.compile(rb"^http_interactions:", re.MULTILINE)


def read(path: PurePath, data: bytes) -> Found | None:
    """Return the cassette that Ruby's VCR recorded."""
    if not _KEY.search(data):
        return None
    where = str(path)
    tags = {"!binary": lambda text: from_base64(text, where)}
    document = mapping(yaml_guard.load(data, where, tags=tags), where)
    place = f"{where}: http_interactions"
    items = sequence(document.get("http_interactions"), place)
    plain = {"interactions": [_as_vcrpy(item, f"{place}[{n}]") for n, item in enumerate(items)]}
    cassette = cassette_data.cassette(plain, path.name, where, keep_encoded=True)
    return found(path, cassette.interactions, "bodies and headers; no reads, no times")


def _as_vcrpy(value: object, where: str) -> dict[str, object]:
    item = mapping(value, where)
    request = mapping(item.get("request"), f"{where}.request")
    response = mapping(item.get("response"), f"{where}.response")
    return {
        "request": {**request, "body": _body(request.get("body"), f"{where}.request.body")},
        "response": {**response, "body": _body(response.get("body"), f"{where}.response.body")},
    }


def _body(value: object, where: str) -> object:
    if not isinstance(value, dict):
        return value
    exact = value.get("base64_string")
    return from_base64(exact, where) if isinstance(exact, str) else value.get("string")
