"""Decide who made the arguments of a call unusable: the model, the provider, or one of both.

A model writes tokens, and an engine forwards their text. If the turn ended well and a call has no
usable arguments, the bytes rarely show which of the two lost or damaged them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from harness.judging.expected import MAY_CUT_SHORT, usable_arguments
from harness.results.outcome import Blame
from harness.turns.deltas import CUT_SHORT
from harness.turns.json_prefix import PrefixState, prefix_state
from harness.turns.oracle_reading import CallReading, Deviation, OracleReading
from harness.turns.turn import Tool

UNDECIDED: Final = "model or provider"


def is_truncated(reading: OracleReading) -> bool:
    """Return whether the model was stopped before its output was complete."""
    return reading.meaning in CUT_SHORT or reading.finish.casefold() in MAY_CUT_SHORT


def blame_of_arguments(
    call: CallReading, reading: OracleReading, tools: Mapping[str, Tool] | None
) -> Blame:
    """Return the party that made the arguments of `call` unusable; "" if they are an object.

    Args:
        call: a call of the reading.
        reading: the oracle's reading of a turn that ended well.
        tools: the tools of the request by name; None if they are not known.
    """
    if call.kind != "function" or call.rejected:
        return ""
    arguments = usable_arguments(call, reading)
    is_lost = _is_lost(call, reading, tools)
    if not is_lost and (arguments.value is not None or not arguments.certain):
        return ""
    if reading.cut_upstream:
        return "model"
    if is_lost:
        return "provider"
    return UNDECIDED if call.arguments.lstrip().startswith("{") else "provider"


def _is_lost(call: CallReading, reading: OracleReading, tools: Mapping[str, Tool] | None) -> bool:
    """Return whether no character of the arguments came, although the tool requires parameters."""
    tool = (tools or {}).get(call.name)
    if tool is None or not tool.parameters.get("required"):
        return False
    # Anthropic's start of a block has `{}` in place of the input that follows.
    is_placeholder = call.from_object and "ANT-EMPTY-INPUT" in reading.quirks
    text = call.arguments.strip()
    return text == "{}" if is_placeholder else not (text or call.from_object)


def argument_deviations(
    reading: OracleReading, tools: Sequence[Tool] | None
) -> Iterator[Deviation]:
    """Yield a deviation for each call of a complete turn that lost a part of its arguments.

    Args:
        reading: the oracle's reading.
        tools: the tools of the request; None if they are not known.
    """
    if reading.error is not None or not reading.ended or is_truncated(reading):
        return
    known = None if tools is None else {tool.name: tool for tool in tools}
    for call in reading.calls or ():
        text = call.arguments.strip()
        if not call.name or not blame_of_arguments(call, reading, known):
            continue
        if prefix_state(text) is PrefixState.PREFIX and text:
            yield Deviation("ARGS-TRUNCATED-FINISH-OK", call.offset, ambiguous=False)
        elif _is_lost(call, reading, known) or (text.endswith("}") and not text.startswith("{")):
            yield Deviation("ARGS-START-LOST", call.offset, ambiguous=False)
