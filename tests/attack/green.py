"""Let commands judge less than planned: none may exit with 0. Complete runs must exit with 0.

Each attempt makes a small project that conforms, breaks one thing in it, and runs one command. The
attempts after these run the same commands in the healthy project.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from harness.shipped import bundled_folder
from tests.attack.attack import Attack
from tests.cli.cli_samples import command

_SECONDS: Final = 300
_BUNDLED: Final = bundled_folder("scenarios")
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
_IMPORTS: Final = "def normalize(interaction, reads):\n    import no_such_package\n"
_SUITE: Final = "from harness import conformance_suite\ntest_c = conformance_suite('mine')\n"

Change = Callable[[Path], None]
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


def _write(name: str, text: str | bytes) -> Change:
    def change(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    return change


def _table(more: str, old: str = "", new: str = "") -> Change:
    return _write("pyproject.toml", _TABLE.replace(old, new) + more)


def _link(name: str, target: str) -> Change:
    def change(folder: Path) -> None:
        _write("elsewhere/fails.yaml", _FAILS)(folder)
        (folder / name).symlink_to(target)

    return change


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "scenarios/text/pipe.yaml")


def _cut(folder: Path) -> None:
    path = folder / "scenarios/text/plain.yaml"
    path.write_bytes(path.read_bytes()[:20])


def _all(*changes: Change) -> Change:
    def change(folder: Path) -> None:
        for each in changes:
            each(folder)

    return change


# A file below the selected folder that fails or cannot be used.
_FILE_FAULTS: Final[dict[str, Change]] = {
    "fails": _write("scenarios/text/z.yaml", _FAILS),
    "fails as .yml": _write("scenarios/text/z.yml", _FAILS),
    "fails as .YAML": _write("scenarios/text/z.YAML", _FAILS),
    "zero bytes": _write("scenarios/text/z.yaml", ""),
    "only spaces": _write("scenarios/text/z.yaml", " \n\n"),
    "a comment": _write("scenarios/text/z.yaml", "# expect: later\n"),
    "UTF-16": _write("scenarios/text/z.yaml", _FAILS.encode("utf-16")),
    "not UTF-8": _write("scenarios/text/z.yaml", _FAILS.encode() + b"\xff\xfe"),
    "misspelt keys": _write("scenarios/text/z.yaml", _FAILS.replace("expect", "expects")),
    "keys in upper case": _write("scenarios/text/z.yaml", _FAILS.upper()),
    "a JSON object": _write("scenarios/text/z.yaml", '{"title":"x","cassette":"c","expect":[]}'),
    "a list": _write("scenarios/text/z.yaml", "- expect: 1\n"),
    "cut": _cut,
    "a dangling link": _link("scenarios/text/z.yaml", "nowhere.yaml"),
    "a linked file": _link("scenarios/text/z.yaml", "../../elsewhere/fails.yaml"),
    "a linked folder": _link("scenarios/linked", "../elsewhere"),
    "a pipe": _pipe,
    "a device": _link("scenarios/text/z.yaml", "/dev/zero"),
}
_RULE: Final = '\n[[tool.harness.gate]]\nmetric = "conformance"\nmin = {}\n'
_SKIP: Final = '[[expectation]]\nid = "*"\nnormalizer = "*"\nexpect = "skip"\nreason = "later"\n'
_broken: Final = _write("client_of_project.py", _BROKEN_CLIENT)
# Settings with which a client that fails, or is not judged, could pass.
_SETTING_FAULTS: Final[dict[str, Change]] = {
    "a rule": _all(_broken, _table(_RULE.format(0.9))),
    "a rule for an area": _all(_broken, _table(_RULE.format(1.0) + 'where = {area = "text"}\n')),
    "a rule for a client": _all(
        _broken, _table(_RULE.format(0.0) + 'where = {normalizer = "other*"}\n')
    ),
    "a misspelt key": _all(_table("", "cuts", "cutz")),
    "a misspelt table": _all(_broken, _table("", "tool.harness]", "tool.harnes]")),
    "a misspelt path": _table("", '["scenarios"]', '["scenarois"]'),
    "all skipped": _write("expectations.toml", _SKIP),
    "a client without dialects": _table("", "[tool.pytest", 'dialects = ["cohere"]\n[tool.pytest'),
    "a misspelt entry": _write("expectations.toml", _SKIP.replace("skip", "skipp")),
    "an import error": _write("client_of_project.py", "import no_such_package\n"),
    "a late import error": _write("client_of_project.py", _IMPORTS),
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
        _write("client_of_project.py", _IMPORTS),
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
    "gate after a broken project": (_table("", "cuts", "cutz"), _both_runs("gate")),
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
        _table("", "[tool.pytest", 'dialects = ["cohere"]\n[tool.pytest'),
        (
            (*_RUN, "-o", "a"),
            ("change",),
            (*_RUN, "-o", "b"),
            ("compare", "a", "b", "--fail-on-broken"),
        ),
    ),
    "a client that hides all": (_write("client_of_project.py", _HIDES), (_RUN,)),
    "lint of a zero-byte file": (_FILE_FAULTS["zero bytes"], (("lint", "scenarios"),)),
    "audit of a zero-byte file": (_FILE_FAULTS["zero bytes"], (("audit", "scenarios"),)),
    "lint of a pipe": (_pipe, (("lint", "scenarios"),)),
    "shard by -k": (_SETTING_FAULTS["a rule"], (("pytest", "test_c.py", "-k", "dashscope"),)),
    "shard by --deselect": (
        _SETTING_FAULTS["a rule"],
        (("pytest", "test_c.py", "--deselect", "test_c.py::test_c[text/plain]"),),
    ),
    "a shard of the plugin": (_SETTING_FAULTS["a rule"], (("pytest", "scenarios/dashscope"),)),
    "a missing folder of the plugin": (
        _table("", '"scenarios"\n', '"scenarois"\n'),
        (("pytest", "test_c.py"),),
    ),
}
_SITUATIONS: Final = (
    *(
        _Situation(f"{fault}: {how}", change, (judge,))
        for fault, change in _FILE_FAULTS.items()
        for how, judge in _JUDGES.items()
        if how not in ("xdist", "run -j 2") or fault in ("fails", "zero bytes", "a linked folder")
    ),
    *(
        _Situation(f"{fault}: {how}", change, (judge,))
        for fault, change in _SETTING_FAULTS.items()
        for how, judge in _JUDGES.items()
        if how in ("run", "plugin", "suite", "xdist")
        if (fault, how) != ("a misspelt path", "plugin")  # pytest has its own list of folders
    ),
    *(_Situation(name, change, commands) for name, (change, commands) in _LATER.items()),
)
_HEALTHY: Final = (
    *(_Situation(f"healthy: {how}", lambda _: None, (judge,)) for how, judge in _JUDGES.items()),
    _Situation("healthy: gate", lambda _: None, (_RUN, ("gate",))),
    _Situation("healthy: --lf", lambda _: None, (_RUN, (*_RUN, "--lf"))),
    _Situation(
        "healthy: compare",
        lambda _: None,
        ((*_RUN, "-o", "a"), (*_RUN, "-o", "b"), ("compare", "a", "b", "--fail-on-broken")),
    ),
    _Situation("healthy: a rule", _table(_RULE.format(1.0)), (_RUN,)),
    _Situation("healthy: a rule in pytest", _table(_RULE.format(1.0)), (("pytest",),)),
    _Situation(
        "healthy: a linked folder",
        _all(
            _write("elsewhere/plain.yaml", (_BUNDLED / "text/plain.yaml").read_bytes()),
            lambda folder: (folder / "scenarios/linked").symlink_to("../elsewhere"),
        ),
        (_RUN,),
    ),
    _Situation(
        "healthy: skips one",
        _write("expectations.toml", _SKIP.replace('id = "*"', 'id = "text/*"')),
        (("pytest",),),
    ),
)


def _project(folder: Path) -> None:
    """Write a project that conforms."""
    shutil.copytree(_BUNDLED / "tools", folder / "scenarios/tools")
    for name in _FILES:
        _write(f"scenarios/{name}", (_BUNDLED / name).read_bytes())(folder)
    _write("pyproject.toml", _TABLE)(folder)
    _write("client_of_project.py", _CLIENT)(folder)
    _write("test_c.py", _SUITE)(folder)


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
        _project(folder)
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
