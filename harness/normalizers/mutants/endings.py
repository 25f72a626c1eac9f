"""Mutants of the end of a turn and the order of its deltas, and those that need several replays."""

import itertools
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from harness.normalizers.mutants.edit import edits_delta, edits_deltas, mutant
from harness.normalizers.respond import respond
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.wire.interaction import Interaction


@edits_delta("stop-believed", "FINISH-REASON")
def _stop_believed(delta: Delta) -> Iterable[Delta]:
    """Takes the word stop for a turn without calls."""
    stopped = isinstance(delta, Finish) and delta.raw == "stop"
    yield Finish(FinishReason.STOP, "stop") if stopped else delta


@edits_delta("raw-finish-lost", "FINISH-RAW-KEPT")
def _raw_lost(delta: Delta) -> Iterable[Delta]:
    """Forgets the provider's word for the finish."""
    yield Finish(delta.reason, delta.reason.value) if isinstance(delta, Finish) else delta


@edits_delta("finished-twice", "END-ONCE")
def _finished_twice(delta: Delta) -> Iterable[Delta]:
    """Ends the turn at each finish chunk."""
    return (delta, delta) if isinstance(delta, Finish) else (delta,)


@edits_delta("failure-hidden", "FAILURE-REPORTED")
def _failure_hidden(delta: Delta) -> Iterable[Delta]:
    """Reports a failed stream as a finished turn."""
    yield Finish(FinishReason.STOP) if isinstance(delta, StreamFailure) else delta


@mutant("done-demanded", "FAILURE-NOT-INVENTED")
def _done_demanded(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Fails if [DONE] is missing.

    Only openai-chat has this mark. A turn may fail if its body is one JSON document or ends inside
    an event, and then its calls must not run, which is the subject of another rule.
    """
    if interaction.dialect != "openai-chat":
        yield from respond(interaction, reads)
        return
    kept: list[bytes] = []
    for delta in respond(interaction, keeping(reads, kept)):
        body = b"".join(kept)
        is_cut = body.rstrip().endswith(b"}") and not body.endswith(b"\n\n")
        done = is_cut or b"[DONE]" in body
        yield delta if done or not isinstance(delta, Finish) else StreamFailure("interrupted")


def keeping(reads: Iterable[bytes], kept: list[bytes]) -> Iterator[bytes]:
    """Yield `reads`, and append each read to `kept`."""
    for read in reads:
        kept.append(read)
        yield read


@edits_delta("failure-code-lost", "FAILURE-CODE-KEPT")
def _code_lost(delta: Delta) -> Iterable[Delta]:
    """Forgets the provider's error code."""
    yield StreamFailure("unknown", delta.message) if isinstance(delta, StreamFailure) else delta


@edits_delta("failure-message-lost", "FAILURE-MESSAGE-KEPT")
def _message_lost(delta: Delta) -> Iterable[Delta]:
    """Forgets the provider's error message."""
    yield StreamFailure(delta.code, "") if isinstance(delta, StreamFailure) else delta


@edits_delta("usage-dropped", "USAGE-KEPT")
def _usage_dropped(delta: Delta) -> Iterable[Delta]:
    """Drops the usage."""
    return () if isinstance(delta, UsageDelta) else (delta,)


@edits_deltas("usage-summed", "USAGE-KEPT")
def _usage_summed(deltas: Iterator[Delta]) -> Iterator[Delta]:
    """Adds up the usage of all events, although each contains the usage so far."""
    total = Usage()
    for delta in deltas:
        if isinstance(delta, UsageDelta):
            total = Usage(
                _sum(total.input_tokens, delta.usage.input_tokens),
                _sum(total.output_tokens, delta.usage.output_tokens),
            )
        yield UsageDelta(total) if isinstance(delta, UsageDelta) else delta


def _sum(total: int | None, more: int | None) -> int | None:
    return more if total is None else total + (more or 0)


@edits_delta("arguments-early", "CALL-STARTS-FIRST")
def _arguments_early(delta: Delta) -> Iterable[Delta]:
    """Emits arguments before their call."""
    if isinstance(delta, ToolCallStart):
        yield ArgumentsDelta(delta.index, "")
    yield delta


@edits_delta("ended-twice", "CALL-ENDS-ONCE")
def _ended_twice(delta: Delta) -> Iterable[Delta]:
    """Ends each call twice."""
    return (delta, delta) if isinstance(delta, ToolCallEnd) else (delta,)


@edits_delta("usage-crash", "NO-CRASH")
def _crash_on_usage(delta: Delta) -> Iterable[Delta]:
    """Indexes into the empty choices of the usage chunk."""
    if isinstance(delta, UsageDelta):
        raise IndexError("list index out of range")  # choices[0] of a usage chunk
    yield delta


@edits_delta("endless", "NO-HANG")
def _endless(delta: Delta) -> Iterable[Delta]:
    """Never ends after the usage."""
    yield delta
    if isinstance(delta, UsageDelta):
        yield from itertools.repeat(TextDelta(""))


_GZIP_START = b"\x1f"  # text does not start with this control character


@mutant("decoded-per-read", "CUT-INVARIANT")
def _decoded_per_read(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Decodes UTF-8 read by read."""
    binary = "eventstream" in interaction.header("content-type")
    return respond(interaction, reads if binary else _decoded(reads))


def _decoded(reads: Iterable[bytes]) -> Iterator[bytes]:
    """Yield each read decoded from UTF-8 and encoded again; a compressed body is unchanged."""
    is_first, is_compressed = True, False
    for read in reads:
        if is_first and read:
            is_first, is_compressed = False, read.startswith(_GZIP_START)
        yield read if is_compressed else read.decode("utf-8", "replace").encode()


class _Memory:
    """Keeps the newest body that came in one read, until it comes again."""

    def __init__(self) -> None:
        self._newest = b""

    def holds(self, body: bytes) -> bool:
        known = body == self._newest
        self._newest = b"" if known else body
        return known


_MEMORY = _Memory()


@mutant("answers-remembered", "REPEATABLE")
def _remembered(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Answers a repeated body from a cache that stored another word for its finish."""
    kept: list[bytes] = []
    pulled = keeping(reads, kept)
    for delta in respond(interaction, pulled):
        if not isinstance(delta, Finish):
            yield delta
            continue
        for _ in pulled:  # what follows the end, so that only a complete body is one read
            pass
        known = len(kept) == 1 and _MEMORY.holds(kept[0])
        yield replace(delta, raw="cached") if known else delta


_COUNTER = itertools.cycle(range(1, 1_000))
_GENERATED_LENGTH = 29  # of an id that `reference` generates


@edits_deltas("state-kept", "REPEATABLE CUT-INVARIANT")
def _state_kept(deltas: Iterator[Delta]) -> Iterator[Delta]:
    """Adds one more space to a call without an id with each replay.

    The number itself would be right in the id, because generated ids may differ.
    """
    spaces = ""
    for delta in deltas:
        if not spaces or not isinstance(delta, ToolCallRejected) or delta.index:
            yield delta
        else:
            error = replace(delta.error, snippet=delta.error.snippet + spaces)
            yield replace(delta, error=error)
        if (
            isinstance(delta, ToolCallStart)
            and not delta.index
            and delta.id.startswith("call_")
            and len(delta.id) >= _GENERATED_LENGTH
        ):
            spaces = " " * next(_COUNTER)
            yield ArgumentsDelta(0, spaces)
