"""Real recordings, where they lie beside the repository; nothing of them is ever copied here."""

import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec
import pytest

from harness.recording.importing import Imported, Labels, import_file
from harness.wire.interaction import Interaction

CORPUS = Path(
    os.environ.get("HARNESS_CORPUS") or Path(__file__).parents[2] / ".." / "shared/corpus"
)
IS_THERE = (CORPUS / "streams.jsonl").is_file()
needs_corpus = pytest.mark.skipif(
    not IS_THERE,
    reason="no corpus of real streams beside the repository; set HARNESS_CORPUS to its folder",
)


class Recorded(msgspec.Struct, frozen=True):
    """One recorded stream.

    Fields:
        source: the file below the corpus, `#`, and the place of the response in it.
    """

    source: str
    interaction: Interaction


def files() -> list[Path]:
    """Return the files of the corpus, always in the same order."""
    return sorted(path for path in CORPUS.rglob("*") if path.is_file())


def source_of(path: Path) -> str:
    """Return the name of a file below the corpus."""
    return path.relative_to(CORPUS).as_posix()


def import_anew(path: Path) -> Imported:
    """Import a file of the corpus."""
    return import_file(path, path.read_bytes(), source_of(path), Labels())


# All files take ten seconds, and the tests of several packages need them.
imported = cache(import_anew)


def recorded(paths: list[Path]) -> Iterator[Recorded]:
    """Yield the streams of `paths` that the suite imports."""
    for path in paths:
        for cassette in imported(path).cassettes:
            name = cassette.origin.source
            for place, interaction in enumerate(cassette.interactions):
                yield Recorded(f"{name}/{place}" if place else name, interaction)
