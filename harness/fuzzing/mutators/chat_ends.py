"""How an openai-chat stream ends, in the spellings of its many servers: finish and usage."""

from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from harness.fuzzing.mutators.chat_chunks import (
    chunks_of,
    finish_of,
    finishing,
    inserted,
    on_chunks,
    with_value,
)
from harness.fuzzing.mutators.chat_entries import (
    Json,
    chat_changing,
    chat_preserving,
    choices_of,
    entries_of,
)
from harness.fuzzing.mutators.sent import Sent

_FINAL_CALLS: Final = "tool_calls"


@chat_preserving(
    "finish-duplicate", "a second chunk with the same finish reason", "FINISH-DUPLICATE"
)
@on_chunks
def _finish_duplicate(_draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    end = finishing(frames)
    if end is None:
        return None
    choice = {"index": 0, "delta": {}, "finish_reason": finish_of(end[1])}
    more = {"choices": [choice]}
    return inserted(frames, end[0] + 1, more), f"after frame {end[0]}"


@chat_preserving("finish-then-stop", "`stop` after `tool_calls`", "FINISH-TOOLCALLS-THEN-STOP")
@on_chunks
def _finish_then_stop(_draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    end = finishing(frames)
    if end is None or finish_of(end[1]) != _FINAL_CALLS:
        return None
    choice = {"index": 0, "delta": {}, "finish_reason": "stop"}
    return inserted(frames, end[0] + 1, {"choices": [choice]}), f"after frame {end[0]}"


@chat_preserving(
    "finish-with-call",
    "the finish reason in the last chunk with content",
    "FINISH-WITH-CALL",
)
@on_chunks
def _finish_with_call(_draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    """Move the reason into the chunk before, if its own chunk contains nothing else."""
    end = finishing(frames)
    before = [(at, value) for at, value in chunks_of(frames) if end and at < end[0]]
    if end is None or not before or any(choices_of(end[1])[0].get("delta") or {}):
        return None
    at, value = before[-1]
    choices = choices_of(value)
    if len(choices) != 1 or end[1].get("usage"):
        return None
    choices[0]["finish_reason"] = finish_of(end[1])
    return with_value(frames, at, value).put(end[0]), f"in frame {at}"


@chat_preserving(
    "finish-open-empty", "an empty finish reason until the last chunk", "FINISH-EMPTY-STRING"
)
@on_chunks
def _finish_open_empty(_draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    end = finishing(frames)
    if end is None:
        return None
    for at, value in chunks_of(frames):
        for choice in choices_of(value):
            if at < end[0]:
                choice["finish_reason"] = ""
        frames = with_value(frames, at, value)
    return frames, "'' until the last"


@chat_preserving(
    "arguments-end-empty", "an empty fragment of a call that is complete", "ARGS-TRAILING-EMPTY"
)
@on_chunks
def _arguments_end_empty(_draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    """Send an empty fragment of the last call before the finish."""
    end = finishing(frames)
    calls = [
        (at, entry)
        for at, value in chunks_of(frames)
        for choice in choices_of(value)
        for entry in entries_of(choice)
    ]
    if end is None or not calls or calls[-1][0] >= end[0] or "function" not in calls[-1][1]:
        return None  # with the finish or after it, it is not a fragment of the call
    entry = {"index": calls[-1][1].get("index", 0), "function": {"arguments": ""}}
    choice = {"index": 0, "delta": {"tool_calls": [entry]}, "finish_reason": None}
    return inserted(frames, end[0], {"choices": [choice]}), f"before frame {end[0]}"


def _usage_of(frames: Sent) -> tuple[int, Json] | None:
    found = [(at, value) for at, value in chunks_of(frames) if value.get("usage")]
    return found[-1] if found else None


@chat_preserving(
    "usage-chunk",
    "usage in a separate chunk",
    "CHUNK-CHOICES-EMPTY",
    "CHUNK-CHOICES-NULL",
    "CHUNK-CHOICES-ABSENT",
)
@on_chunks
def _usage_chunk(draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    """Put the usage into a separate chunk after the finish, in one of three forms."""
    found = _usage_of(frames)
    if found is None:
        return None
    at, value = found
    choices: Json = draw(st.sampled_from(({"choices": []}, {"choices": None}, {})))
    own = {**choices, "usage": value["usage"]}
    after = inserted(frames, at + 1, own)
    rest = {**value, "usage": None}
    return with_value(after, at, rest) if choices_of(value) else after.put(at), f"{own}"


@chat_preserving("usage-running", "running totals in each chunk")
@on_chunks
def _usage_running(_draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    """Tell smaller counts in the chunks before."""
    found = _usage_of(frames)
    if found is None:
        return None
    for at, value in chunks_of(frames):
        if at < found[0]:
            usage = {**found[1]["usage"], "completion_tokens": 0}
            frames = with_value(frames, at, {**value, "usage": usage})
    return frames, "in each chunk"


@chat_changing("usage-added", "usage in a stream without usage", "CHUNK-CHOICES-EMPTY")
@on_chunks
def _usage_added(_draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    if _usage_of(frames) is not None:
        return None
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
    at = chunks_of(frames)[-1][0] + 1
    return inserted(frames, at, {"choices": [], "usage": usage}), f"before frame {at}"


MUTATORS: Final = (
    _arguments_end_empty,
    _finish_duplicate,
    _finish_then_stop,
    _finish_with_call,
    _finish_open_empty,
    _usage_chunk,
    _usage_running,
    _usage_added,
)
