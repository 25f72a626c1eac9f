"""Import mock definitions of httpmock, as in rig's cassettes: documents of `when` and `then`.

They contain no host. The folder names the provider.
"""

import re
from pathlib import PurePath

from harness.files import yaml_text
from harness.files.typed import expect_mapping, expect_text, refuse_type
from harness.recording.importers.container import ContainerFile, container_file, decode_base64
from harness.wire import cassette_file

_KEYS = (re.compile(rb"^when:", re.MULTILINE), re.compile(rb"^then:", re.MULTILINE))


def read(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the cassette of all documents in the file."""
    if not all(key.search(data) for key in _KEYS):
        return None
    where = str(path)
    documents = yaml_text.load_yaml_documents(data, where)
    items = [_as_vcrpy(item, f"{where}: document {n}") for n, item in enumerate(documents)]
    cassette = cassette_file.cassette_from_data(
        {"interactions": items}, path.name, where, keep_encoded=True
    )
    return container_file(
        path, cassette.interactions, "bodies and headers; no host, reads or times"
    )


def _as_vcrpy(value: object, where: str) -> dict[str, object]:
    item = expect_mapping(value, where)
    when = expect_mapping(item.get("when"), f"{where}.when")
    then = expect_mapping(item.get("then"), f"{where}.then")
    return {
        "request": {
            "method": when.get("method"),
            "uri": when.get("path"),
            "headers": _headers(when.get("header"), f"{where}.when.header"),
            "body": when.get("body"),
        },
        "response": {
            "status": then.get("status", 200),
            "headers": _headers(then.get("header"), f"{where}.then.header"),
            "body": _body(then, f"{where}.then.body"),
        },
    }


def _body(then: dict[str, object], where: str) -> object:
    body = then.get("body")
    if then.get("body_encoding") != "base64":
        return body
    return decode_base64(expect_text(body, where), where)


def _headers(value: object, where: str) -> dict[str, list[object]]:
    if value is not None and not isinstance(value, list):
        refuse_type("a list of headers", value, where)
    headers: dict[str, list[object]] = {}
    for item in value or ():
        fields = expect_mapping(item, where)
        headers.setdefault(expect_text(fields.get("name"), where), []).append(fields.get("value"))
    return headers
