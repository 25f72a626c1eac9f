"""Run files as arguments of commands, and the files that commands write."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile

import msgspec

from harness import shipped
from harness.errors import UnreadableError, UsageError
from harness.files.write import PARTIAL, write_file
from harness.judging.catalogue import load_catalogue
from harness.reporting.report import NamedRun, ReportContext
from harness.runs.kill_table import load_kill_table
from harness.runs.run import Run
from harness.runs.store import read_run

DEFAULT_RUNS = Path("reports")


def write_text(output: Path, text: str) -> None:
    """Write a text file, and create its folder if necessary.

    Raises:
        UsageError: the file cannot be written.
    """
    with writing(output):
        write_file(output, text.encode("utf-8"))


@contextmanager
def writing(path: Path, hint: str = "Choose another folder with -o.") -> Iterator[None]:
    """Raise a UsageError if the system refuses what the body writes to `path`."""
    try:
        yield
    except OSError as error:
        raise UsageError(
            f"cannot write the file: {error.strerror}", where=str(path), hint=hint
        ) from error


def require_writable(folder: Path, hint: str = "Choose another folder with -o.") -> None:
    """Check, before work begins, that files can be written below `folder`; create nothing.

    Raises:
        UsageError: they cannot.
    """
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    with writing(folder, hint), TemporaryFile(dir=there):
        pass


def bundled_context() -> ReportContext:
    """Return the bundled catalogue and kill table, without other runs."""
    catalogue = load_catalogue(shipped.bundled_folder("catalogue") / "quirks")
    return ReportContext(quirks=catalogue, kills=load_kill_table())


def context_of(path: Path, base: Path | None, history: Sequence[Path]) -> ReportContext:
    """Return the bundled data, with the base run and the runs before the one at `path`.

    Raises:
        UnreadableError: one of them is not a finished run.
    """
    *before, label = _labels([*history, path])
    editions = (
        NamedRun(name, read_finished_run(each)) for name, each in zip(before, history, strict=True)
    )
    return msgspec.structs.replace(
        bundled_context(),
        base=NamedRun(_label(base), read_finished_run(base)) if base else None,
        history=tuple(editions),
        label=label,
    )


def _labels(paths: Sequence[Path]) -> list[str]:
    """Return short labels that differ: the file names, or else the paths."""
    names = [_label(path) for path in paths]
    return names if len(set(names)) == len(names) else [path.as_posix() for path in paths]


def _label(path: Path) -> str:
    return path.parent.name if path.stem == "run" and path.parent.name else path.stem


def incomplete_reason(run: Run) -> str:
    """Return why `run` does not have all its cells; "" if it has."""
    if run.footer is None:
        return f"incomplete run file: expected a footer after {len(run.results)} results"
    if run.footer.interrupted:
        done = run.footer.results
        return f"interrupted run: it has {done} of {done + run.footer.not_run} cells"
    return ""


def read_finished_run(path: Path) -> Run:
    """Return the run at `path`.

    Raises:
        UnreadableError: it is not a run, or not a finished one.
    """
    run = read_run(path)
    problem = incomplete_reason(run)
    if problem:
        hint = "Run it again with `harness run`, or show it with `harness report`."
        raise UnreadableError(problem, where=str(path), hint=hint)
    return run


def find_run(path: Path | None) -> Path:
    """Return the run file `path`, or the newest one in the folder `path`; None is reports/.

    Without a finished run, it is the newest one that was killed or is in progress.

    Raises:
        UnreadableError: the folder has no run file.
    """
    folder = path or DEFAULT_RUNS
    if path is not None and not path.is_dir():
        return path
    files = (*folder.glob("*.jsonl"),) or (*folder.glob(f"*.jsonl{PARTIAL}"),)
    found = sorted(files, key=lambda each: (each.stat().st_mtime_ns, each.name))
    if not found:
        raise UnreadableError(
            "no run: expected a *.jsonl file in this folder",
            where=str(folder),
            hint="Write one with `harness run`, or pass a run file.",
        )
    return found[-1]
