"""Convert the turn that a client reports to deltas, by the same rules as for adapters of SDKs."""

import re
from collections.abc import Iterator
from typing import Final

from harness.dialects.gemini.read import FAILED, FINISHES
from harness.normalizers import sdk
from harness.normalizers.client.lines import ClientCall, ClientTurn
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    FinishReason,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
)

_WORDS: Final = {
    FinishReason.STOP: ("stop", "end_turn", "stop_sequence", "complete", "completed", "eos"),
    FinishReason.TOOL_CALLS: ("tool_calls", "tool_use", "tool_call", "function_call"),
    FinishReason.LENGTH: (
        "length", "max_tokens", "max_output_tokens", "incomplete", "model_length",
        "model_context_window_exceeded",
    ),
    FinishReason.CONTENT_FILTER: ("content_filter", "refusal", "content_filtered"),
}  # fmt: skip
_REASONS: Final = {word.lower(): reason for word, reason in FINISHES.items()} | {
    word: reason for reason, words in _WORDS.items() for word in words
}
# Words that say that what the model wrote cannot be used: a finish with one of them is a failure.
_FAILED: Final = FAILED | {"error"}
_WORD: Final = re.compile(r'"([\w-]+)"')


class ClientError(Exception):
    """A client broke the protocol, or reported an exception that its library does not document."""


def deltas_of_turn(turn: ClientTurn) -> Iterator[Delta]:
    """Yield the deltas of a turn.

    Raises:
        ClientError: the turn reports an exception that the library does not document.
    """
    if turn.reasoning:
        yield ReasoningDelta(turn.reasoning)
    if turn.text:
        yield TextDelta(turn.text)
    if turn.usage is not None:
        yield UsageDelta(Usage(turn.usage.input_tokens, turn.usage.output_tokens))
    failure = turn.error
    if failure is not None and not failure.documented:
        raise ClientError(f"{failure.type}: {failure.message}")
    if failure is not None:
        end: Delta = StreamFailure(failure.code or "error", failure.message or failure.type)
    elif turn.finish in _FAILED:
        end = StreamFailure(turn.finish, f"the finish reason is {turn.finish}")
    else:
        end = _finish_delta(turn)
    why = end.message if isinstance(end, StreamFailure) and not turn.refusal else ""
    for index, call in enumerate(turn.calls):
        yield from _call_deltas(index, call, call.error or why)
    yield end


def _call_deltas(index: int, call: ClientCall, error: str) -> Iterator[Delta]:
    if error:
        raw = call.value if call.value is not None and not call.arguments else call.arguments
        return sdk.withheld_call(index, call.id, call.name, raw, error)
    end = ToolCallEnd(index, call.sent)
    if call.value is not None:
        start = ToolCallStart(index, call.id, call.name, call.kind)
        return iter((start, ArgumentsDelta(index, call.value), end))
    deltas = sdk.handed_call(index, call.id, call.name, call.arguments, call.kind)
    return (end if isinstance(each, ToolCallEnd) else each for each in deltas)


def _finish_delta(turn: ClientTurn) -> Delta:
    raw = turn.finish or ""
    reason = turn.reason or _meaning(raw) or FinishReason.OTHER
    return sdk.finish_delta(raw, {raw: reason}, turn.refusal)


def _meaning(word: str) -> FinishReason | None:
    return _REASONS.get(word.lower().replace("-", "_"))


def finish_words(body: bytes) -> dict[str, str]:
    """Return finish value in the response body -> its meaning; "failed" if the response failed."""
    words = dict.fromkeys(_WORD.findall(body.decode("utf-8", "replace")))
    meanings = {word: "failed" if word in _FAILED else _meaning(word) for word in words}
    return {word: str(meaning) for word, meaning in meanings.items() if meaning}
