"""Let commands judge less than planned: none may exit with 0. Complete runs must exit with 0.

Each attempt makes a small project that conforms, breaks one thing in it, and runs one command. The
attempts after these run the same commands in the healthy project.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from tests.attack.attack import Attack
from tests.attack.green_projects import (
    BROKEN,
    BUNDLED,
    COMPLETE,
    FILE_FAULTS,
    FURTHER_FAULTS,
    IMPORTS,
    OVERLOOKED,
    SETTING_FAULTS,
    SKIP,
    Change,
    changes,
    pipe,
    settings,
    write,
    write_project,
)
from tests.cli.cli_samples import command

_SECONDS: Final = 300
_RUN: Final = ("run", "--no-report")
# Each judges the project in another way.
_JUDGES: Final[dict[str, tuple[str, ...]]] = {
    "run": _RUN,
    "run PATH": (*_RUN, "scenarios"),
    "run --select": (*_RUN, "--select", "area:*"),
    "run -j 2": (*_RUN, "-j", "2"),
    "plugin": ("pytest", "scenarios"),
    "suite": ("pytest", "test_c.py"),
    "both": ("pytest",),
    "xdist": ("pytest", "-n", "2", "test_c.py", "scenarios"),
}


class _Situation(NamedTuple):
    name: str
    change: Change
    commands: tuple[tuple[str, ...], ...]


def _both_runs(*last: str) -> tuple[tuple[str, ...], ...]:
    return (_RUN, ("change",), last)


_HIDES: Final = (
    "from harness import Normalizer\n"
    "normalize = Normalizer('n', lambda i, r: iter(()), frozenset({'openai-chat'}), "
    "hides=frozenset({'ids','text','reasoning','finish','finish_raw','usage'}))\n"
)
_LATER: Final[dict[str, tuple[Change, tuple[tuple[str, ...], ...]]]] = {
    "accept-new of an import error": (
        write("client_of_project.py", IMPORTS),
        ((*_RUN, "--accept-new"),),
    ),
    "two --select": (lambda _: None, ((*_RUN, "--select", "area:t*", "--select", "id:*"),)),
    "gate after a wrong option": (lambda _: None, (_RUN, (*_RUN, "--bogus"), ("gate",))),
    "gate after an unknown client": (lambda _: None, (_RUN, (*_RUN, "-n", "missing"), ("gate",))),
    "gate after a wrong path": (lambda _: None, (_RUN, (*_RUN, "missing"), ("gate",))),
    "gate after a wrong filter": (
        lambda _: None,
        (_RUN, (*_RUN, "--select", "id:none"), ("gate",)),
    ),
    "gate after a broken project": (settings("", "cuts", "cutz"), _both_runs("gate")),
    "compare after a deletion": (
        lambda folder: (folder / "scenarios/text/plain.yaml").unlink(),
        (
            (*_RUN, "-o", "a"),
            ("change",),
            (*_RUN, "-o", "b"),
            ("compare", "a", "b", "--fail-on-broken"),
        ),
    ),
    "compare with an unsupported cell": (
        settings("", "[tool.pytest", 'dialects = ["cohere"]\n[tool.pytest'),
        (
            (*_RUN, "-o", "a"),
            ("change",),
            (*_RUN, "-o", "b"),
            ("compare", "a", "b", "--fail-on-broken"),
        ),
    ),
    "a client that hides all": (write("client_of_project.py", _HIDES), (_RUN,)),
    "lint of a zero-byte file": (FILE_FAULTS["zero bytes"], (("lint", "scenarios"),)),
    "audit of a zero-byte file": (FILE_FAULTS["zero bytes"], (("audit", "scenarios"),)),
    "lint of a pipe": (pipe, (("lint", "scenarios"),)),
    "shard by -k": (SETTING_FAULTS["a rule"], (("pytest", "test_c.py", "-k", "dashscope"),)),
    "shard by --deselect": (
        SETTING_FAULTS["a rule"],
        (("pytest", "test_c.py", "--deselect", "test_c.py::test_c[text/plain]"),),
    ),
    "a shard of the plugin": (SETTING_FAULTS["a rule"], (("pytest", "scenarios/dashscope"),)),
    "a missing folder of the plugin": (
        settings("", '"scenarios"\n', '"scenarois"\n'),
        (("pytest", "test_c.py"),),
    ),
}


def _edit_run(edit: Callable[[list[bytes]], list[bytes]]) -> Change:
    def change(folder: Path) -> None:
        for path in folder.glob("**/run.jsonl"):
            path.write_bytes(b"".join(edit(path.read_bytes().splitlines(keepends=True))))

    return change


_EDITED: Final[dict[str, Change]] = {
    "cut": _edit_run(lambda lines: lines[:-1]),
    "cut in a line": _edit_run(lambda lines: [*lines[:-1], lines[-1][:10]]),
    "empty": _edit_run(lambda _: []),
    "without its results": _edit_run(lambda lines: [it for it in lines if b'"result"' not in it]),
    "without its failures": _edit_run(
        lambda lines: [it for it in lines if b'"result"' not in it or b'"outcome":"pass"' in it]
    ),
    "without its start": _edit_run(lambda lines: lines[1:]),
    "twice": _edit_run(lambda lines: lines + lines),
}
_MORE: Final = (
    *(
        _Situation(f"gate of a run {how}", change, ((*_RUN,), ("change",), ("gate",)))
        for how, change in _EDITED.items()
    ),
    *(
        _Situation(
            f"compare with a run {how}",
            change,
            (
                (*_RUN, "-o", "b"),
                ("change",),
                (*_RUN, "-o", "a"),
                ("compare", "a", "b", "--fail-on-broken"),
            ),
        )
        for how, change in _EDITED.items()
        if how not in ("twice", "without its failures")  # the project has none
    ),
    *(
        _Situation(f"{command} of {fault}", FILE_FAULTS[fault], ((command, "scenarios"),))
        for command in ("lint", "audit", "run")
        for fault in ("UTF-16", "a list", "a dangling link", "a device")
    ),
    *(
        _Situation(f"{command} of an empty folder", write("empty/x.txt", ""), ((command, "empty"),))
        for command in ("run", "lint", "audit", "fuzz", "report", "gate", "drift")
    ),
    *(
        _Situation(f"pytest {' '.join(options)}", BROKEN, (("pytest", *options),))
        for options in (
            ("-x",),
            ("--maxfail=1",),
            ("-k", "plain"),
            ("--ignore=scenarios/text",),
            ("-p", "no:xdist"),
        )
    ),
)
_SITUATIONS: Final = (
    *(
        _Situation(f"{fault}: {how}", change, (judge,))
        for fault, change in FILE_FAULTS.items()
        for how, judge in _JUDGES.items()
        if how not in ("xdist", "run -j 2") or fault in ("fails", "zero bytes", "a linked folder")
    ),
    *(
        _Situation(f"{fault}: {how}", change, (judge,))
        for fault, change in SETTING_FAULTS.items()
        for how, judge in _JUDGES.items()
        if how in ("run", "plugin", "suite", "xdist")
        if (fault, how) != ("a misspelt path", "plugin")  # pytest has its own list of folders
    ),
    *(_Situation(name, change, commands) for name, (change, commands) in _LATER.items()),
    *(
        _Situation(f"{fault}: {how}", change, (_JUDGES[how],))
        for faults, ways in (
            (OVERLOOKED, ("run", "run PATH", "plugin")),
            (FURTHER_FAULTS, ("run", "suite", "both")),
        )
        for fault, change in faults.items()
        for how in ways
    ),
    *_MORE,
)
_HEALTHY: Final = (
    *(
        _Situation(f"healthy, {name}: {how}", change, (judge,))
        for name, change in COMPLETE.items()
        for how, judge in _JUDGES.items()
    ),
    _Situation("healthy: gate", lambda _: None, (_RUN, ("gate",))),
    _Situation("healthy: --lf", lambda _: None, (_RUN, (*_RUN, "--lf"))),
    _Situation(
        "healthy: compare",
        lambda _: None,
        ((*_RUN, "-o", "a"), (*_RUN, "-o", "b"), ("compare", "a", "b", "--fail-on-broken")),
    ),
    _Situation(
        "healthy: a linked folder",
        changes(
            write("elsewhere/plain.yaml", (BUNDLED / "text/plain.yaml").read_bytes()),
            lambda folder: (folder / "scenarios/linked").symlink_to("../elsewhere"),
        ),
        (_RUN,),
    ),
    _Situation(
        "healthy: skips one",
        write("expectations.toml", SKIP.replace('id = "*"', 'id = "text/*"')),
        (("pytest",),),
    ),
)


def _exit_code(folder: Path, arguments: tuple[str, ...]) -> int:
    if arguments[0] == "pytest":
        options = ("-q", "-p", "no:cacheprovider", *arguments[1:])
        argv = [sys.executable, "-m", "pytest", *options]
    else:
        argv = command(*arguments)
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    environment.pop("PYTEST_ADDOPTS", None)
    return subprocess.run(
        argv, cwd=folder, env=environment, capture_output=True, timeout=_SECONDS, check=False
    ).returncode


def attempt(number: int) -> list[str]:
    """Make one situation; return a line if the last command exits with the wrong code."""
    situation = (*_SITUATIONS, *_HEALTHY)[number]
    is_healthy = number >= len(_SITUATIONS)
    with tempfile.TemporaryDirectory(prefix="green-") as place:
        folder = Path(place)
        write_project(folder)
        if ("change",) not in situation.commands:
            situation.change(folder)
        try:
            for arguments in situation.commands:
                if arguments == ("change",):
                    situation.change(folder)
                else:
                    code = _exit_code(folder, arguments)
        except subprocess.TimeoutExpired:
            return [f"{situation.name}: did not end in {_SECONDS} s"]
    if is_healthy:
        return [f"{situation.name}: exit code {code}"] if code else []
    return [] if code in (1, 2, 4, 5) else [f"{situation.name}: exit code {code}"]


ATTACK = Attack(attempt, full=len(_SITUATIONS) + len(_HEALTHY), part=6)
