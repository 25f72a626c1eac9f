"""`harness prompt`: print the system text, with the description of tools, that a model gets."""

from pathlib import Path

import click
import msgspec

from harness.conversation.prompts import find_prompt, system_text
from harness.files.load import load_yaml_file
from harness.turns.turn import Tool
from harness.wire import prompt_tools


@click.command("prompt")
@click.argument("prompt_id", metavar="ID")
@click.option(
    "--tools",
    "path",
    type=click.Path(path_type=Path),
    help="YAML or JSON file with a list of {name, description, parameters}.",
)
@click.option(
    "--system", "base", default="", help="System text of the application, to put in front."
)
def prompt_command(prompt_id: str, path: Path | None, base: str) -> None:
    """Print the system text of the prompt ID.

    `harness list prompts` lists the ids.
    """
    prompt = find_prompt(prompt_id)
    click.echo(system_text(prompt, _tools(path) if path else (), base))


def _tools(path: Path) -> tuple[Tool, ...]:
    listed = prompt_tools.read_prompt_tools(load_yaml_file(path), str(path))
    return msgspec.convert(listed, tuple[Tool, ...])
