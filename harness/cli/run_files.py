"""Find and read run files for commands, and write their output files."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryFile

import msgspec

from harness import shipped
from harness.errors import UnreadableError, UsageError
from harness.files.output import MARKER, OutputFolder
from harness.files.write import PARTIAL, write_file
from harness.reporting.report import NamedRun, ReportContext
from harness.reporting.text.compare import change_line
from harness.results.catalogue import load_catalogue
from harness.results.kill_table import load_kill_table
from harness.results.run import Run, Selection
from harness.results.store import read_run, start_mark
from harness.verdicts.compare import compare
from harness.verdicts.history import (
    FOLDER,
    MOST_COMPARED,
    KeptRun,
    find_kept,
    history_of,
    kept_runs,
    run_digest,
)
from harness.wire.cassette import OriginKind
from harness.wire.cassette_file import VCRPY, load_cassette
from harness.wording import pluralize

DEFAULT_RUNS = Path("reports")
RUN_FILE = "run.jsonl"


def write_text(output: Path, text: str) -> None:
    """Write a text file, and create its folder if necessary.

    Raises:
        UsageError: the file cannot be written.
    """
    with writing(output):
        write_file(output, text.encode("utf-8"))


def claim(folder: Path, *names: str, is_own: Callable[[Path], bool] = lambda _: False) -> None:
    """Add files to the list of those that the harness wrote into `folder`, before it writes them.

    Raises:
        UsageError: one of the files exists and the harness did not write it, or the list of files
            cannot be written.
    """
    with writing(folder / MARKER):
        OutputFolder(folder).claim(*names, is_own=is_own)


def claim_cassette(folder: Path, path: Path, kind: OriginKind) -> None:
    """Claim the cassette at `path` below `folder`; one that the harness made is always its own.

    Raises:
        UsageError: the file exists, and is not a cassette of this kind that the harness made.
    """

    def is_own(old: Path) -> bool:
        try:
            origin = load_cassette(old).origin
        except UnreadableError:
            return False
        return origin.kind == kind and origin.by != VCRPY

    claim(folder, path.relative_to(folder).as_posix(), is_own=is_own)


@contextmanager
def writing(path: Path, hint: str = "Choose another folder with -o.") -> Iterator[None]:
    """Inside the block, raise a UsageError with `hint` if `path` cannot be written."""
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"cannot write the file: {error.strerror}", where=str(path), hint=hint
        ) from error


def require_writable(folder: Path, hint: str = "Choose another folder with -o.") -> None:
    """Check, before work begins, that files can be written below `folder`; create nothing.

    Raises:
        UsageError: files cannot be written there.
    """
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    with writing(folder, hint), TemporaryFile(dir=there):
        pass


def bundled_context() -> ReportContext:
    """Return the data for a report: the bundled catalogue and kill table, without other runs."""
    catalogue = load_catalogue(shipped.bundled_folder("catalogue") / "quirks")
    return ReportContext(quirks=catalogue, kills=load_kill_table())


def context_of(
    path: Path, run: Run, base: Path | None = None, given: Sequence[Path] = ()
) -> ReportContext:
    """Return the data that a report shows in addition to `run`: bundled data and other runs.

    Args:
        path: the path of `run`.
        run: the run of the report.
        base: the run to compare with; None for the newest earlier run in the history.
        given: the earlier runs of the trends page; if empty, all earlier runs in the history.

    Raises:
        UnreadableError: `base` or a file in `given` is not a finished run.
    """
    # An older run may be at the path of a run in progress.
    digest = run_digest(path) if run.footer is not None else ""
    kept = history_of(run, digest, kept_runs(path.parent / FOLDER))
    *names, label = run_labels([*given, path])
    if given:
        pairs = zip(names, given, strict=True)
        history = tuple(NamedRun(name, read_finished_run(each)) for name, each in pairs)
    else:
        history = tuple(_readable_runs(kept.compared))
    return msgspec.structs.replace(
        bundled_context(),
        base=_base_run(base, path.parent) if base else next(reversed(history), None),
        history=history,
        label=kept.about.label if kept.about and not given else label,
        about=kept.about,
    )


def page_name(selection: Selection) -> str:
    """Return the name of the page of a run; that of `--lf` never replaces the complete report."""
    return "last-failed.html" if selection.last_failed else "index.html"


def changes_of(context: ReportContext, run: Run, base: Path | None = None) -> str:
    """Return in one line what changed since the base of `context`; "" without a base.

    `base` is the run that the user named as the base; None for the last run of the history, whose
    time the line does not have, so that equal runs print the same.
    """
    found = context.base
    label = found.label if found and base else "the last run"
    return change_line(compare(found.run, run), label) if found else ""


def _readable_runs(kept: Sequence[KeptRun]) -> Iterator[NamedRun]:
    """Yield the runs of the history, without those that this version of harness cannot read."""
    for each in kept:
        with suppress(UnreadableError):
            yield NamedRun(each.about.label, _read_kept(each.path), each.about.clean_commit)


# A kept run does not change, and `harness view` shows the same ones again and again.
_read_kept = lru_cache(MOST_COMPARED)(read_run)


def _base_run(base: Path, folder: Path) -> NamedRun:
    path = find_base(base, folder)
    run = read_finished_run(path)
    return NamedRun(_kept_label(path) or _label(path), run)


def run_label(path: Path) -> str:
    """Return the name of a run file, with its time and commit if it is in the history."""
    label = _kept_label(path)
    return f"{label} ({path.as_posix()})" if label else path.as_posix()


def _kept_label(path: Path) -> str:
    """Return the time and the commit of a run; "" if it is not in the history."""
    digest = run_digest(path)
    folders = (path.parent / FOLDER, path.parent.parent)
    kept = (each for folder in folders for each in kept_runs(folder))
    found = (it.about for it in kept if it.path == path or it.about.digest == digest)
    about = next(found, None)
    return about.label if about else ""


def find_base(base: Path, folder: Path) -> Path:
    """Return the run file that `base` names: a path, or a branch or commit in the history.

    Raises:
        UnreadableError: `base` is neither a path nor a branch or commit of the history.
    """
    kept = None if base.exists() else find_kept(str(base), kept_runs(folder / FOLDER))
    return kept.path if kept else find_run(base)


def previous_run(path: Path) -> Path:
    """Return the run in the history before the one at `path`, with the same selection.

    Raises:
        UnreadableError: the history has no earlier run with the same selection.
    """
    kept = history_of(read_run(path), run_digest(path), kept_runs(path.parent / FOLDER))
    if not kept.earlier:
        raise UnreadableError(
            "no earlier run with the same selection",
            where=str(path.parent / FOLDER),
            hint="Pass the run to compare with, or make another run with `harness run`.",
        )
    return kept.earlier[-1].path


def run_labels(paths: Sequence[Path]) -> list[str]:
    """Return a short label for each path: the file names, or the paths if names are equal."""
    names = [_label(path) for path in paths]
    return names if len(set(names)) == len(names) else [path.as_posix() for path in paths]


def _label(path: Path) -> str:
    name = path.name.partition(".")[0]
    return path.parent.name if name == "run" and path.parent.name else path.stem


def incomplete_reason(run: Run) -> str:
    """Return why `run` lacks some of its cells; "" if it has all."""
    if run.footer is None:
        return f"incomplete run file: expected a footer after {len(run.results)} results"
    if run.footer.interrupted or run.footer.not_run:
        done, word = run.footer.results, "interrupted" if run.footer.interrupted else "incomplete"
        return f"{word} run: it has {done} of {done + run.footer.not_run} cells"
    return ""


def mark_start(output: Path) -> None:
    """Mark that a run starts, so that the run before it does not count if this one fails.

    Raises:
        UsageError: the mark cannot be written.
    """
    path = output / RUN_FILE
    if path.exists():
        claim(output, start_mark(path).name)
        write_text(start_mark(path), "A run has started and has not finished.\n")


def require_finished_start(path: Path) -> None:
    """Check that no later run failed to start or was killed, so that the one at `path` counts.

    Raises:
        UnreadableError: a later run did not finish.
    """
    if start_mark(path).exists():
        raise UnreadableError(
            "from an earlier run: the last one did not start, or was killed",
            where=str(path),
            hint="Run it again with `harness run`.",
        )


def run_age(path: Path) -> str:
    """Return the age of the run file at `path` as text, such as `3 minutes old`."""
    seconds = max(0.0, time.time() - path.stat().st_mtime)
    for name, length in (("day", 86_400), ("hour", 3_600), ("minute", 60)):
        if seconds >= length:
            return f"{pluralize(int(seconds // length), name)} old"
    return f"{pluralize(int(seconds), 'second')} old"


def read_finished_run(path: Path) -> Run:
    """Return the run at `path`.

    Raises:
        UnreadableError: the file is not a run, or the run is not finished.
    """
    run = read_run(path)
    problem = incomplete_reason(run)
    if problem:
        hint = "Run it again with `harness run`, or show it with `harness report`."
        raise UnreadableError(problem, where=str(path), hint=hint)
    return run


def find_run(path: Path | None) -> Path:
    """Return the run file `path`, or the newest run file in the folder `path`, by default reports/.

    `path` may also be a run of the history, a gzip file. If the folder has no finished run, the
    function returns the newest run that was killed or is in progress.

    Raises:
        UnreadableError: the folder has no run file.
    """
    folder = path or DEFAULT_RUNS
    if path is not None and not path.is_dir():
        return path
    finished = (*folder.glob("*.jsonl"), *folder.glob("*.jsonl.gz"))
    files = finished or folder.glob(f"*.jsonl{PARTIAL}")
    # A link that leads nowhere is as old as itself: reading it gives the reason.
    found = sorted(
        files, key=lambda it: (it.stat(follow_symlinks=it.exists()).st_mtime_ns, it.name)
    )
    if not found:
        raise UnreadableError(
            "no run: expected a *.jsonl file in this folder",
            where=str(folder),
            hint="Write one with `harness run`, or pass a run file.",
        )
    return found[-1]
