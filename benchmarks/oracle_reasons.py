"""The reasons for which the oracle does not judge a field, as tuples, and the names of tools."""

from harness.dialects.kit.oracle.reading import OracleReading
from harness.dialects.table import read_request
from harness.judging import expected
from harness.judging.expectation import Expectation, Field
from harness.wire.interaction import Interaction


def reasons_not_judged(
    oracle: OracleReading, expectation: Expectation
) -> dict[Field, tuple[str, ...]]:
    """Return the reason for each field that is not judged; see `harness.judging.expected`."""
    reasons = expected.reasons_not_judged(expectation, oracle)
    return {field: (why,) for field, why in reasons.items()}


def tool_names(interaction: Interaction) -> frozenset[str]:
    """Return the names of the tools that the model may call, as far as they are known."""
    request = read_request(interaction.dialect, interaction.request)
    described = (str(tool.get("name") or "") for tool in interaction.tools)
    return frozenset(tool.name for tool in request.tools).union(described) - {""}
