"""Keep a run in the history of its folder, with the time, the commit and the versions."""

import platform
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from harness import __version__
from harness.cli.run_files import writing
from harness.project import project
from harness.results.run import Run
from harness.verdicts.history import FOLDER, RunAbout, keep_run, kept_selection, run_digest

_GIT_SECONDS: Final = 10


def keep_in_history(run: Run, path: Path, seconds: float) -> None:
    """Store a copy of the run at `path`, if the project's setting `history` keeps runs.

    Args:
        run: the complete run.
        path: the file of the run.
        seconds: the duration of the run.

    Raises:
        UsageError: the history cannot be written.
    """
    most = project().table.history
    if not most or not run.complete:
        return
    with writing(path.parent / FOLDER):
        keep_run(run, _about(run, path, seconds), path.parent / FOLDER, most)


def _about(run: Run, path: Path, seconds: float) -> RunAbout:
    return RunAbout(
        at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        seconds=round(seconds, 3),
        commit=_git("rev-parse", "HEAD"),
        is_dirty=bool(_git("status", "--porcelain", "--untracked-files=no")),
        branch=_git("branch", "--show-current"),
        harness=__version__,
        python=platform.python_version(),
        digest=run_digest(path),
        results=len(run.results),
        selection=kept_selection(run.header.selection),
        names=run.header.names,
    )


def _git(*words: str) -> str:
    """Return what Git prints about the project; "" without Git or a repository."""
    program = shutil.which("git")
    if program is None:
        return ""
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command, without a shell
            [program, *words],
            cwd=project().root,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
