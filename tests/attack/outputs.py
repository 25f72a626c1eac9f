"""Let commands write to folders with files of the user: none of these may change.

Each attempt makes a folder with other files that have the names of the harness's own, and runs
some commands there, also after each other and twice.
"""

import subprocess
import tempfile
from pathlib import Path
from random import Random
from typing import Final

from tests.attack.attack import Attack
from tests.cli.cli_samples import command
from tests.cli.test_cli_output_folders import COMMANDS, RUN, USER_FILES, digests, write_sources

_SECONDS: Final = 120
_REPEATED: Final = 0.3


def attempt(number: int) -> list[str]:
    """Run one to three commands; return which file of the user changed."""
    random = Random(number)  # noqa: S311 - the same every time
    # Without a file of the user there, `peers install` would download packages.
    files = tuple(it for it in USER_FILES if it.startswith("litellm/") or random.random() < 0.5)
    names = random.sample(sorted(COMMANDS), random.randint(1, 3))
    with tempfile.TemporaryDirectory(prefix="outputs-") as place:
        folder = Path(place)
        write_sources(folder / "other")
        _run(folder, *RUN, "-o", "other")
        if random.random() < _REPEATED:  # its own files are there, too
            _run(folder, *COMMANDS[random.choice(("measure", "report", "run", "fuzz"))])
        files = tuple(name for name in files if not (folder / name).exists())
        for name in files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(f"mine {random.random()}")
        before = digests(folder, files)
        problems = [problem for name in names for problem in _run(folder, *COMMANDS[name])]
        after = {
            path: digest
            for name in files
            if (folder / name).is_file()
            for path, digest in digests(folder, (name,)).items()
        }
    changed = sorted(path for path, digest in before.items() if after.get(path) != digest)
    return [*problems, *(f"{', '.join(names)}: changed {path}" for path in changed)]


def _run(folder: Path, *arguments: str) -> list[str]:
    """Run a command; return a line if it crashed or hangs."""
    try:
        done = subprocess.run(
            command(*arguments), cwd=folder, capture_output=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return [f"{arguments[0]}: did not end in {_SECONDS} s"]
    crashed = done.returncode not in (0, 1, 2, 5)
    return [f"{arguments[0]}: {done.stderr.decode()[-300:]}"] if crashed else []


ATTACK = Attack(attempt, full=400, part=4)
