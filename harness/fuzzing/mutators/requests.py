"""The same response to another request: what was offered, told in another place."""

from typing import Final

from hypothesis.strategies import DrawFn
from msgspec.structs import asdict, replace

from harness.fuzzing.mutators.mutator import preserving
from harness.normalizers.respond import offered_tools
from harness.wire.interaction import Interaction


def _taught(_draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
    tools = tuple(asdict(tool) for tool in offered_tools(interaction))
    if interaction.tools or not tools:
        return None
    names = ", ".join(tool["name"] for tool in tools)
    return replace(interaction, tools=tools), f"{names}, beside the fields of the request"


MUTATORS: Final = (preserving("tools-taught", "tools are offered in words too", _taught),)
