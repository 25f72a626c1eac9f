"""Import cassettes of go-vcr, which writes version 1 (releases 1 and 2) or 2 (releases 3 and 4).

Unlike vcrpy, it writes `url` in the request, and `code` next to the status line in the response.
Both versions differ only in facts about the connection, which a cassette does not have.
Source: https://pkg.go.dev/gopkg.in/dnaeon/go-vcr.v4/pkg/cassette
"""

import re
from pathlib import PurePath
from typing import Final

from harness.files import yaml_text
from harness.files.typed import expect_list
from harness.recording.importers.container import ContainerFile, entries_file
from harness.recording.importers.http_json import interaction

_INTERACTIONS: Final = re.compile(rb"^interactions:", re.MULTILINE)
_URL: Final = re.compile(rb"^ +(?:- )?url:", re.MULTILINE)


def read(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the interactions of the cassette, or None if another tool wrote it."""
    if not _INTERACTIONS.search(data) or not _URL.search(data):
        return None
    document = yaml_text.load_yaml(data, str(path))
    listed = document.get("interactions") if isinstance(document, dict) else None
    if not isinstance(listed, list) or not any(map(_is_go_vcr, listed)):
        return None
    place = f"{path}: interactions"
    placed = ((f"{place}[{n}]", item) for n, item in enumerate(expect_list(listed, place)))
    return entries_file(path, placed, interaction)


def _is_go_vcr(item: object) -> bool:
    request = item.get("request") if isinstance(item, dict) else None
    return isinstance(request, dict) and "url" in request and "uri" not in request
