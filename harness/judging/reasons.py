"""Find what a failure should say: why a call is unusable, and what a client does instead.

The oracle gives the reason. It does not read calls that a model wrote in its text. For them, and
for streams whose calls are ambiguous, `reference` explains what a rule found without it.
"""

from collections.abc import Iterator
from typing import Final
from weakref import ref

from harness.judging.evidence import TurnEvidence
from harness.judging.expected import expected_failure, usable_arguments
from harness.judging.unusable import is_truncated
from harness.normalizers import reference
from harness.turns.arguments import parse
from harness.turns.fold import fold
from harness.turns.oracle_reading import CallReading, OracleReading
from harness.turns.turn import Turn
from harness.wire.interaction import Interaction

KEEP_REST: Final = "report the unusable call alone (`withheld_call`) and keep the rest of the turn"
# Many replays of one interaction break the same rule: the interaction, and the turn of `reference`.
_LAST: Final[list[tuple[ref[Interaction], Turn]]] = []
# The name of a call, its id, and why it is unusable.
_Reason = tuple[str, str, str]


def with_reason(text: str, evidence: TurnEvidence, name: str, call_id: str = "") -> str:
    """Return `text` with the reason why a call of the stream is unusable, if one is known.

    Args:
        text: what a client must do with the call.
        evidence: the replay, with the oracle's reading of the stream.
        name: the name of the call; "" if it is not known.
        call_id: the id of the call; "" if it is not known.
    """
    readings = (evidence.oracle, *evidence.oracle.alternatives)
    by_oracle = [each for reading in readings for each in _reasons(reading)]
    reason = _find(by_oracle, name, call_id) or _find(_of_reference(evidence), name, call_id)
    return f"{text}: {reason}" if reason else text


def or_rejected(text: str, evidence: TurnEvidence, name: str, call_id: str = "") -> str:
    """Return `text` with the reason why a client may reject the call, if another reading does."""
    readings = (evidence.oracle, *evidence.oracle.alternatives)
    calls = (call for reading in readings for call in reading.calls or () if call.rejected)
    doubts = [(call.name, call.id, call.rejected) for call in calls]
    reason = _find(doubts, name, call_id) if name else ""
    return f"{text}, or a parse error: {reason}" if reason else text


def _find(reasons: list[_Reason], name: str, call_id: str) -> str:
    of_id = (reason for _, other, reason in reasons if call_id and other == call_id)
    of_name = (reason for other, _, reason in reasons if other == name)
    unnamed = (reason for *_, reason in reasons if not name and not call_id)
    return next(of_id, "") or next(of_name, "") or next(unnamed, "")


def _reasons(reading: OracleReading) -> Iterator[_Reason]:
    for call in reading.calls or ():
        reason = _reason(call, reading)
        if reason:
            yield call.name, call.id, reason


def _reason(call: CallReading, reading: OracleReading) -> str:
    """Return why `call` is unusable in this reading; "" if it is usable."""
    if call.rejected or not call.name:
        return call.rejected or "it has no name"
    failure = failure_reason(reading)
    if failure:
        return failure
    if usable_arguments(call, reading).value is not None:
        return ""
    stopped = f"the answer was stopped ({reading.finish})" if is_truncated(reading) else ""
    if call.kind != "function" or not call.arguments.strip():
        return f"{stopped}, so its arguments may be incomplete" if stopped else ""
    return "; ".join(filter(None, (stopped, parse(call.arguments).error)))


def failure_reason(reading: OracleReading) -> str:
    """Return why the turn of this reading fails; "" if it does not."""
    code = expected_failure(reading)
    if reading.error is not None:
        return f"the provider sent the error {': '.join(filter(None, reading.error)) or 'alone'}"
    if code == "refusal":
        return f"the model refused: {reading.refusal}"
    return "the stream ended before the end of the answer" if code == "interrupted" else ""


def _of_reference(evidence: TurnEvidence) -> list[_Reason]:
    return [(it.name, it.id, it.error) for it in _turn_of(evidence.interaction).parse_errors]


def _turn_of(interaction: Interaction) -> Turn:
    if not _LAST or _LAST[0][0]() is not interaction:
        turn = fold(reference.normalize(interaction.without_body(), (interaction.body,)))
        _LAST[:] = [(ref(interaction), turn)]
    return _LAST[0][1]
