"""Store runs in the history of a project, and find the earlier runs of a run.

Each stored run is a folder with the results and `about.json`, which has the time and the commit. A
run file has no time, so that equal runs are equal bytes. Cases are not stored, because a
comparison needs only results.
"""

import gzip
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import file_digest
from pathlib import Path
from typing import Final

import msgspec

from harness.errors import UnreadableError
from harness.files.load import read_file
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
    """When a stored run was made, and from which commit, versions and options.

    Fields:
        at: the time at which the run ended, ISO 8601 in UTC.
        seconds: the duration of the run.
        commit: the commit of the project's Git repository; "" if there is none.
        is_dirty: whether the working folder had changes that are not in the commit.
        branch: the Git branch; "" if there is none.
        harness, python: the versions of the harness and of Python.
        digest: the SHA-256 digest of the run file.
        results: the number of results.
        selection: the options in the run's header, without the skipped cells.
        names: the normalizers and agents that took part.
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
        """The commit; "" if the working folder had changes that are not in it."""
        return "" if self.is_dirty else self.commit

    @property
    def label(self) -> str:
        """The time and the first digits of the commit, with `+` if files differed from it."""
        commit = f" {self.commit[:7]}{'+' if self.is_dirty else ''}" if self.commit else ""
        return f"{self.at[:19].replace('T', ' ')}{commit}"


class KeptRun(msgspec.Struct, frozen=True):
    """A run in the history, with the path of the file that has its results."""

    path: Path
    about: RunAbout


def keep_run(run: Run, about: RunAbout, folder: Path, most: int) -> None:
    """Add `run` to the history in `folder`, and remove the oldest runs if there are over `most`.

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
    """Return the runs in the history in `folder`, the oldest first, without damaged ones."""
    found = (_kept_run(about) for about in sorted(folder.glob(f"*/{_ABOUT}")))
    return tuple(each for each in found if each is not None)


def _kept_run(about: Path) -> KeptRun | None:
    path = about.with_name(_RUN)
    try:
        found = msgspec.json.decode(read_file(about), type=RunAbout)
    except (UnreadableError, ValueError):
        return None
    return KeptRun(path, found) if path.is_file() else None


def run_digest(path: Path) -> str:
    """Return the SHA-256 digest of a run file, which identifies the run in the history."""
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


class History(msgspec.Struct, frozen=True):
    """The earlier runs in the history with which one run can be compared.

    Fields:
        about: when and from what the run itself was made; None if it is not in the history.
        earlier: the runs before it with the same selection and at least one client in common, the
            oldest first.
    """

    about: RunAbout | None
    earlier: tuple[KeptRun, ...]

    @property
    def compared(self) -> tuple[KeptRun, ...]:
        """The newest of the earlier runs, the oldest first, limited so that a report stays fast."""
        return tuple(reversed([*self._newest()]))

    def _newest(self) -> Iterator[KeptRun]:
        results = 0
        for number, each in enumerate(reversed(self.earlier)):
            results += each.about.results
            if number and (number >= MOST_COMPARED or results > _MOST_RESULTS):
                return
            yield each


def history_of(run: Run, digest: str, kept: Sequence[KeptRun]) -> History:
    """Return the earlier runs that can be compared with `run`.

    Args:
        run: the run.
        digest: the SHA-256 digest of its file.
        kept: all runs in the history, the oldest first.
    """
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
    """Return `selection` without its lists of cells, as the history stores it.

    Two runs can be compared if what is left of their selections is equal.
    """
    return msgspec.structs.replace(selection, skipped=(), cells=(), left_out=(), recordings=False)


def find_kept(name: str, kept: Sequence[KeptRun]) -> KeptRun | None:
    """Return the newest stored run whose branch is `name` or whose commit starts with `name`.

    Returns None if there is none.
    """
    for each in reversed(kept):
        if name and (each.about.branch == name or each.about.commit.startswith(name)):
            return each
    return None
