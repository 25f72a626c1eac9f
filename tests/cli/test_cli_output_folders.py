"""No command changes a file of the user in the folder that it writes to."""

import hashlib
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from harness.cli import cli
from harness.files.output import MARKER
from harness.shipped import bundled_folder
from tests.cli.conftest import Harness

_OPTIONS = {"-o", "--output", "--all", "--save", "--folder", "--scenarios"}
_SCENARIO = str(bundled_folder("scenarios") / "dashscope" / "split-chunks.yaml")
RUN = ("run", _SCENARIO, "-n", "naive")
# Each command that writes to a folder, with arguments that let it write to the current folder.
COMMANDS = {
    "run": (*RUN, "-o", "."),
    "report": ("report", "other/run.jsonl", "-o", ".", *("--format", "html", "--format", "csv")),
    "measure": ("measure", "other/logs.jsonl", "-o", "."),
    "export text-fixtures": ("export", "text-fixtures", "-o", "."),
    "fuzz": ("fuzz", _SCENARIO, *("-n", "naive", "--examples", "5", "-j", "1", "--save", ".")),
    "repro": ("repro", "--all", ".", "--run", "other/run.jsonl"),
    "import": ("import", "other/stream.yaml", "-o", "."),
    "peers install": ("peers", "install", "litellm", "--folder", "."),
    "peers run": ("peers", "run", "litellm", "-o", "."),
}
# These create only files that do not exist, write one file that the user names, or no file.
_OTHERS = {
    "cost",
    "lint",
    "new",
    "peers exec",
    "peers list",
    "peers lock",
    "peers matrix",
    "record",
}
USER_FILES = (
    *("index.html", "results.csv", "turns.csv", "run.jsonl", "run.jsonl.partial", "measured.json"),
    *("turns-000000.parquet", "turns-january.parquet", "samples/mine.txt", "samples/01-1.yaml"),
    *("litellm/work.py", "litellm.old/work.py", "runs/mine.txt", "turns.partial/mine.txt"),
    *("notes.md", "cassettes/fuzz/naive/mine.yaml", "openai/gpt-4o-mini/stream.yaml"),
)


def digests(folder: Path, names: tuple[str, ...]) -> dict[str, str]:
    paths = (folder / name for name in names)
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def _commands_with_output(group: click.Group, prefix: str = "") -> Iterator[str]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from _commands_with_output(command, f"{prefix}{name} ")
        elif any(_OPTIONS.intersection(it.opts) for it in command.params):
            yield f"{prefix}{name}"


def write_sources(folder: Path) -> None:
    """Write a run, a log and a recording outside the folder that the command writes to."""
    folder.mkdir()
    chunk = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    choice = {"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}
    body = f"data: {json.dumps(chunk | {'choices': [choice]})}\n\ndata: [DONE]\n\n"
    line = json.dumps({"model": "m", "body": body, "date": "2026-11-01"})
    (folder / "logs.jsonl").write_text(f"{line}\n")
    cassette = bundled_folder("cassettes") / "openai" / "gpt-4o-mini" / "plain-text.yaml"
    shutil.copy(cassette, folder / "stream.yaml")


def test_every_command_with_an_output_folder_is_shown_here() -> None:
    assert set(_commands_with_output(cli)) == COMMANDS.keys() | _OTHERS


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_never_changes_a_file_of_the_user(
    name: str, harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_sources(tmp_path / "other")
    harness(*RUN, "-o", "other")
    for file in USER_FILES:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text("mine")
    before = digests(tmp_path, USER_FILES)
    for _ in range(2):
        harness(*COMMANDS[name])
    assert digests(tmp_path, USER_FILES) == before


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"peers install", "repro"}))
def test_a_command_replaces_its_own_files_and_no_others(
    name: str, harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_sources(tmp_path / "other")
    harness(*RUN, "-o", "other")
    first = harness(*COMMANDS[name])
    written = [path for path in tmp_path.rglob("*") if path.name != MARKER]
    mine = tuple(
        str(path.relative_to(tmp_path).with_name("mine.txt")) for path in written if path.is_file()
    )
    for file in mine:
        (tmp_path / file).write_text("mine")
    before = digests(tmp_path, mine)
    assert (tmp_path / MARKER).exists() or (tmp_path / "litellm" / MARKER).exists()
    assert harness(*COMMANDS[name]).code == first.code
    assert digests(tmp_path, mine) == before
