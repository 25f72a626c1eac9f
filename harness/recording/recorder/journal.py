"""A journal on the disk, so that a recorder which is killed loses no finished exchange.

`NAME.yaml.partial` is next to the cassette while it is recorded: a header, then a line for each
exchange that ended, without secrets. A recorder that ends normally removes it. After a kill,
the next recorder of the same cassette takes the exchanges from it. Only a line that was incomplete
at the kill is lost.
"""

from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from harness.errors import UsageError
from harness.files.write import LineFile, partial_path
from harness.wire.cassette import Cassette
from harness.wire.interaction import Interaction


class _Header(msgspec.Struct, frozen=True):
    """The first line of a journal.

    Fields:
        labels: the labels of the recording.
        written: hashes of the interactions that the cassette had when the journal began.
    """

    labels: dict[str, Any]
    written: tuple[str, ...]


class _Exchange(msgspec.Struct, frozen=True):
    """A line of a journal; `number` is the position in the order of the requests."""

    number: int
    interaction: Interaction


class Recovered(msgspec.Struct, frozen=True):
    """The data that a recorder wrote to its journal before it was killed.

    Fields:
        labels: the labels of the recording.
        interactions: the finished interactions, in the order of their requests.
        written: hashes of the interactions that the cassette had when the journal began.
        dropped: how many lines are damaged.
    """

    labels: dict[str, Any]
    interactions: tuple[Interaction, ...]
    written: tuple[str, ...] = ()
    dropped: int = 0

    def kept_of(self, cassette: Cassette | None) -> tuple[Interaction, ...]:
        """Return the interactions of the cassette that are not in the journal."""
        before, kept = Counter(self.written), []
        for each in cassette.interactions if cassette else ():
            digest = _digest(each)
            if before[digest]:
                before[digest] -= 1
                kept.append(each)
        return tuple(kept)


class Journal:
    """The journal of the cassette at `path`; `open` creates its file."""

    def __init__(self, path: Path) -> None:
        self.path = partial_path(path)
        self._cassette = path
        self._file: LineFile | None = None

    def take(self) -> Recovered | None:
        """Open the journal of a killed recorder and return its content; None if there is none.

        Raises:
            UsageError: the journal cannot be written, or its recorder still runs.
        """
        if not self.path.exists():
            return None
        self._claim()
        first, *lines = self._opened().read().split(b"\n")
        if not lines:  # killed before the header was complete
            return None
        try:
            header, dropped = msgspec.json.decode(first, type=_Header), 0
        except msgspec.MsgspecError:
            header, dropped = _Header({}, ()), 1
        complete = lines[:-1]  # the last one was incomplete at the kill, or is empty
        # It may lack only its line end.
        found = {each.number: each.interaction for each in _exchanges(lines)}
        dropped += len(complete) - len(list(_exchanges(complete)))
        interactions = tuple(found[number] for number in sorted(found))
        return Recovered(header.labels, interactions, header.written, dropped)

    def set_aside(self) -> Path:
        """Rename the journal, because lines of it are damaged, and return its new path.

        Raises:
            OSError: the journal cannot be renamed.
        """
        names = (self.path.with_name(f"{self.path.name}.damaged-{n}") for n in count(1))
        path = next(each for each in names if not each.exists())
        self.path.rename(path)
        return path

    def open(self, labels: dict[str, Any], cassette: Cassette | None) -> None:
        """Create the journal for exchanges that the cassette does not contain, unless it exists.

        Raises:
            UsageError: the journal cannot be written, or another recorder uses it.
        """
        if self._file is not None:
            return
        self._claim()
        try:
            self.restart(labels, cassette)
        except OSError as error:
            self.remove()
            raise self._unwritable(error) from error

    def restart(self, labels: dict[str, Any], cassette: Cassette | None) -> None:
        """Empty the journal, because the cassette contains all exchanges.

        Raises:
            OSError: the journal cannot be written.
        """
        written = tuple(map(_digest, cassette.interactions if cassette else ()))
        file = self._opened()
        file.clear()
        file.append(_line(_Header(labels, written)))

    def add(self, number: int, interaction: Interaction) -> None:
        """Append an exchange and write it to the disk, so that a kill cannot lose the exchange.

        Raises:
            OSError: the journal cannot be written.
        """
        self._opened().append(_line(_Exchange(number, interaction)))

    def sync(self) -> None:
        """Wait until the disk has all lines, so that a power failure cannot lose them.

        Raises:
            OSError: the journal cannot be written.
        """
        if self._file is not None:
            self._file.sync()

    def close(self) -> None:
        """Close the journal, and leave its file for the next recorder."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def remove(self) -> None:
        """Delete the journal, because the cassette contains everything."""
        if self._file is not None:
            self._file.remove()
            self._file = None

    def _claim(self) -> None:
        try:
            self._file = LineFile(self.path)
        except BlockingIOError as error:
            raise UsageError(
                "another recorder writes this cassette",
                where=str(self._cassette),
                hint="Wait until it ends, or choose another file with -o.",
            ) from error
        except OSError as error:
            raise self._unwritable(error) from error

    def _unwritable(self, error: OSError) -> UsageError:
        return UsageError(
            f"cannot write the recording: {error.strerror}",
            where=str(self.path),
            hint="Free disk space, or choose a folder that can be written to.",
        )

    def _opened(self) -> LineFile:
        if self._file is None:
            raise ValueError("open() comes first")
        return self._file


def _line(row: _Header | _Exchange) -> bytes:
    return msgspec.json.encode(row) + b"\n"


def _exchanges(lines: Iterable[bytes]) -> Iterable[_Exchange]:
    """Yield the exchanges of the complete lines."""
    decode = msgspec.json.Decoder(_Exchange).decode
    for line in lines:
        try:
            yield decode(line)
        except msgspec.MsgspecError:  # cut short by a kill, or damaged with the disk
            continue


def _digest(interaction: Interaction) -> str:
    """Return a hash that is equal for an interaction and for its copy from a cassette."""
    request = interaction.request
    parts = (request.uri, request.body, interaction.status, interaction.body, interaction.reads)
    return sha256(msgspec.json.encode(parts)).hexdigest()[:32]
