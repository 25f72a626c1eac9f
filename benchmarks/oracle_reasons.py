"""Why the oracle does not judge a field of a turn."""

from typing import Final

from harness.dialects.kit.oracle.reading import OracleReading
from harness.dialects.table import read_request
from harness.judging.expectation import Expectation, Field
from harness.judging.expected import usable_arguments
from harness.wire.interaction import Interaction

FIELDS: Final[tuple[Field, ...]] = ("calls", "text", "reasoning", "finish")


def reasons_not_judged(
    oracle: OracleReading, expected: Expectation
) -> dict[Field, tuple[str, ...]]:
    """Return the reason for each of `FIELDS` that is not judged.

    The end of a turn that must fail counts as its finish. A reason is the id of a quirk, after
    `end: ` if it makes only the end ambiguous, or a phrase.
    """
    unknown = {str(part): reason for part, reason in oracle.unknown}
    end = f"end: {unknown['end']}" if "end" in unknown else ""
    calls = unknown.get("calls") or end
    if oracle.calls is not None and not all(
        usable_arguments(call, oracle).certain for call in oracle.calls
    ):
        calls = calls or "arguments that may be complete or not"
    word = f"finish value {oracle.finish!r} of another API" if oracle.finish else "no finish value"
    reasons: dict[Field, str] = {
        "calls": calls,
        "text": unknown.get("text", ""),
        "reasoning": unknown.get("reasoning", ""),
        "finish": calls or end or word,
    }
    judged = set(expected.judged)
    if expected.failure is not None and "failure" in judged:
        judged.add("finish")
    return {field: (reasons[field],) for field in FIELDS if field not in judged}


def tool_names(interaction: Interaction) -> frozenset[str]:
    """Return the names of the tools that the model may call, as far as they are known."""
    request = read_request(interaction.dialect, interaction.request)
    described = (str(tool.get("name") or "") for tool in interaction.tools)
    return frozenset(tool.name for tool in request.tools).union(described) - {""}
