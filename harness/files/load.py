"""Read files as bytes, YAML or TOML, always with a limit of their size."""

import os
import tomllib
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO, Final

from harness.errors import UnreadableError
from harness.files.kept import note_read
from harness.files.walk import unusable_reason
from harness.files.yaml_text import MAX_BYTES, load_yaml

BOM: Final = b"\xef\xbb\xbf"
_HEAD_BYTES: Final = 1 << 20
_FIRST_BYTES: Final = 1 << 16


def read_file(
    path: Path,
    *,
    most: int | None = None,
    problem: str = "cannot be read",
    hint: str = "",
    too_large_hint: str = "",
) -> bytes:
    """Return the bytes of the file at `path`.

    Args:
        path: the file. A pipe or device is read only below /dev and /proc, and up to the limit,
            because the size that it states is not reliable.
        most: the limit in bytes; None for the limit of YAML files.
        problem: the start of the error text if the file cannot be read.
        hint: the hint of that error.
        too_large_hint: the hint of the error if the file is larger than the limit.

    Raises:
        UnreadableError: the file cannot be read, or is larger than the limit.
    """
    limit = MAX_BYTES if most is None else most
    refuse_special(path)
    try:
        with path.open("rb") as file:
            note_read(str(path), file.fileno())
            data = _read_at_most(file, limit + 1)
    except OSError as error:
        what = f"{problem}: {error.strerror}"
        raise UnreadableError(what, where=str(path), hint=hint) from error
    if len(data) > limit:
        what = f"expected at most {limit} bytes, found more"
        raise UnreadableError(what, where=str(path), hint=too_large_hint)
    return data


def read_head(path: Path | str) -> bytes:
    """Return the start of a file, enough to recognize its format, without a byte order mark.

    It has at most `_HEAD_BYTES` bytes.

    Raises:
        UnreadableError: the file cannot be read.
    """
    refuse_special(path)
    try:
        with open(path, "rb", buffering=0) as file:
            note_read(str(path), file.fileno())
            return _read_at_most(file, _HEAD_BYTES).removeprefix(BOM)
    except OSError as error:
        raise UnreadableError(f"cannot be read: {error.strerror}", where=str(path)) from error


def refuse_special(path: Path | str) -> None:
    """Refuse a pipe or a device in a folder, because reading it could take forever."""
    problem = unusable_reason(os.fspath(path))
    if problem:
        raise UnreadableError(problem, where=str(path), hint="Replace it with a regular file.")


def _read_at_most(file: BinaryIO | FileIO, most: int) -> bytes:
    """Return the first `most` bytes of `file`; start with a small read, as most files are short.

    Python reserves the memory for all bytes that it may read, which takes longer than to read them.
    """
    data = file.read(min(most, _FIRST_BYTES))
    return data + file.read(most - len(data)) if len(data) == _FIRST_BYTES else data


def refuse_bom(data: bytes, where: str) -> None:
    """Refuse text with a byte order mark, because the mark would become part of the first key.

    Raises:
        UnreadableError: the text begins with a byte order mark.
    """
    if data.startswith(BOM):
        raise UnreadableError(
            "expected UTF-8 text, found a byte order mark (EF BB BF) before it",
            where=where,
            hint="Save the file as UTF-8 without a byte order mark.",
        )


def load_yaml_file(path: Path, *, hint: str = "") -> object:
    """Return the one document of the YAML file at `path`; None if it is empty.

    Raises:
        UnreadableError: the file cannot be read, or is not YAML within the limits.
    """
    data = read_file(path, hint=hint)
    refuse_bom(data, str(path))
    return load_yaml(data, str(path))


def load_toml_file(path: Path, *, most: int) -> dict[str, Any]:
    """Return the content of the TOML file at `path`, which has at most `most` bytes.

    Raises:
        UnreadableError: the file cannot be read, or is not TOML.
    """
    data = read_file(path, most=most)
    refuse_bom(data, str(path))
    try:
        return tomllib.loads(data.decode("utf-8"))
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UnreadableError(f"cannot be read: {error}", where=str(path)) from error
