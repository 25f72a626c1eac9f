"""Whose fault it is, as far as the bytes say, that a turn is no success.

It is read off the strict reading and the tools of the request, never off a normalizer.
"""

from collections.abc import Sequence

from harness.judging.results import Blame
from harness.judging.schema_check import Checker
from harness.judging.strict_reading.expect import NO_ANSWER, usable
from harness.judging.strict_reading.reading import StrictCall, StrictReading
from harness.turns.tools import Tool

# The model ran out of its budget or was stopped; the stream itself keeps its contract.
_MODEL_FINISHES = frozenset({"length", "content_filter"})


def blame_of_bytes(
    reading: StrictReading, request_tools: Sequence[Tool] | None, checker: Checker | None = None
) -> Blame:
    """Return who spoilt the turn; "" where the bytes hold a usable one.

    Args:
        reading: of the response.
        request_tools: those that the request declares; None where it was not kept, and then
            neither names nor schemas are checked.
        checker: keeps compiled schemas from one turn to the next.
    """
    if _provider_broke_it(reading):
        return "provider"
    if reading.refusal or reading.finish in _MODEL_FINISHES:
        return "model"
    tools = None if request_tools is None else {tool.name: tool for tool in request_tools}
    checker = checker or Checker()
    fits = all(_fits(call, reading, tools, checker) for call in reading.calls or ())
    return "" if fits else "model"


def _provider_broke_it(reading: StrictReading) -> bool:
    return (
        reading.error is not None
        or not reading.ended
        or reading.calls is None
        or any(deviation.ambiguous for deviation in reading.deviations)
        or not NO_ANSWER.isdisjoint(reading.quirks)
        or any(not call.name for call in reading.calls)
    )


def _fits(
    call: StrictCall, reading: StrictReading, tools: dict[str, Tool] | None, checker: Checker
) -> bool:
    value = usable(call, reading).value
    if value is None:
        return False
    if tools is None:
        return True
    tool = tools.get(call.name)
    return tool is not None and not checker.problem(tool, value)
