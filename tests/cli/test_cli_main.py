"""The door: commands load when they are called, and each way out has its code."""

import errno
import importlib
import subprocess
import sys
from pathlib import Path

import click
import pytest

from harness import __version__
from harness.cli import _COMMANDS, cli
from harness.cli import schema as schema_module
from harness.errors import UnreadableError
from tests.cli.cli_samples import command
from tests.cli.cli_samples import harness as harness_process
from tests.cli.conftest import Harness


def test_help_loads_no_command() -> None:
    code = (
        "import sys, harness.cli;"
        "harness.cli.cli(['--help'], standalone_mode=False);"
        "print([n for n in sys.modules if n.startswith('harness.') or n in ('duckdb', 'jinja2')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.splitlines()[-1]
    names = ("cli", "cli.interrupts", "errors", "wording")
    light = [f"harness.{name}" for name in names]
    assert sorted(eval(loaded)) == light  # noqa: S307 - a list that this test printed


@pytest.mark.parametrize("name", _COMMANDS)
def test_each_command_has_its_name_a_module_and_help(name: str) -> None:
    found = cli.get_command(click.Context(cli), name)
    assert found is not None
    assert found.name == name
    assert found.callback is not None
    assert found.callback.__module__.removesuffix("_") == f"harness.cli.{name}"
    assert found.help


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_names_every_command(harness: Harness, option: str) -> None:
    left = harness(option)
    assert left.code == 0
    assert all(f"\n  {name} " in left.out for name in _COMMANDS)


@pytest.mark.parametrize("name", _COMMANDS)
def test_help_of_a_command(harness: Harness, name: str) -> None:
    left = harness(name, "--help")
    assert (left.code, left.err) == (0, "")
    assert left.out.startswith(f"Usage: harness {name} ")


def test_version(harness: Harness) -> None:
    assert harness("--version").out == f"harness, version {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("dance",),
        ("list",),
        ("list", "unicorns"),
        ("run", "--cuts", "none"),
        ("run", "-j", "0"),
        ("run", "--unknown"),
        ("schema", "unicorn"),
        ("run", "no/such/path"),
        ("run", "-n", "no-such-normalizer"),
        ("run", "-n", "no_such_module:normalize"),
    ],
)
def test_usage_error_exits_with_2_and_prints_the_reason(
    harness: Harness, arguments: tuple[str, ...]
) -> None:
    left = harness(*arguments)
    assert (left.code, left.out) == (2, "")
    assert left.err
    assert "Traceback" not in left.err


def _raising(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    def fail() -> None:
        raise error

    monkeypatch.setattr(schema_module.schema_command, "callback", lambda **_options: fail())


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (KeyError("bug"), 3, "internal error of harness"),
        (UnreadableError("damaged", where="a.yaml", hint="Mend it."), 2, "error: a.yaml: damaged"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (click.Abort(), 130, "interrupted"),
        (click.UsageError("no"), 2, "no"),
        (SystemExit(7), 7, ""),
    ],
)
def test_each_error_has_its_exit_code(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int, said: str
) -> None:
    _raising(monkeypatch, error)
    left = harness("schema", "run")
    assert left.code == code
    assert said in left.err
    assert ("Traceback" in left.err) == (code == 3)


@pytest.mark.parametrize("arguments", [("list", "rules"), ("schema", "--help"), ("--help",)])
def test_closed_pipe_prints_no_traceback(arguments: tuple[str, ...]) -> None:
    with subprocess.Popen(
        command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_error_to_a_closed_pipe_does_not_exit_with_1() -> None:
    with subprocess.Popen(
        command("schema", "unicorn"), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stderr.close()
        assert process.stdout.read() == b""
    assert process.returncode == 141


def test_command_runs_in_an_empty_folder(tmp_path: Path) -> None:
    left = harness_process("list", "agents", "--format", "json", folder=tmp_path)
    assert (left.code, left.err) == (0, "")
    assert "gateway" in {agent["name"] for agent in left.json}
    assert list(tmp_path.iterdir()) == []


def test_the_commands_module_is_the_one_that_was_tested() -> None:
    assert importlib.import_module("harness.cli.schema") is schema_module


def test_unknown_command_is_rejected_with_the_nearest(harness: Harness) -> None:
    left = harness("repaly", "a/b/c")
    assert left.code == 2
    assert "No such command 'repaly'. Did you mean 'replay'?" in left.err


@pytest.mark.parametrize(("code", "left_with"), [(errno.ENOSPC, 2), (errno.EIO, 3)])
def test_full_disk_exits_with_2(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, code: int, left_with: int
) -> None:
    def fail(_name: str) -> None:
        raise OSError(code, "no more")

    monkeypatch.setattr(schema_module.schema_command, "callback", fail)
    monkeypatch.setattr(
        schema_module.schema_command, "params", [click.Argument(["_name"])], raising=True
    )
    left = harness("schema", "run")
    assert left.code == left_with
    assert "no more" in left.err


def test_help_shows_the_complete_summary_of_each_command(harness: Harness) -> None:
    commands = harness().err.partition("Commands:")[2]
    assert "..." not in commands


def test_a_removed_working_folder_is_an_error(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    left = harness("list", "scenarios")
    assert (left.code, left.err.splitlines()[0]) == (2, "error: the working folder was removed")
