"""Read the replies that the agent got by the oracle, independently of the agent."""

from typing import Final

import msgspec

from harness.dialects.table import oracle_reading
from harness.errors import UsageError
from harness.judging.conversations.session import SentRequest, json_or_repr
from harness.judging.expected import ANNOUNCEMENTS, expectation_from
from harness.results.expectation import Expectation, ExpectedCall
from harness.turns.deltas import CUT_SHORT
from harness.turns.oracle_reading import OracleReading, SealedReading

_ANNOUNCED: Final = "FINISH-TOOLCALLS-WITHOUT-CALLS"


class OracleCall(msgspec.Struct, frozen=True):
    """A call in the bytes that the agent may execute; what it does not have is ""."""

    id: str
    name: str
    arguments: str
    namespace: str = ""


class OracleReply(msgspec.Struct, frozen=True):
    """The oracle's reading of one reply, as rules about conversations need it.

    Fields:
        broken: why the agent must not execute a call of the reply; "" if it may.
        calls: the calls that may be executed; None if the bytes are ambiguous, as for text calls.
        rejected: number of calls that must not be executed: their arguments are not an object.
        text: the visible text of the bytes, including markup of text calls.
        text_known: whether `text` is certainly the text of the turn; False if it contains markup.
        reasoning: the model's reasoning before its calls; "" if the bytes are ambiguous.
        sealed: opaque data that only the provider can read, such as encrypted reasoning.
        without_arguments: names of calls without any argument text.
        truncated: whether the reply is broken only because it ended early, so its start is valid.
        calls_missing: whether the reply certainly announces calls and contains none.
        ends_for_calls: whether the reply has calls, and its finish value announces them.
    """

    broken: str = ""
    calls: tuple[OracleCall, ...] | None = None
    rejected: int = 0
    text: str = ""
    text_known: bool = False
    reasoning: str = ""
    truncated: bool = False
    calls_missing: bool = False
    ends_for_calls: bool = False
    sealed: tuple[SealedReading, ...] = ()
    without_arguments: frozenset[str] = frozenset()


def oracle_reply(sent: SentRequest) -> OracleReply:
    """Return the oracle's reading of the reply to a request of the agent."""
    if sent.index is None:
        return OracleReply(broken="no reply: the request was surplus", calls=())
    try:
        reading = oracle_reading(sent.answer)
    except UsageError:  # no oracle reads this dialect, so nothing is known
        return OracleReply()
    expectation = expectation_from(reading)
    bare = frozenset(call.name for call in reading.calls or () if not call.arguments.strip())
    broken = _broken_reason(reading, expectation)
    if broken:
        truncated = expectation.failure is None
        missing = _ANNOUNCED in reading.quirks and not reading.text_markup
        return OracleReply(
            broken, (), text=reading.text, truncated=truncated, calls_missing=missing
        )
    readings = expectation.readings
    text = max((each.text for each in readings), key=len)  # that with the markup
    # Whether an agent noticed that the connection broke after a complete turn is its own choice.
    if sent.answer.broken or any(not _has_calls_of(expectation, each) for each in readings):
        return OracleReply(text=text, without_arguments=bare)
    calls = tuple(
        OracleCall(call.id or "", call.name, _call_arguments(call), call.namespace)
        for call in expectation.calls
    )
    known = all("text" in each.judged and each.text == text for each in readings)
    reasoning = reading.reasoning if known else ""
    return OracleReply(
        calls=calls,
        rejected=len(expectation.rejected),
        text=text,
        text_known=known,
        reasoning=reasoning,
        ends_for_calls=bool(calls) and reading.finish.casefold() in ANNOUNCEMENTS,
        sealed=reading.sealed,
        without_arguments=bare,
    )


def _has_calls_of(one: Expectation, other: Expectation) -> bool:
    """Return whether both readings judge the calls, and have the same calls."""
    is_judged = {"calls", "rejected"} <= other.judged
    return is_judged and (one.calls, one.rejected) == (other.calls, other.rejected)


def _call_arguments(call: ExpectedCall) -> str:
    """Return the arguments of a call; the input of a custom tool is its only argument."""
    return json_or_repr({"input": call.json_text}) if call.kind == "custom" else call.json_text


def _broken_reason(reading: OracleReading, expectation: Expectation) -> str:
    if expectation.failure is not None and "failure" in expectation.judged:
        return f"the turn failed ({expectation.failure})"
    if reading.meaning in CUT_SHORT and reading.knows("end"):
        return f"the turn was truncated ({reading.finish})"
    return ""
