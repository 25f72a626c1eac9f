"""Cassettes of vcrpy, and our own: `interactions` at the top."""

import re
from pathlib import PurePath

import msgspec

from harness.recording.importers.container import BY, Found
from harness.wire.cassette_data import VCRPY
from harness.wire.cassette_file import loads

_KEY = re.compile(rb"^interactions:", re.MULTILINE)


def read(path: PurePath, data: bytes) -> Found | None:
    """Return the cassette; one that names its origin keeps it."""
    if not _KEY.search(data):
        return None
    cassette = loads(data, path.name, where=str(path), keep_encoded=True)
    if cassette.origin.by != VCRPY:
        return Found(cassette)
    origin = msgspec.structs.replace(cassette.origin, by=BY)
    return Found(msgspec.structs.replace(cassette, origin=origin))
