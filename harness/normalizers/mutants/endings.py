"""Miniatures that get the end of a turn wrong, or the order of its deltas."""

from collections.abc import Iterable, Iterator

from harness.normalizers.mutants.edit import editing, mutant
from harness.normalizers.respond import respond
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    StreamFailure,
    ToolCallEnd,
    ToolCallStart,
    UsageDelta,
)
from harness.wire.interaction import Interaction


def _stop_believed(deltas: Iterator[Delta]) -> Iterator[Delta]:
    for delta in deltas:
        if isinstance(delta, Finish) and delta.raw == "stop":
            yield Finish(FinishReason.STOP, delta.raw)
        else:
            yield delta


def _raw_lost(deltas: Iterator[Delta]) -> Iterator[Delta]:
    for delta in deltas:
        yield Finish(delta.reason, delta.reason.value) if isinstance(delta, Finish) else delta


def _finished_twice(deltas: Iterator[Delta]) -> Iterator[Delta]:
    for delta in deltas:
        yield delta
        if isinstance(delta, Finish):
            yield delta


def _failure_hidden(deltas: Iterator[Delta]) -> Iterator[Delta]:
    for delta in deltas:
        yield Finish(FinishReason.STOP) if isinstance(delta, StreamFailure) else delta


def _done_demanded(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Take a stream without [DONE] for a broken one, where the API has such a mark."""
    if interaction.dialect != "openai-chat":
        yield from respond(interaction, reads)
        return
    kept: list[bytes] = []

    def keeping() -> Iterator[bytes]:
        for read in reads:
            kept.append(read)
            yield read

    for delta in respond(interaction, keeping()):
        done = b"[DONE]" in b"".join(kept)
        yield delta if done or not isinstance(delta, Finish) else StreamFailure("interrupted")


def _code_lost(deltas: Iterator[Delta]) -> Iterator[Delta]:
    for delta in deltas:
        if isinstance(delta, StreamFailure):
            yield StreamFailure("unknown", delta.message)
        else:
            yield delta


def _message_lost(deltas: Iterator[Delta]) -> Iterator[Delta]:
    for delta in deltas:
        yield StreamFailure(delta.code, "") if isinstance(delta, StreamFailure) else delta


def _usage_dropped(deltas: Iterator[Delta]) -> Iterator[Delta]:
    return (delta for delta in deltas if not isinstance(delta, UsageDelta))


def _arguments_early(deltas: Iterator[Delta]) -> Iterator[Delta]:
    for delta in deltas:
        if isinstance(delta, ToolCallStart):
            yield ArgumentsDelta(delta.index, "")
        yield delta


def _ended_twice(deltas: Iterator[Delta]) -> Iterator[Delta]:
    for delta in deltas:
        yield delta
        if isinstance(delta, ToolCallEnd):
            yield delta


MINIATURES = (
    mutant(
        "stop-believed",
        "FINISH-REASON",
        "takes the word stop for a turn without calls",
        editing(_stop_believed),
    ),
    mutant(
        "raw-finish-lost",
        "FINISH-RAW-KEPT",
        "forgets the provider's word for the finish",
        editing(_raw_lost),
    ),
    mutant(
        "finished-twice",
        "END-ONCE",
        "ends the turn at each finish chunk",
        editing(_finished_twice),
    ),
    mutant(
        "failure-hidden",
        "FAILURE-REPORTED",
        "shows a failed stream as a finished turn",
        editing(_failure_hidden),
    ),
    mutant(
        "done-demanded",
        "FAILURE-NOT-INVENTED",
        "fails where [DONE] is missing",
        _done_demanded,
    ),
    mutant(
        "failure-code-lost",
        "FAILURE-CODE-KEPT",
        "forgets the provider's error code",
        editing(_code_lost),
    ),
    mutant(
        "failure-message-lost",
        "FAILURE-MESSAGE-KEPT",
        "forgets the provider's error message",
        editing(_message_lost),
    ),
    mutant("usage-dropped", "USAGE-KEPT", "throws usage away", editing(_usage_dropped)),
    mutant(
        "arguments-early",
        "CALL-STARTS-FIRST",
        "hands arguments on before their call",
        editing(_arguments_early),
    ),
    mutant("ended-twice", "CALL-ENDS-ONCE", "ends each call twice", editing(_ended_twice)),
)
