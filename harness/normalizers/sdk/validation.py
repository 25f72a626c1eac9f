"""Check arguments against the tool's parameters, as the agent loops of some libraries do.

Such a loop sends the error to the model instead of executing the call. So a call that the provider
cut off, which often lacks a required argument, is not executed.
"""

from typing import Final

from harness.dialects.table import read_request
from harness.turns.arguments import parse
from harness.turns.schema_check import Checker, misfit
from harness.wire.interaction import Interaction

_CHECKER: Final = Checker()


def validation_error(interaction: Interaction, name: str, arguments: str) -> str:
    """Return why arguments do not fit the tool in the request; "" if they fit.

    Args:
        interaction: contains the request with the tools.
        name: the name of the tool.
        arguments: JSON text; "" for none.
    """
    request = read_request(interaction.dialect, interaction.request)
    tools = {tool.name: tool for tool in request.tools} if request.tools_known else None
    parsed = parse(arguments or "{}")
    return parsed.error or misfit(name, parsed.value or {}, tools, _CHECKER)
