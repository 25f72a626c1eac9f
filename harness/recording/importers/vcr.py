"""Cassettes of vcrpy and of this project (`interactions`), and of Ruby's VCR (`http_interactions`).

LangChain's tests let vcrpy write its two lists `requests` and `responses` instead.

Ruby's VCR writes bodies next to their encoding; `!binary` with one bang is base64, often of plain
UTF-8.
"""

import re
from pathlib import PurePath

import msgspec

from harness.errors import UnreadableError
from harness.files import yaml_text
from harness.files.typed import expect_list, expect_mapping
from harness.recording.importers import http_json
from harness.recording.importers.container import BY, ContainerFile, decode_base64, entries_file
from harness.wire.cassette_file import VCRPY, cassette_from_data, load_vcrpy, parse_cassette
from harness.wire.interaction import Interaction

_VCRPY_KEY = re.compile(rb"^interactions:", re.MULTILINE)


def read_vcrpy(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the cassette of vcrpy or of this project. The origin in the file is preserved."""
    if not _VCRPY_KEY.search(data):
        return None
    cassette = parse_cassette(data, path.name, where=str(path), keep_encoded=True)
    if cassette.session is not None:
        # Its responses are found again, because the interactions must stay those of its turns.
        bare = msgspec.structs.replace(cassette, interactions=(), session=None)
        return ContainerFile(bare, sessions={0: cassette.session})
    if cassette.origin.by != VCRPY:
        return ContainerFile(cassette)
    origin = msgspec.structs.replace(cassette.origin, by=BY)
    return ContainerFile(msgspec.structs.replace(cassette, origin=origin))


_LIST_KEYS = tuple(re.compile(key, re.MULTILINE) for key in (rb"^requests:", rb"^responses:"))


def read_lists(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the cassette that vcrpy wrote as a list of requests and one of their responses."""
    if not all(key.search(data) for key in _LIST_KEYS):
        return None
    where = str(path)
    document = expect_mapping(load_vcrpy(data, where), where)
    requests = expect_list(document.get("requests"), f"{where}: requests")
    responses = expect_list(document.get("responses"), f"{where}: responses")
    if len(requests) != len(responses):
        raise UnreadableError(
            f"expected as many requests as responses, found {len(requests)} and {len(responses)}",
            where=where,
            hint="Restore the file from its source.",
        )
    pairs = zip(requests, responses, strict=True)
    placed = ((f"{where}: responses[{n}]", pair) for n, pair in enumerate(pairs))
    return entries_file(path, placed, _pair)


def _pair(pair: tuple[object, object], where: str) -> Interaction:
    request, response = pair
    document = {"interactions": [{"request": request, "response": response}]}
    return cassette_from_data(document, "", where, keep_encoded=True).interactions[0]


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
    placed = ((f"{place}[{n}]", item) for n, item in enumerate(items))
    return entries_file(path, placed, http_json.interaction)
