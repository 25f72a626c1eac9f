"""Run the blocks of a Markdown page as a reader does, and write or check the outputs that it shows.

    python -m scripts.doc_blocks README.md docs/tutorial.md            # exit code 1 if one is stale
    python -m scripts.doc_blocks --write README.md docs/tutorial.md

The blocks of a page run in one new folder, in their order. A comment before a block says what it
is; other blocks do not run:

    <!-- file: mine.py -->             the block is this file
    <!-- replace: mine.py 23-24 -->    the block replaces these lines of the file
    <!-- run -->                       commands after `$`, each with what it prints
    <!-- run: exit 1, first 20, last 2 -->    the exit code, and how many lines of it are shown
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

_BLOCK: Final = re.compile(
    r"^<!-- (?P<kind>file|replace|run)(?:: (?P<what>[^\n]*?))? -->\n"
    r"```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_EXIT: Final = re.compile(r"exit (\d+)")
_FIRST: Final = re.compile(r"first (\d+)")
_LAST: Final = re.compile(r"last (\d+)")
_SECONDS: Final = 900


def rendered(page: str, folder: Path) -> str:
    """Return the text of a page with the outputs that its commands have now.

    Args:
        page: in Markdown.
        folder: a new one, in which the blocks run.

    Raises:
        ValueError: a command exits with another code than the page says.
    """
    return _BLOCK.sub(lambda match: _block(match, folder), page)


def _block(match: re.Match[str], folder: Path) -> str:
    kind, what, text = match["kind"], match["what"] or "", match["text"]
    if kind == "file":
        (folder / what).write_text(text, "utf-8")
    elif kind == "replace":
        name, _, numbers = what.partition(" ")
        first, last = map(int, numbers.split("-"))
        lines = (folder / name).read_text("utf-8").splitlines(keepends=True)
        lines[first - 1 : last] = text.splitlines(keepends=True)
        (folder / name).write_text("".join(lines), "utf-8")
    else:
        commands = [line[2:] for line in text.splitlines() if line.startswith("$ ")]
        shown = "".join(f"$ {each}\n{_output(each, what, folder)}" for each in commands)
        return match[0].replace(text, shown)
    return match[0]


def _output(command: str, options: str, folder: Path) -> str:
    done = subprocess.run(
        ("/bin/bash", "-euo", "pipefail", "-c", command.replace(".venv/bin/", "")),
        cwd=folder,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    expected = _EXIT.search(options)
    if done.returncode != (int(expected[1]) if expected else 0):
        raise ValueError(f"$ {command}\n{done.stdout}exit code {done.returncode}")
    return "".join(f"{line}\n" for line in _shown(done.stdout.splitlines(), options))


def _environment() -> dict[str, str]:
    """Return the environment of a reader, with the commands of this Python and no CI service."""
    names = {"GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"}
    kept = {name: value for name, value in os.environ.items() if name not in names}
    return kept | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}"}


def _shown(lines: list[str], options: str) -> list[str]:
    first, last = _FIRST.search(options), _LAST.search(options)
    if not (first or last):
        return lines
    head, tail = int(first[1]) if first else 0, int(last[1]) if last else 0
    if len(lines) <= head + tail:
        return lines
    return [*lines[:head], "...", *lines[len(lines) - tail :]]


def main(arguments: list[str]) -> int:
    """Check the pages, or write them; return the exit code."""
    stale = 0
    for page in (Path(name) for name in arguments if name != "--write"):
        before = page.read_text("utf-8")
        with tempfile.TemporaryDirectory() as folder:
            now = rendered(before, Path(folder))
        if now != before and "--write" in arguments:
            page.write_text(now, "utf-8", newline="\n")
            print(f"wrote {page}")
        elif now != before:
            print(f"{page}: an output is stale. Run `make readme`.")
            stale = 1
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
