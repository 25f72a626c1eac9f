"""Divide the interactions of one recorder among files, so that the reader accepts each of them."""

from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Final

from harness.files.yaml_text import MAX_BYTES
from harness.wire.interaction import Interaction

# A byte of a body may be written as `\xFF`, and a read has two numbers with their names. The text
# of a read counts more, because the reader also limits the number of values.
_MOST_ESCAPED: Final = 4
_READ_TEXT: Final = 200
_MOST_FILE_BYTES: Final = MAX_BYTES * 9 // 10

Part = tuple[Path, Sequence[Interaction], Sequence[Interaction]]


class Parts:
    """The files of a recorder: the cassette at `path`, and if it is full, `NAME-2` and so on."""

    def __init__(self, path: Path) -> None:
        self._paths = [path]

    def divide(
        self, kept: Sequence[Interaction], recorded: Sequence[Interaction]
    ) -> Iterator[Part]:
        """Yield the path, the kept and the recorded interactions of each file.

        The kept ones were read from one file, so they fit.
        """
        part: list[Interaction] = []
        number, size = 0, sum(map(_weight, kept))
        for each in recorded:
            if part and size + _weight(each) > _MOST_FILE_BYTES:
                yield self._path(number), kept, part
                kept, part, number, size = (), [], number + 1, 0
            part.append(each)
            size += _weight(each)
        yield self._path(number), kept, part

    def _path(self, number: int) -> Path:
        """Return the path of a part. A further part never replaces a file of another recorder."""
        while len(self._paths) <= number:
            first = self._paths[0]
            names = (first.with_name(f"{first.stem}-{n}{first.suffix}") for n in count(2))
            free = (path for path in names if path not in self._paths and not path.exists())
            self._paths.append(next(free))
        return self._paths[number]


def _weight(interaction: Interaction) -> int:
    """Return about how many bytes of a cassette an interaction needs, in the worst case."""
    bodies = len(interaction.body) + len(interaction.request.body)
    return bodies * _MOST_ESCAPED + len(interaction.reads) * _READ_TEXT
