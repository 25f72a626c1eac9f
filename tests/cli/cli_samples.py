"""The command line as a process and as a function, for the tests of `harness.cli`."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

# SIGINT may be ignored where the tests run in the background.
SCRIPT = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    "from harness.cli import main; main()"
)


class Left(msgspec.Struct, frozen=True):
    """How a command left, and what it said."""

    code: int | str | None
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - any JSON
        return json.loads(self.out)


def command(*arguments: str) -> list[str]:
    """Return the argv of `harness` with `arguments`, in a process of its own."""
    return [sys.executable, "-c", SCRIPT, *arguments]


def harness(*arguments: str, folder: Path | None = None) -> Left:
    """Run `harness` in a process."""
    done = subprocess.run(
        command(*arguments), cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    return Left(done.returncode, done.stdout, done.stderr)
