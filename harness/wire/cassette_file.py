"""Cassettes on disk: load any vcrpy cassette, save ours so that vcrpy replays it.

The one module of `wire` that opens files. A file is written whole or not at all.
"""

import os
from pathlib import Path

from harness.files import yaml_text
from harness.files.load import read_file
from harness.wire import cassette_data
from harness.wire.cassette import Cassette
from harness.wire.cassette_text import dump

__all__ = ["dump", "load_cassette", "parse_cassette", "save_cassette"]

# Tags that older vcrpy wrote for plain text.
_VCRPY_TAGS = {f"tag:yaml.org,2002:python/{name}": str for name in ("str", "unicode")}


def load_cassette(path: Path, root: Path | None = None) -> Cassette:
    """Return the cassette in the file `path`.

    Args:
        path: a YAML file.
        root: the folder that its id is relative to; without it the id is the file's stem.

    Raises:
        UnreadableError: no file that can be read, damaged or hostile YAML, no cassette, or a
            body that does not match its digest or its reads.
    """
    data = read_file(
        path,
        problem="expected a file that can be read",
        hint="Check the path and its permissions.",
        too_large_hint="Split the cassette.",
    )
    return parse_cassette(data, _id(path, root), where=str(path))


def parse_cassette(
    data: bytes, cassette_id: str, *, where: str, keep_encoded: bool = False
) -> Cassette:
    """Return the cassette in the bytes of a file, as `load` does.

    With `keep_encoded` a body whose content encoding cannot be taken off stays unchanged.
    """
    document = yaml_text.load_yaml(data, where, tags=_VCRPY_TAGS)
    return cassette_data.cassette_from_data(document, cassette_id, where, keep_encoded=keep_encoded)


def save_cassette(cassette: Cassette, path: Path) -> None:
    """Write `cassette` to `path`, making its folders; an old file is replaced at once."""
    data = dump(cassette).encode("utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _id(path: Path, root: Path | None) -> str:
    if root is not None and path.is_relative_to(root):
        return path.relative_to(root).with_suffix("").as_posix()
    return path.stem
