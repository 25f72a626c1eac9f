"""Divide logs into parts of bounded size, and read the turns of a part.

JSON Lines are divided by bytes, Parquet files by rows, and other logs by number of files, so that a
part is read without the rest of its log. Compressed logs and archives are one part each.
"""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import filterfalse
from pathlib import PurePath
from typing import IO, Final, Literal, cast

import msgspec

from harness.errors import HarnessError, UnreadableError
from harness.measuring.formats import turns_of
from harness.measuring.parquet import number_of_rows, read_rows
from harness.measuring.places import files_below, is_readable, open_place, size_of
from harness.measuring.records import LoggedTurn, lacks_of
from harness.recording.importing import Labels, import_file

Reader = Literal["lines", "rows", "files"]

PART_BYTES: Final = 8_000_000
PART_ROWS: Final = 4_000
PART_FILES: Final = 64
_LINES: Final = (".jsonl", ".ndjson", ".jsonlines")
_ARCHIVES: Final = (".zip", ".tar", ".tgz", ".tar.gz")
# A line or a member that is longer is not read.
_LONGEST: Final = 64_000_000


class Part(msgspec.Struct, frozen=True):
    """A part of the logs.

    Fields:
        number: the number of the part, from 0, which is in the name of its file of rows.
        reader: how the part is read: `lines`, `rows` or `files`, for example.
        files: one file, or several if `reader` is `files`.
        start, stop: a range of bytes for `lines`, or of rows for `rows`. A `stop` of 0 means the
            end of the file.
    """

    number: int
    reader: Reader
    files: tuple[str, ...]
    start: int = 0
    stop: int = 0


class Unread(msgspec.Struct, frozen=True):
    """A record of a log that was not measured, and the reason.

    Fields:
        damaged: True if the record should be a turn; False if it is another kind of record.
    """

    file: str
    position: int
    why: str
    damaged: bool = True


Read = tuple[str, int, LoggedTurn] | Unread


def parts_of(
    places: Iterable[str], excluded: Callable[[str], bool] = lambda _: False
) -> Iterator[Part]:
    """Yield the parts of the logs at `places`, which are paths or URLs, always in the same order.

    Args:
        places: files, folders and URLs.
        excluded: returns whether a file is left out.

    Raises:
        UsageError: a file or folder does not exist.
        UnreadableError: a Parquet file is damaged.
    """
    number = 0
    others: list[str] = []
    for place in places:
        for file in filterfalse(excluded, files_below(place)):
            if file.lower().endswith((*_LINES, ".parquet")) and is_readable(file):
                for start, stop in _spans(file):
                    reader: Reader = "rows" if file.lower().endswith(".parquet") else "lines"
                    yield Part(number, reader, (file,), start, stop)
                    number += 1
                continue
            others.append(file)
            if len(others) == PART_FILES or file.lower().endswith((*_ARCHIVES, ".gz")):
                yield Part(number, "files", tuple(others))
                number, others = number + 1, []
    if others:
        yield Part(number, "files", tuple(others))


def _spans(file: str) -> Iterator[tuple[int, int]]:
    is_table = file.lower().endswith(".parquet")
    total, most = (number_of_rows(file), PART_ROWS) if is_table else (size_of(file), PART_BYTES)
    for start in range(0, total, most):
        yield start, min(total, start + most)


def read_part(part: Part, mapping: Mapping[str, str]) -> Iterator[Read]:
    """Yield the turns of a part, and an `Unread` for each record that was not measured.

    Args:
        part: a part from `parts_of`.
        mapping: standard key -> its path in a row of the log; empty if the log has a known format.
    """
    match part.reader:
        case "lines":
            with open_place(part.files[0]) as file:
                yield from _lines(file, part.files[0], part.start, part.stop, mapping)
        case "rows":
            yield from _rows(part, mapping)
        case "files":
            for name in part.files:
                yield from _file(name, mapping)


def find_turns(file: str, position: int, mapping: Mapping[str, str]) -> Iterator[LoggedTurn]:
    """Yield the turns at `position` of the log `file`, as a row of `harness measure` names it.

    Raises:
        UnreadableError: the log cannot be read any more.
    """
    if file.lower().endswith(_LINES) and not _archive_of(file):
        part = Part(0, "lines", (file,), position, position + 1)
    elif file.lower().endswith(".parquet"):
        part = Part(0, "rows", (file,), position, position + 1)
    else:
        part = Part(0, "files", (_archive_of(file) or file,))
    for found in read_part(part, mapping):
        if not isinstance(found, Unread) and found[:2] == (file, position):
            yield found[2]


def _archive_of(file: str) -> str:
    """Return the archive in a name such as `ARCHIVE/MEMBER`; "" if the file is in none."""
    lowered = file.lower()
    ends = (
        lowered.find(f"{suffix}/") + len(suffix) for suffix in _ARCHIVES if f"{suffix}/" in lowered
    )
    return file[: min(ends, default=0)]


def _lines(
    file: IO[bytes], name: str, start: int, stop: int, mapping: Mapping[str, str]
) -> Iterator[Read]:
    """Yield the turns of the lines that begin at an offset from `start` to before `stop`."""
    at = start
    if start:
        file.seek(start - 1)
        at = start - 1 + _skip_line(file)
    while not stop or at < stop:
        line = file.readline(_LONGEST + 1)
        if not line:
            return
        if len(line) > _LONGEST:
            yield Unread(name, at, f"the line has more than {_LONGEST:,} bytes")
            at += len(line) + (_skip_line(file) if not line.endswith(b"\n") else 0)
            continue
        if not line.isspace():
            yield from _record(_decoded(line), name, at, mapping)
        at += len(line)


def _skip_line(file: IO[bytes]) -> int:
    """Read to the end of the line, however long it is; return the number of bytes."""
    size = 0
    while piece := file.readline(_LONGEST):
        size += len(piece)
        if piece.endswith(b"\n"):
            break
    return size


def _decoded(line: bytes) -> object:
    try:
        return msgspec.json.decode(line)
    except (ValueError, RecursionError) as error:
        return UnreadableError(f"no JSON: {error}")


def _record(value: object, name: str, at: int, mapping: Mapping[str, str]) -> Iterator[Read]:
    try:
        if isinstance(value, UnreadableError):
            raise value
        if not isinstance(value, dict):
            raise UnreadableError(f"expected an object, found {type(value).__name__}")
        for turn in turns_of(value, mapping):
            yield name, at, turn
    except HarnessError as error:
        yield Unread(name, at, error.what)


def _rows(part: Part, mapping: Mapping[str, str]) -> Iterator[Read]:
    name = part.files[0]
    for at, row in enumerate(read_rows(name, part.start, part.stop), part.start):
        yield from _record(row, name, at, mapping)


def _file(name: str, mapping: Mapping[str, str]) -> Iterator[Read]:
    lowered = name.lower()
    try:
        with open_place(name) as file:
            if lowered.endswith(".zip"):
                yield from _members(_zip_members(file), name, mapping)
            elif lowered.endswith(_ARCHIVES):
                yield from _members(_tar_members(file), name, mapping)
            elif lowered.removesuffix(".gz").endswith(_LINES):
                with gzip.open(file) as lines:
                    yield from _lines(cast("IO[bytes]", lines), name, 0, 0, mapping)
            else:
                yield from _recording(name, file.read(_LONGEST + 1))
    except (HarnessError, OSError, EOFError, zipfile.BadZipFile, tarfile.TarError) as error:
        yield Unread(name, 0, error.what if isinstance(error, HarnessError) else str(error))


Members = Iterator[tuple[str, bytes]]


def _zip_members(file: IO[bytes]) -> Members:
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            if not info.is_dir():
                with archive.open(info) as member:
                    yield info.filename, member.read(_LONGEST + 1)


def _tar_members(file: IO[bytes]) -> Members:
    with tarfile.open(fileobj=file, mode="r|*") as archive:
        for info in archive:
            member = archive.extractfile(info) if info.isfile() else None
            if member is not None:
                yield info.name, member.read(_LONGEST + 1)


def _members(members: Members, archive: str, mapping: Mapping[str, str]) -> Iterator[Read]:
    """Yield the turns of the files in an archive, which are read in memory and never unpacked."""
    for name, data in members:
        where = f"{archive}/{name}"
        if len(data) > _LONGEST:
            yield Unread(where, 0, f"the member has more than {_LONGEST:,} bytes")
        elif name.lower().endswith(_LINES):
            yield from _lines(io.BytesIO(data), where, 0, 0, mapping)
        else:
            yield from _recording(where, data)


def _recording(name: str, data: bytes) -> Iterator[Read]:
    """Yield the turns of a cassette, or of a recording that another tool wrote."""
    if len(data) > _LONGEST:
        yield Unread(name, 0, f"the file has more than {_LONGEST:,} bytes")
        return
    try:
        imported = import_file(PurePath(name), data, name, Labels())
    except HarnessError as error:
        yield Unread(name, 0, error.what)
        return
    if not imported.container:
        yield Unread(name, 0, "no known recording", damaged=False)
    for at, why in enumerate(imported.skipped):
        yield Unread(name, at, why, damaged=False)
    at = 0
    for cassette in imported.cassettes:
        if cassette.origin.kind == "emulated":  # no model wrote it
            why = "an emulated cassette measures no model"
            yield Unread(name, at, why, damaged=False)
            continue
        for interaction in cassette.interactions:
            yield (
                name,
                at,
                LoggedTurn(
                    interaction,
                    cassette.provider,
                    cassette.model,
                    cassette.prompt,
                    cassette.origin.at,
                    lacks_of(interaction, cassette.origin.at),
                ),
            )
            at += 1
