"""Whose fault it is, as far as the bytes say, that a turn is no success.

It is read off the strict reading and the tools of the request, never off a normalizer.
"""

from collections.abc import Sequence
from typing import Any

from harness.judging.results import Blame
from harness.judging.strict_reading.expect import MAY_CUT_SHORT, NO_ANSWER, usable
from harness.judging.strict_reading.reading import StrictReading
from harness.judging.turn_success import misses
from harness.turns.deltas import CUT_SHORT
from harness.turns.schema_check import Checker, misfit
from harness.turns.tools import Tool
from harness.wire.interaction import Due


def blame_of_bytes(
    reading: StrictReading,
    request_tools: Sequence[Tool] | None,
    checker: Checker | None = None,
    due: Due = "",
) -> Blame:
    """Return who spoilt the turn; "" where the bytes hold a usable one.

    Args:
        reading: of the response.
        request_tools: those that the request declares; None where it was not kept, and then
            neither names nor schemas are checked.
        checker: keeps compiled schemas from one turn to the next.
        due: what the question needs, as `Interaction.due`.
    """
    if reading.model_failed:
        return "model"
    if _provider_broke_it(reading):
        return "provider"
    if reading.text_markup:  # what should have been calls or an answer is neither for certain
        return "model"
    if reading.calls is None:  # by no breach of the contract
        return "harness"
    # Out of its budget, or stopped: the stream itself keeps its contract.
    cut_short = reading.meaning in CUT_SHORT or reading.finish.casefold() in MAY_CUT_SHORT
    if reading.refusal or cut_short:
        return "model"
    values = [(call.name, usable(call, reading).value) for call in reading.calls or ()]
    fit = calls_fit(values, request_tools, checker or Checker()) and not misses(due, values)
    return "" if fit else "model"


def calls_fit(
    calls: Sequence[tuple[str, dict[str, Any] | None]],
    request_tools: Sequence[Tool] | None,
    checker: Checker,
) -> bool:
    """Return whether all calls name a tool of the request and have arguments that fit it.

    Args:
        calls: name and arguments of each; None where the arguments are no object.
        request_tools: None where the request was not kept; then any name and object will do.
        checker: keeps compiled schemas.
    """
    tools = None if request_tools is None else {tool.name: tool for tool in request_tools}
    return all(
        value is not None and not misfit(name, value, tools, checker) for name, value in calls
    )


def _provider_broke_it(reading: StrictReading) -> bool:
    return (
        reading.error is not None
        or not reading.ended
        or any(deviation.ambiguous for deviation in reading.deviations)
        or not NO_ANSWER.isdisjoint(reading.quirks)
        or any(not call.name for call in reading.calls or ())
    )
