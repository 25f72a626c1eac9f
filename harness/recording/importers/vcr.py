"""Cassettes of vcrpy and of this project (`interactions`), and of Ruby's VCR (`http_interactions`).

Ruby's VCR writes bodies next to their encoding; `!binary` with one bang is base64, often of plain
UTF-8.
"""

import re
from pathlib import PurePath

import msgspec

from harness.files import yaml_text
from harness.files.typed import expect_list, expect_mapping
from harness.recording.importers.container import BY, ContainerFile, container_file, decode_base64
from harness.wire import cassette_file
from harness.wire.cassette_file import VCRPY, parse_cassette

_VCRPY_KEY = re.compile(rb"^interactions:", re.MULTILINE)


def read_vcrpy(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the cassette. An origin in the file is preserved."""
    if not _VCRPY_KEY.search(data):
        return None
    cassette = parse_cassette(data, path.name, where=str(path), keep_encoded=True)
    if cassette.origin.by != VCRPY:
        return ContainerFile(cassette)
    origin = msgspec.structs.replace(cassette.origin, by=BY)
    return ContainerFile(msgspec.structs.replace(cassette, origin=origin))


_RUBY_KEY = re.compile(rb"^http_interactions:", re.MULTILINE)


def read_ruby(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the cassette that Ruby's VCR recorded."""
    if not _RUBY_KEY.search(data):
        return None
    where = str(path)
    tags = {"!binary": lambda text: decode_base64(text, where)}
    document = expect_mapping(yaml_text.load_yaml(data, where, tags=tags), where)
    place = f"{where}: http_interactions"
    items = expect_list(document.get("http_interactions"), place)
    plain = {"interactions": [_as_vcrpy(item, f"{place}[{n}]") for n, item in enumerate(items)]}
    cassette = cassette_file.cassette_from_data(plain, path.name, where, keep_encoded=True)
    return container_file(path, cassette.interactions, "bodies and headers; no reads, no times")


def _as_vcrpy(value: object, where: str) -> dict[str, object]:
    item = expect_mapping(value, where)
    request = expect_mapping(item.get("request"), f"{where}.request")
    response = expect_mapping(item.get("response"), f"{where}.response")
    return {
        "request": {**request, "body": _body(request.get("body"), f"{where}.request.body")},
        "response": {**response, "body": _body(response.get("body"), f"{where}.response.body")},
    }


def _body(value: object, where: str) -> object:
    if not isinstance(value, dict):
        return value
    exact = value.get("base64_string")
    return decode_base64(exact, where) if isinstance(exact, str) else value.get("string")
