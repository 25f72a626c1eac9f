"""Load the files of `scenarios/tools/`: each describes a tool that scenarios name."""

from pathlib import Path
from typing import Any

from harness.errors import UnreadableError
from harness.files.load import load_yaml_file
from harness.files.typed import File, Text, convert, require_json
from harness.turns.turn import Tool


class ToolFile(File, frozen=True):
    """The content of a file of `scenarios/tools/`: a tool that requests declare."""

    name: Text
    parameters: dict[str, Any]
    description: str = ""


def load_tool(root: Path, name: str, where: str) -> Tool:
    """Return the tool in the file `tools/NAME.yaml`.

    Args:
        root: the scenarios folder.
        name: the name of the file, without its suffix.
        where: the scenario file that names it.

    Raises:
        UnreadableError: the file does not exist or is not usable.
    """
    path = root / "tools" / f"{name}.yaml"
    if not path.is_file():
        known = ", ".join(sorted(file.stem for file in path.parent.glob("*.yaml")))
        raise UnreadableError(
            f"tools: there is no tool file {name!r}",
            where=where,
            hint=f"tool files in {path.parent}: {known or 'none'}",
        )
    file = convert(load_yaml_file(path), ToolFile, str(path))
    require_json(file.parameters, "parameters", str(path))
    return Tool(file.name, file.description, file.parameters)
