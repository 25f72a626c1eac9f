"""Run each command where it can hardly work: it says what is wrong, and ends.

The working folder is removed, 20 files may be open, files may not grow, or pipes and devices are
next to the files that the command reads.
"""

import atexit
import os
import resource
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from shutil import copytree, rmtree
from typing import Final

from harness.files.write import PARTIAL
from tests.attack.attack import Attack
from tests.cli.cli_samples import command
from tests.cli.test_cli_output_folders import RUN, write_sources

# A command that works needs seconds; one that waits for a pipe never ends.
_SECONDS: Final = 240
_SCENARIO: Final = RUN[1]
_CLIENT: Final = "from harness.normalizers.reference import normalizer as normalize\n"
_COMMANDS: Final[dict[str, tuple[str, ...]]] = {
    "run": (*RUN, "--no-report"),
    "run -j 2": (*RUN, "-n", "mine:normalize", "-j", "2"),
    "run FOLDER": ("run", "other", "-n", "naive", "--no-report"),
    "gate": ("gate", "other"),
    "report": ("report", "other", "-o", "r"),
    "compare": ("compare", "other", "other"),
    "measure": ("measure", "other", "-o", "m"),
    "measure -j 2": ("measure", "other/logs.jsonl", "-o", "m", "-j", "2"),
    "drift": ("drift", "measured"),
    "query": ("query", "select 1", "other"),
    "lint": ("lint", "other"),
    "audit": ("audit", "other"),
    "import": ("import", "other", "-o", "i"),
    "fuzz": ("fuzz", _SCENARIO, *("-n", "mine:normalize", "--examples", "3", "-j", "1")),
    "replay": ("replay", "text/plain/mine:normalize"),
    "repro": ("repro", "dashscope/split-chunks/naive"),
    "show": ("show", "other/stream.yaml"),
    "cassettes": ("cassettes", "other"),
    "new": ("new", "DELTA-ID-EMPTY-LATER", "-o", "n"),
    "list": ("list", "scenarios"),
    "init": ("init",),
}
_SPECIAL: Final = ("a.yaml", "run.jsonl.gz", f"b.jsonl{PARTIAL}", "turns-000009.parquet", "c.json")


def _limit(kind: int, most: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(kind, (most, most))


_LIMITS: Final = {
    "20 open files": _limit(resource.RLIMIT_NOFILE, 20),
    "files of 4 kB": _limit(resource.RLIMIT_FSIZE, 4096),
    "files of 0 bytes": _limit(resource.RLIMIT_FSIZE, 0),
}
_WAYS: Final = ("pipes", "20 open files", "no folder", "files of 4 kB", "files of 0 bytes")
_ATTEMPTS: Final = [(way, name) for way in _WAYS for name in _COMMANDS]


def attempt(number: int) -> list[str]:
    """Run one command; return a line if it hangs, crashes or does not say what is wrong."""
    way, name = _ATTEMPTS[number]
    with tempfile.TemporaryDirectory(prefix="surroundings-") as place:
        folder = Path(place) / "work"
        copytree(_prepared(), folder)
        if way == "pipes":
            _add_special(folder)
        arguments = command(*_COMMANDS[name])
        if way == "no folder":
            arguments = ["sh", "-c", 'rm -rf "$PWD"; exec "$0" "$@"', *arguments]
        return [f"{way}, {name}: {it}" for it in _problems(arguments, folder, way)]


@cache
def _prepared() -> Path:
    """Return a folder with a run, a log, a recording, a measurement and a client."""
    folder = Path(tempfile.mkdtemp(prefix="surroundings-"))
    atexit.register(rmtree, folder, ignore_errors=True)
    write_sources(folder / "other")
    (folder / "mine.py").write_text(_CLIENT)
    for arguments in ((*RUN, "-o", "other"), ("measure", "other/logs.jsonl", "-o", "measured")):
        subprocess.run(command(*arguments), cwd=folder, capture_output=True, check=False)
    return folder


def _add_special(folder: Path) -> None:
    for place in (folder, folder / "other", folder / "measured"):
        for name in _SPECIAL:
            os.mkfifo(place / name)
        (place / "zero.yaml").symlink_to("/dev/zero")
        (place / "nowhere.jsonl").symlink_to("nowhere")


def _problems(arguments: list[str], folder: Path, way: str) -> Iterator[str]:
    try:
        done = subprocess.run(
            arguments,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(folder)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            preexec_fn=_LIMITS.get(way),
            check=False,
        )
    except subprocess.TimeoutExpired:
        yield f"it did not end within {_SECONDS} s"
        return
    error = done.stderr.decode()
    if done.returncode not in (0, 1, 2, 5) or "Traceback" in error:
        yield f"exit code {done.returncode}: {error[-300:]}"
    if way == "no folder" and "working folder was removed" not in error:
        yield f"it does not name the folder: {error[-300:]}"
    if done.returncode == 2 and not error.strip():
        yield "it exits with code 2 without a word"


ATTACK = Attack(attempt, full=len(_ATTEMPTS), part=3)
