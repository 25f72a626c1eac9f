"""The dashboard as a file: what stands beside a run is gathered here, and the page is written."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from harness import shipped
from harness.errors import UnreadableError, UsageError
from harness.judging.catalogue import load_catalogue
from harness.reporting.beside import Beside, Edition
from harness.reporting.page import page
from harness.runs.gate import Gate
from harness.runs.kill_table import load_kill_table
from harness.runs.run import Run
from harness.runs.store import read_run

DEFAULT_RUNS = Path("reports")


def write_page(
    run: Run, output: Path, gate: Gate | None = None, beside: Beside | None = None
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
    write_text(output, page(run, beside or shipped_beside(), gate))


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


def shipped_beside() -> Beside:
    """Return the catalogue and the kill table that ship, and no other run."""
    catalogue = load_catalogue(shipped.folder("catalogue") / "quirks")
    return Beside(quirks=catalogue, kills=load_kill_table())


def beside_runs(path: Path, base: Path | None, history: Sequence[Path]) -> Beside:
    """Return what ships, with the run to compare with and those before the one at `path`.

    Raises:
        UnreadableError: one of them is no finished run.
    """
    *before, label = _labels([*history, path])
    editions = (
        Edition(name, finished_run(each)) for name, each in zip(before, history, strict=True)
    )
    return msgspec.structs.replace(
        shipped_beside(),
        base=Edition(_label(base), finished_run(base)) if base else None,
        history=tuple(editions),
        label=label,
    )


def _labels(paths: Sequence[Path]) -> list[str]:
    """Return the shortest names that tell the files apart: each its own, else with its folder."""
    names = [_label(path) for path in paths]
    return names if len(set(names)) == len(names) else [path.as_posix() for path in paths]


def _label(path: Path) -> str:
    return path.parent.name if path.stem == "run" and path.parent.name else path.stem


def finished_run(path: Path) -> Run:
    """Return the run at `path` if all of it is there.

    Raises:
        UnreadableError: it is no run, or not a finished one.
    """
    return finished(read_run(path), path)


def finished(run: Run, path: Path) -> Run:
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


def chosen_run(place: Path | None) -> Path:
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
