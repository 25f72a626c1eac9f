"""The runs that were kept: one folder each, with the results and when and from what they came.

A run file has no clock time, so that equal runs are equal bytes; what differs is in `about.json`
next to the results. Cases are not kept, because a comparison needs results only.
"""

import gzip
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import file_digest
from pathlib import Path
from typing import Final

import msgspec

from harness.files.write import write_file
from harness.results.run import Run, Selection
from harness.results.store import encode_line

FOLDER: Final = "runs"
# More runs would make a report slow and its charts crowded.
MOST_COMPARED: Final = 12
_MOST_RESULTS: Final = 200_000
_RUN: Final = "run.jsonl.gz"
_ABOUT: Final = "about.json"


class RunAbout(msgspec.Struct, frozen=True, omit_defaults=True):
    """When a run was made, and from what.

    Fields:
        at: its end, ISO 8601 in UTC.
        seconds: its duration.
        commit: of the project's Git repository; "" if there is none.
        is_dirty: whether the repository had changes that are not in the commit.
        branch: "" for none.
        harness, python: versions.
        digest: SHA-256 of the run file.
        results: how many.
        selection, names: of the header, without the skipped cells.
    """

    at: str
    seconds: float
    commit: str = ""
    is_dirty: bool = False
    branch: str = ""
    harness: str = ""
    python: str = ""
    digest: str = ""
    results: int = 0
    selection: Selection = Selection()
    names: tuple[str, ...] = ()

    @property
    def clean_commit(self) -> str:
        """The commit, or "" if there were changes."""
        return "" if self.is_dirty else self.commit

    @property
    def label(self) -> str:
        """The time and the start of the commit, `+` if there were changes."""
        commit = f" {self.commit[:7]}{'+' if self.is_dirty else ''}" if self.commit else ""
        return f"{self.at[:19].replace('T', ' ')}{commit}"


class KeptRun(msgspec.Struct, frozen=True):
    """A run in the history; `path` is that of its results."""

    path: Path
    about: RunAbout


def keep_run(run: Run, about: RunAbout, folder: Path, most: int) -> None:
    """Add `run` to the history in `folder`, and remove the oldest runs over `most`.

    Raises:
        OSError: a file cannot be written or removed.
    """
    stamp = "".join(char for char in about.at[:19] if char.isalnum())
    names = (stamp, *(f"{stamp}-{number:02}" for number in range(1, 100)))
    place = next((folder / name for name in names if not (folder / name).exists()), folder / stamp)
    lines = (encode_line(run.header), *map(encode_line, run.results))
    footer = (encode_line(run.footer),) if run.footer is not None else ()
    write_file(place / _RUN, gzip.compress(b"".join((*lines, *footer)), 6, mtime=0))
    write_file(place / _ABOUT, msgspec.json.format(msgspec.json.encode(about)) + b"\n")
    kept = kept_runs(folder)
    for old in kept[: max(0, len(kept) - most)]:
        _remove(old.path.parent)


def _remove(place: Path) -> None:
    for name in (_RUN, _ABOUT):
        (place / name).unlink(missing_ok=True)
    with suppress(OSError):  # the user has put a file there
        place.rmdir()


def kept_runs(folder: Path) -> tuple[KeptRun, ...]:
    """Return the history in `folder`, the oldest first; what is damaged is left out."""
    found = (_kept_run(about) for about in sorted(folder.glob(f"*/{_ABOUT}")))
    return tuple(each for each in found if each is not None)


def _kept_run(about: Path) -> KeptRun | None:
    path = about.with_name(_RUN)
    try:
        found = msgspec.json.decode(about.read_bytes(), type=RunAbout)
    except (OSError, ValueError):
        return None
    return KeptRun(path, found) if path.is_file() else None


def run_digest(path: Path) -> str:
    """Return what identifies a run file."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


class History(msgspec.Struct, frozen=True):
    """The kept runs around one run.

    Fields:
        about: of the run itself; None if it was not kept.
        earlier: those before it with the same selection and at least one client in common, the
            oldest first.
    """

    about: RunAbout | None
    earlier: tuple[KeptRun, ...]

    @property
    def compared(self) -> tuple[KeptRun, ...]:
        """The newest of the earlier ones, as many as a report can show in a short time."""
        return tuple(reversed([*self._newest()]))

    def _newest(self) -> Iterator[KeptRun]:
        results = 0
        for number, each in enumerate(reversed(self.earlier)):
            results += each.about.results
            if number and (number >= MOST_COMPARED or results > _MOST_RESULTS):
                return
            yield each


def history_of(run: Run, digest: str, kept: Sequence[KeptRun]) -> History:
    """Return the history of `run`, whose file has `digest`, among the `kept` runs."""
    selection, names = kept_selection(run.header.selection), set(run.header.names)
    places = [place for place, each in enumerate(kept) if each.about.digest == digest]
    before = kept[: places[-1]] if places else kept
    return History(
        about=kept[places[-1]].about if places else None,
        earlier=tuple(
            each
            for each in before
            if each.about.selection == selection and not names.isdisjoint(each.about.names)
        ),
    )


def kept_selection(selection: Selection) -> Selection:
    """Return `selection` as `about.json` has it: runs with the same one can be compared."""
    return msgspec.structs.replace(selection, skipped=())


def find_kept(name: str, kept: Sequence[KeptRun]) -> KeptRun | None:
    """Return the newest kept run of a branch or of a commit that begins with `name`."""
    for each in reversed(kept):
        if name and (each.about.branch == name or each.about.commit.startswith(name)):
            return each
    return None
