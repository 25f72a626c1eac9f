"""Small projects for the attack `green`: complete ones, and what breaks them.

A change writes to the folder of a project that conforms. After it, the project plans, selects or
judges less, or a client or a file of it fails.
"""

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Final

from harness.shipped import bundled_folder

BUNDLED: Final = bundled_folder("scenarios")
_FILES: Final = (
    "dashscope/split-chunks.yaml",
    "dashscope/thinking-and-call.yaml",
    "text/plain.yaml",
)
_FAILS: Final = (
    "title: fails\ncassette: dashscope/qwen-plus/split-chunks\n"
    "expect:\n- {text: 'no', finish: stop}\n"
)
_TABLE: Final = """\
[tool.harness]
paths = ["scenarios"]
cuts = "whole"
[tool.harness.normalizers.mine]
target = "client_of_project:normalize"
[tool.pytest.ini_options]
harness_scenarios = "scenarios"
"""
_CLIENT: Final = "from harness.normalizers.reference import normalizer as normalize\n"
_BROKEN_CLIENT: Final = "from harness.normalizers.known_bad import naive as normalize\n"
IMPORTS: Final = "def normalize(interaction, reads):\n    import no_such_package\n"
_SUITE: Final = "from harness import conformance_suite\ntest_c = conformance_suite('mine')\n"

Change = Callable[[Path], None]


def write(name: str, text: str | bytes) -> Change:
    """Return a change that writes a file."""

    def change(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    return change


def settings(more: str, old: str = "", new: str = "") -> Change:
    """Return a change of the settings: more of them, and `new` for `old`."""
    return write("pyproject.toml", _TABLE.replace(old, new) + more)


def _link(name: str, target: str) -> Change:
    def change(folder: Path) -> None:
        write("elsewhere/fails.yaml", _FAILS)(folder)
        (folder / name).symlink_to(target)

    return change


def pipe(folder: Path) -> None:
    """Make a pipe, which a reader would wait for."""
    os.mkfifo(folder / "scenarios/text/pipe.yaml")


def _socket(folder: Path) -> None:
    here = Path.cwd()
    with socket.socket(socket.AF_UNIX) as made:
        os.chdir(folder / "scenarios/text")  # the address of a socket is short
        try:
            made.bind("z.yaml")
        finally:
            os.chdir(here)


def _cut(folder: Path) -> None:
    path = folder / "scenarios/text/plain.yaml"
    path.write_bytes(path.read_bytes()[:20])


def changes(*given: Change) -> Change:
    """Return a change that makes all of the given ones."""

    def change(folder: Path) -> None:
        for each in given:
            each(folder)

    return change


# A file below the selected folder that fails or cannot be used.
FILE_FAULTS: Final[dict[str, Change]] = {
    "fails": write("scenarios/text/z.yaml", _FAILS),
    "fails as .yml": write("scenarios/text/z.yml", _FAILS),
    "fails as .YAML": write("scenarios/text/z.YAML", _FAILS),
    "zero bytes": write("scenarios/text/z.yaml", ""),
    "only spaces": write("scenarios/text/z.yaml", " \n\n"),
    "a comment": write("scenarios/text/z.yaml", "# expect: later\n"),
    "UTF-16": write("scenarios/text/z.yaml", _FAILS.encode("utf-16")),
    "not UTF-8": write("scenarios/text/z.yaml", _FAILS.encode() + b"\xff\xfe"),
    "misspelt keys": write("scenarios/text/z.yaml", _FAILS.replace("expect", "expects")),
    "keys in upper case": write("scenarios/text/z.yaml", _FAILS.upper()),
    "a JSON object": write("scenarios/text/z.yaml", '{"title":"x","cassette":"c","expect":[]}'),
    "a list": write("scenarios/text/z.yaml", "- expect: 1\n"),
    "_cut": _cut,
    "a dangling link": _link("scenarios/text/z.yaml", "nowhere.yaml"),
    "a linked file": _link("scenarios/text/z.yaml", "../../elsewhere/fails.yaml"),
    "a linked folder": _link("scenarios/linked", "../elsewhere"),
    "a pipe": pipe,
    "a device": _link("scenarios/text/z.yaml", "/dev/zero"),
}
_PASSES: Final = (BUNDLED / "text/plain.yaml").read_text(encoding="utf-8")
# Files that a reader, a listing or a second look could leave out.
OVERLOOKED: Final[dict[str, Change]] = {
    "a folder of caches": write("scenarios/__pycache__/z.yaml", _FAILS),
    "a folder of modules": write("scenarios/node_modules/z.yaml", _FAILS),
    "two documents": write("scenarios/text/z.yaml", f"{_PASSES}\n---\n{_FAILS}"),
    "a key twice": write("scenarios/text/z.yaml", f"{_FAILS}expect:\n- {{text: x}}\n"),
    "the id of another file": write("scenarios/text/plain.yml", _FAILS),
    "the id in capitals": write("scenarios/text/Plain.YAML", _FAILS),
    "an empty list": write("scenarios/text/z.yaml", _FAILS.partition("expect")[0] + "expect: []"),
    "no expectation": write("scenarios/text/z.yaml", _FAILS.partition("expect")[0]),
    "an empty expectation": write(
        "scenarios/text/z.yaml", _FAILS.partition("expect")[0] + "expect:\n- {}\n"
    ),
    "a NUL": write("scenarios/text/z.yaml", _FAILS.encode() + b"\0"),
    "a missing cassette": write("scenarios/text/z.yaml", _FAILS.replace("split-", "no-")),
    "a cassette elsewhere": write("scenarios/text/z.yaml", _FAILS.replace(": dash", ": ../dash")),
    "a deep folder": write(f"scenarios/{'d/' * 60}z.yaml", _FAILS),
    "a line end in the name": write("scenarios/text/z\n.yaml", _FAILS),
    "a long name": write(f"scenarios/text/{'z' * 250}.yaml", _FAILS),
    "a mark before the text": write("scenarios/text/z.yaml", f"\ufeff{_FAILS}"),
    "a folder with the name of a file": write("scenarios/text/z.yaml/f.yaml", _FAILS),
    "a link to itself": lambda folder: (folder / "scenarios/text/z.yaml").symlink_to("z.yaml"),
    "a socket": _socket,
}
_RULE: Final = '\n[[tool.harness.gate]]\nmetric = "conformance"\nmin = {}\n'
SKIP: Final = '[[expectation]]\nid = "*"\nnormalizer = "*"\nexpect = "skip"\nreason = "later"\n'
BROKEN: Final = write("client_of_project.py", _BROKEN_CLIENT)
# Settings with which a client that fails, or is not judged, could pass.
SETTING_FAULTS: Final[dict[str, Change]] = {
    "a rule": changes(BROKEN, settings(_RULE.format(0.9))),
    "a rule for an area": changes(
        BROKEN, settings(_RULE.format(1.0) + 'where = {area = "text"}\n')
    ),
    "a rule for a client": changes(
        BROKEN, settings(_RULE.format(0.0) + 'where = {normalizer = "other*"}\n')
    ),
    "a misspelt key": changes(settings("", "cuts", "cutz")),
    "a misspelt table": changes(BROKEN, settings("", "tool.harness]", "tool.harnes]")),
    "a misspelt path": settings("", '["scenarios"]', '["scenarois"]'),
    "all skipped": write("expectations.toml", SKIP),
    "a client without dialects": settings(
        "", "[tool.pytest", 'dialects = ["cohere"]\n[tool.pytest'
    ),
    "a misspelt entry": write("expectations.toml", SKIP.replace("skip", "skipp")),
    "an import error": write("client_of_project.py", "import no_such_package\n"),
    "a late import error": write("client_of_project.py", IMPORTS),
}


_ENDS: Final = "import os\nos._exit(0)\n"
_LEAVES: Final = "def normalize(interaction, reads):\n    {}\n    yield\n"
# Clients that end the process with 0, or give nothing, and settings that select nothing.
FURTHER_FAULTS: Final[dict[str, Change]] = {
    "ends at import": write("client_of_project.py", _ENDS),
    "exits at import": write("client_of_project.py", "raise SystemExit(0)\n"),
    "ends": write("client_of_project.py", _LEAVES.format("__import__('os')._exit(0)")),
    "exits": write("client_of_project.py", _LEAVES.format("raise SystemExit(0)")),
    "ends at the end": write(
        "client_of_project.py", f"import atexit, os\natexit.register(os._exit, 0)\n{_BROKEN_CLIENT}"
    ),
    "closes the output": write("client_of_project.py", f"import os\nos.close(1)\n{_BROKEN_CLIENT}"),
    "gives nothing": write("client_of_project.py", _LEAVES.format("return")),
    "is nothing": write("client_of_project.py", "normalize = None\n"),
    "a second client fails": changes(
        write("second.py", _BROKEN_CLIENT),
        settings('\n[tool.harness.normalizers.second]\ntarget = "second:normalize"\n'),
        write("test_c.py", _SUITE + "test_d = conformance_suite('second')\n"),
    ),
    "missing expectations": settings("", 'cuts = "whole"', 'expectations = "missing.toml"'),
    "a missing baseline": settings("", 'cuts = "whole"', 'baseline = "missing.json"'),
    "an empty baseline": changes(
        write("base.json", ""), settings("", 'cuts = "whole"', 'baseline = "base.json"'), BROKEN
    ),
    "an unknown set": settings("", 'cuts = "whole"', 'set = "1999.01"'),
    "unknown cuts": settings("", '"whole"', '"none"'),
    "a rule without cells": settings(_RULE.format(0.1) + 'where = {area = "nothing"}\n'),
    "an unknown metric": settings(_RULE.format(0.1).replace("conformance", "conformity")),
    "a stale entry": write("expectations.toml", SKIP.replace('"skip"', '"fail"')),
    "an expired entry": changes(
        BROKEN, write("expectations.toml", f"{SKIP}expires = 2020-01-01\n")
    ),
    "UTF-16 settings": write("pyproject.toml", _TABLE.encode("utf-16")),
    "_cut settings": write("pyproject.toml", _TABLE[:60]),
}


# Projects that judge all they plan: each command must exit with 0.
COMPLETE: Final[dict[str, Change]] = {
    "a hidden file": write("scenarios/text/.z.yaml", _FAILS),
    "a hidden folder": write("scenarios/.hidden/z.yaml", _FAILS),
    "the project": lambda _: None,
    "a rule": settings(_RULE.format(1.0)),
    "a rule for an area": settings(_RULE.format(1.0) + 'where = {area = "text"}\n'),
    "another file": write("scenarios/text/z.yml", _PASSES),
    "a name with spaces": write("scenarios/a folder/a file.yaml", _PASSES),
    "a name in Greek": write("scenarios/κείμενο/λέξη.yaml", _PASSES),
    "CRLF": write("scenarios/text/z.yaml", _PASSES.replace("\n", "\r\n")),
    "other files": changes(
        write("scenarios/README.md", "# Notes\n"), write("scenarios/text/z.yaml~", "x")
    ),
    "a linked file": changes(
        write("elsewhere/z.yaml", _PASSES),
        lambda folder: (folder / "scenarios/text/z.yaml").symlink_to("../../elsewhere/z.yaml"),
    ),
    "a loop of folders": lambda folder: (folder / "scenarios/loop").symlink_to("."),
    "an empty folder": lambda folder: (folder / "scenarios/later").mkdir(),
    "every _cut": settings("", '"whole"', '"quick"'),
    "a client that prints": write("client_of_project.py", f"print('loading')\n{_CLIENT}"),
}


def write_project(folder: Path) -> None:
    """Write a project that conforms."""
    shutil.copytree(BUNDLED / "tools", folder / "scenarios/tools")
    for name in _FILES:
        write(f"scenarios/{name}", (BUNDLED / name).read_bytes())(folder)
    write("pyproject.toml", _TABLE)(folder)
    write("client_of_project.py", _CLIENT)(folder)
    write("test_c.py", _SUITE)(folder)
