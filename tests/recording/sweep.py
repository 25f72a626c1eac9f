"""One recorded stream under every chunking of a sweep, and a record of the streams that passed.

A stream that passed is not read again until its bytes, its reader or this sweep change. Only
turns are compared: no clock, no promptness, so that all streams fit into some minutes.
"""

import hashlib
import json
import random
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

import harness
from harness.normalizers.reference import normalizer as reference
from harness.turns.fold import fold
from harness.turns.turn import Turn
from harness.wire.cuts import UNSPLIT, Chunking, each_byte, iter_single_cuts, seams, split
from harness.wire.interaction import Interaction
from tests.recording.corpus import Recorded

# Bodies up to this length are cut at every offset; longer ones at their seams and at random.
EVERY_CUT_UP_TO_BYTES = 16 * 1024
RANDOM_CUTS = 2_000

_PACKAGE = Path(harness.__file__).parent
# What turns bytes into turns, whatever the dialect.
_SHARED = ("wire", "turns", "normalizers/respond.py", "normalizers/reference.py", "dialects/*.py")


def chunkings(body: bytes) -> Iterator[Chunking]:
    """Yield every chunking of the whole sweep."""
    yield from few_chunkings(body)
    if len(body) <= EVERY_CUT_UP_TO_BYTES:
        yield from iter_single_cuts(body)
        return
    yield from ((cut,) for cut in seams(body))
    drawn = random.Random(body)  # noqa: S311 - seeded by the body: a failure comes again
    yield from ((cut,) for cut in drawn.sample(range(1, len(body)), RANDOM_CUTS))


def few_chunkings(body: bytes) -> Iterator[Chunking]:
    """Yield the two chunkings with the most cuts that matter."""
    yield each_byte(body)
    yield seams(body)


def turn_of(interaction: Interaction, cuts: Chunking) -> Turn:
    """Return what `reference` makes of `interaction` under one chunking."""
    return fold(reference.normalize(interaction, split(interaction.body, cuts)))


def fault_of(stream: Recorded, ways: Iterable[Chunking]) -> str:
    """Return how the turn of `stream` depends on its cuts, or what it raises; "" if neither."""
    cuts = UNSPLIT
    try:
        whole = turn_of(stream.interaction, UNSPLIT)
        for cuts in ways:
            if (turn := turn_of(stream.interaction, cuts)) != whole:
                return f"{stream.source} cut at {cuts[:9]}: {turn} instead of {whole}"[:2_000]
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what the sweep looks for
        return f"{stream.source} cut at {cuts[:9]} raises {error!r}"
    return ""


def sweep(stream: Recorded) -> str:
    """Return the fault of `stream` under every chunking, "" where it has none."""
    return fault_of(stream, chunkings(stream.interaction.body))


# What passed


class Progress:
    """The streams that passed, one JSON object a line; a line cut short counts as none."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._passed = set(_lines(path))

    def has(self, stream: Recorded) -> bool:
        """Whether `stream` passed with the code as it is now."""
        return _key(stream.interaction) in self._passed

    def add(self, stream: Recorded) -> None:
        """Remember that `stream` passed."""
        body, code = _key(stream.interaction)
        line = json.dumps({"body": body, "code": code, "source": stream.source})
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


def _lines(path: Path) -> Iterator[tuple[str, str]]:
    text = path.read_text("utf-8") if path.is_file() else ""
    for line in text.splitlines():
        try:
            value = json.loads(line)
        except ValueError:
            continue
        yield value["body"], value["code"]


def _key(interaction: Interaction) -> tuple[str, str]:
    said = (interaction.dialect, interaction.status, interaction.request.body, interaction.body)
    return hashlib.sha256(repr(said).encode()).hexdigest(), _code_digest(interaction.dialect)


@lru_cache
def _code_digest(dialect: str) -> str:
    """Return a digest of all source files that decide about the turns of `dialect`."""
    digest = hashlib.sha256()
    for path in sorted({Path(__file__), *_sources(dialect.replace("-", "_"))}):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _sources(package: str) -> Iterator[Path]:
    for pattern in (*_SHARED, f"dialects/{package}"):
        found = list(_PACKAGE.glob(pattern))
        yield from (path for path in found if path.is_file())
        yield from (path for folder in found if folder.is_dir() for path in folder.rglob("*.py"))
