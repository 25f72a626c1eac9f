"""Find where one stream violates the contract of its API, whoever sent it: a server or a gateway.

The oracle notes what deviates. What the request or the status explains is not a deviation. If a
gateway passes on a deviation of its upstream, the deviation is inherited, and any other is its own.
"""

from typing import Final

from harness.dialects.table import offered_tools, oracle_reading, read_request
from harness.judging.unusable import argument_deviations
from harness.results.finding import Level
from harness.results.server_duties import ServerDuty, load_server_duties
from harness.turns.oracle_reading import Deviation
from harness.wire.interaction import Interaction

_NO_STREAM: Final = "JSON-FOR-STREAM"
# What one document does not have, whatever was requested.
_OF_STREAMS: Final = frozenset(("NDJSON-NO-FINAL-NEWLINE", "SSE-DONE-MISSING"))
_FIRST_ERROR_STATUS: Final = 400
# The one deviation of a response with an error status, whose body is not a stream.
_OF_ERRORS: Final = "HTTP-HTML-BODY"


def contract_deviations(
    interaction: Interaction,
    asked_for_stream: bool | None,  # noqa: FBT001 - what the request says
) -> list[Deviation]:
    """Return the deviations of a stream without those that its request or status explains.

    Args:
        interaction: the stream.
        asked_for_stream: whether the request asked for a stream; None if that is not known.
    """
    reading = oracle_reading(interaction)
    if interaction.status >= _FIRST_ERROR_STATUS:
        return [each for each in reading.deviations if each.quirk == _OF_ERRORS]
    allowed = set(_OF_STREAMS) if _NO_STREAM in reading.quirks else set()
    if asked_for_stream is False:
        allowed.add(_NO_STREAM)
    known = read_request(interaction.dialect, interaction.request).tools_known
    tools = offered_tools(interaction) if known or interaction.tools else None
    found = [*reading.deviations, *argument_deviations(reading, tools)]
    return [each for each in found if each.quirk not in allowed]


def own_deviations(
    answer: Interaction, upstream: Interaction, level: Level
) -> list[tuple[Deviation, ServerDuty]]:
    """Return each deviation of `level` in the answer of a gateway that its upstream does not have.

    It is [] if the stream of the upstream itself violates a MUST: what becomes of that is not the
    gateway's own.

    Args:
        answer: the answer of the gateway to a request for a stream.
        upstream: the response that the gateway got.
        level: the level of the server's duty.
    """
    duties, came = load_server_duties(), contract_deviations(upstream, asked_for_stream=None)
    if any(
        duties[each.quirk].level_in(upstream.dialect, ambiguous=each.ambiguous) == "MUST"
        for each in came
    ):
        return []
    inherited = {each.quirk for each in oracle_reading(upstream).deviations}
    found = {
        each.quirk: (each, duties[each.quirk])
        for each in reversed(contract_deviations(answer, asked_for_stream=True))
        if each.quirk not in inherited
    }
    return [
        (each, duty)
        for each, duty in found.values()
        if duty.level_in(answer.dialect, ambiguous=each.ambiguous) == level
    ]
