"""Run files as arguments of commands, and the files that a report writes."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from harness import shipped
from harness.errors import UnreadableError, UsageError
from harness.judging.catalogue import load_catalogue
from harness.reporting.page import render_page
from harness.reporting.report import NamedRun, ReportContext
from harness.runs.gate import Gate
from harness.runs.kill_table import load_kill_table
from harness.runs.run import Run
from harness.runs.store import read_run

DEFAULT_RUNS = Path("reports")


def write_page(
    run: Run, output: Path, gate: Gate | None = None, beside: ReportContext | None = None
) -> None:
    """Write the report of `run` to `output`; its folder is made where it is missing.

    Args:
        run: what the page shows.
        output: an HTML file.
        gate: its verdict; None judges it without the rules of a project.
        beside: what stands beside it; None for what ships alone.

    Raises:
        UsageError: nothing can be written there.
    """
    write_text(output, render_page(run, beside or bundled_context(), gate))


def write_text(output: Path, text: str) -> None:
    """Write one file of a report; its folder is made where it is missing.

    Raises:
        UsageError: nothing can be written there.
    """
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise UsageError(
            f"cannot write the report: {error.strerror}",
            where=str(output),
            hint="Choose another place with -o.",
        ) from error


def bundled_context() -> ReportContext:
    """Return the catalogue and the kill table that ship, and no other run."""
    catalogue = load_catalogue(shipped.bundled_folder("catalogue") / "quirks")
    return ReportContext(quirks=catalogue, kills=load_kill_table())


def context_of(path: Path, base: Path | None, history: Sequence[Path]) -> ReportContext:
    """Return what ships, with the run to compare with and those before the one at `path`.

    Raises:
        UnreadableError: one of them is no finished run.
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
    """Return the shortest names that tell the files apart: each its own, else with its folder."""
    names = [_label(path) for path in paths]
    return names if len(set(names)) == len(names) else [path.as_posix() for path in paths]


def _label(path: Path) -> str:
    return path.parent.name if path.stem == "run" and path.parent.name else path.stem


def read_finished_run(path: Path) -> Run:
    """Return the run at `path` if all of it is there.

    Raises:
        UnreadableError: it is no run, or not a finished one.
    """
    return require_finished(read_run(path), path)


def require_finished(run: Run, path: Path) -> Run:
    """Return `run`, which was read from `path`, if all of it is there.

    Raises:
        UnreadableError: its process was killed or interrupted before the end.
    """
    if run.footer is None:
        raise UnreadableError(
            f"not a finished run: {len(run.results)} results and no footer",
            where=str(path),
            hint="Run it again with `harness run`, or look at it with `harness view`.",
        )
    if run.footer.interrupted:
        done, left = run.footer.results, run.footer.not_run
        raise UnreadableError(
            f"an interrupted run: {done} of {done + left} cells",
            where=str(path),
            hint="Run it again with `harness run`, or look at it with `harness view`.",
        )
    return run


def find_run(place: Path | None) -> Path:
    """Return the run that `place` names: a file, or of a folder the run written last.

    Raises:
        UnreadableError: there is no run in the folder.
    """
    chosen = place or DEFAULT_RUNS
    return _newest(chosen) if chosen.is_dir() or place is None else chosen


def _newest(folder: Path) -> Path:
    """Return the run in `folder` that was written last; of equal times the last name."""
    found = sorted(folder.glob("*.jsonl"), key=lambda path: (path.stat().st_mtime_ns, path.name))
    if not found:
        raise UnreadableError(
            "no run here: expected a *.jsonl file",
            where=str(folder),
            hint="Make one with `harness run`, or name a run file.",
        )
    return found[-1]
