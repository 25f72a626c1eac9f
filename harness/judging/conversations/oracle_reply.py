"""What the played bytes really say: read strictly by the judge, never taken from the agent."""

import msgspec

from harness.dialects.kit.oracle.reading import OracleReading
from harness.dialects.table import oracle_reading
from harness.errors import UsageError
from harness.judging.conversations.session import SentRequest, as_text
from harness.judging.expectation import Expectation
from harness.judging.expected import expectation_from
from harness.judging.rule import arguments_text
from harness.turns.deltas import CUT_SHORT


class OracleCall(msgspec.Struct, frozen=True):
    """A call that the bytes hold and that may be run; `id` is "" where none came."""

    id: str
    name: str
    arguments: str


class OracleReply(msgspec.Struct, frozen=True):
    """What one reply says.

    Fields:
        broken: why nothing of it may be run; "" where it may.
        calls: those that may be run; None where the bytes leave it open, as for calls in text.
        rejected: how many calls may not be run, since their arguments are no object.
        text: what the bytes hold as visible text, markup included.
        text_known: whether that is all that it can mean; not where it holds markup.
        reasoning: what the model thought before its calls; "" where the bytes leave it open.
        cut: whether it is broken only since it ended too early; what came counts then.
    """

    broken: str = ""
    calls: tuple[OracleCall, ...] | None = None
    rejected: int = 0
    text: str = ""
    text_known: bool = False
    reasoning: str = ""
    cut: bool = False


def oracle_reply(sent: SentRequest) -> OracleReply:
    """Return what the reply to a request says."""
    if sent.place is None:
        return OracleReply(broken="no reply: the request was surplus", calls=())
    try:
        reading = oracle_reading(sent.answer)
    except UsageError:  # a dialect that nobody reads leaves everything open
        return OracleReply()
    expectation = expectation_from(reading)
    broken = _broken_reason(reading, expectation)
    if broken:
        return OracleReply(broken, (), text=reading.text, cut=expectation.failure is None)
    if not {"calls", "rejected"} <= expectation.judged:
        return OracleReply(text=reading.text)
    calls = tuple(
        OracleCall(call.id or "", call.name, _call_arguments(call.kind, arguments_text(call)))
        for call in expectation.calls
    )
    known = "text" in expectation.judged
    reasoning = reading.reasoning if known else ""
    return OracleReply("", calls, len(expectation.rejected), reading.text, known, reasoning)


def _call_arguments(kind: str, text: str) -> str:
    """Return what a tool is called with; the input of a custom tool is its only argument."""
    return as_text({"input": text}) if kind == "custom" else text


def _broken_reason(reading: OracleReading, expectation: Expectation) -> str:
    if expectation.failure is not None and "failure" in expectation.judged:
        return f"the turn failed ({expectation.failure})"
    if reading.meaning in CUT_SHORT and reading.end_known:
        return f"the turn was cut short ({reading.finish})"
    return ""
