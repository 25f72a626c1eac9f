"""The chunks, finish and usage of an openai-chat stream in the forms of its many servers.

The content of a chunk stays; what it does not contain is null, is missing, or is one more empty
chunk.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from harness.fuzzing.mutators.chat_entries import (
    Json,
    chat_changing,
    chat_preserving,
    choices_of,
    entries_of,
    with_values,
)
from harness.fuzzing.mutators.mutator import Mutate
from harness.fuzzing.mutators.sent import Sent, dumped, on_frames, value_of

EditChoice: TypeAlias = Callable[[Json, Json], object]
_FINAL_CALLS: Final = "tool_calls"


def with_value(frames: Sent, at: int, value: Json) -> Sent:
    """Return `frames` with another payload of the one at `at`."""
    return with_values(frames, {at: value})


def chunks_of(frames: Sent) -> tuple[tuple[int, Json], ...]:
    """Return number and value of the frames that are chunks."""
    values = ((at, value_of(frames.frames[at])) for at in frames.payload_indexes())
    return tuple((at, value) for at, value in values if value is not None and "choices" in value)


on_chunks = on_frames("sse", chunks_of)


def finish_of(value: Json) -> Any:  # noqa: ANN401 - what a server sends
    """Return the finish reason of a chunk; None if it has none."""
    return next((c["finish_reason"] for c in choices_of(value) if c.get("finish_reason")), None)


def finishing(frames: Sent) -> tuple[int, Json] | None:
    """Return the one chunk that finishes the only choice."""
    chunks = chunks_of(frames)
    if any(len(choices_of(value)) > 1 for _, value in chunks):
        return None
    found = [(at, value) for at, value in chunks if finish_of(value)]
    return found[0] if len(found) == 1 else None


def editing_choices(options: dict[str, EditChoice]) -> Mutate:
    """Return the mutation that draws an edit of each choice and its delta, made in number."""

    @on_chunks
    def mutate(draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
        how = draw(st.sampled_from(tuple(options)))
        values = {at: value_of(frames.frames[at]) for at in frames.payload_indexes()}
        for value in values.values():
            for choice in choices_of(value):
                if isinstance(choice.get("delta"), dict):
                    options[how](choice, choice["delta"])
        return with_values(frames, values), how

    return mutate


# Edits of a choice and its delta


def _delta(**fields: object) -> EditChoice:
    """Return the edit that gives a delta those of `fields` that it lacks."""
    return lambda _choice, delta: delta.update({**fields, **delta})


def _role(value: object) -> EditChoice:
    return lambda _choice, delta: delta.update(role=value)


def _other_choice_fields(choice: Json, _delta: Json) -> None:
    choice.setdefault("logprobs", None)
    choice.setdefault("content_filter_results", {})


def _legacy_stub(_choice: Json, delta: Json) -> None:
    if delta.get("tool_calls"):
        delta["function_call"] = {"name": "", "arguments": ""}


def _reasoning_renamed(_choice: Json, delta: Json) -> None:
    if "reasoning_content" in delta:
        delta["reasoning"] = delta.pop("reasoning_content")


# More chunks, or fewer


def _template(frames: Sent) -> Json:
    """Return the members that all chunks of the stream have."""
    value = chunks_of(frames)[0][1]
    return {name: value[name] for name in value if name not in ("choices", "usage", "error")}


@chat_preserving(
    "empty-chunk",
    "a chunk without content",
    "CHUNK-CHOICES-EMPTY",
    "CHUNK-CHOICES-NULL",
    "CHUNK-CHOICES-ABSENT",
    "DELTA-NULL",
    "PLACEHOLDER-DELTAS",
)
@on_chunks
def _empty_chunk(draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    choice: Json = {"index": 0, "finish_reason": None}
    more: Json = draw(
        st.sampled_from(
            (
                {"choices": [{**choice, "delta": {}}]},
                {"choices": [{**choice, "delta": {"content": ""}}]},
                {"choices": [{**choice, "delta": {"role": "assistant", "content": None}}]},
                {"choices": [{**choice, "delta": {"tool_calls": []}}]},
                {"choices": [{**choice, "delta": None}]},
                {"choices": []},
                {"choices": None},
                {},
            )
        )
    )
    end = finishing(frames)
    places = [at for at, _ in chunks_of(frames) if end is None or at <= end[0]]
    at = draw(st.sampled_from(places))
    return inserted(frames, at, more), f"{more} before frame {at}"


def inserted(frames: Sent, at: int, more: Json) -> Sent:
    """Return `frames` with a chunk of `more` before the frame at `at`."""
    like = frames.frames[chunks_of(frames)[0][0]]
    data = dumped({**_template(frames), **more}, like.data)
    return frames.inserted(at, frames.made(data, like.event))


@chat_preserving("role-first", "a first chunk with the role and nothing else")
@on_chunks
def _role_first(_draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    delta = {"role": "assistant", "content": ""}
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    at = chunks_of(frames)[0][0]
    return inserted(frames, at, {"choices": [choice]}), f"before frame {at}"


@chat_preserving("response-ids", "each chunk has another response id", "RESPONSE-ID-PER-CHUNK")
@on_chunks
def _response_ids(_draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    for number, (at, value) in enumerate(chunks_of(frames)):
        frames = with_value(frames, at, {**value, "id": f"{value.get('id', 'r')}-{number}"})
    return frames, "in each chunk"


@chat_preserving("entries-merged", "entries of two chunks in one list", "DELTA-MULTI-IN-CHUNK")
@on_chunks
def _chunks_merged(draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    """Put the entries of two chunks that follow each other into one list."""
    pairs = [
        (one, two)
        for one, two in zip(chunks_of(frames), chunks_of(frames)[1:], strict=False)
        if _only_entries(one[1]) and _only_entries(two[1])
    ]
    if not pairs:
        return None
    (at, value), (other, more) = draw(st.sampled_from(pairs))
    choices_of(value)[0]["delta"]["tool_calls"].extend(entries_of(choices_of(more)[0]))
    return with_value(frames, at, value).put(other), f"frames {at} and {other}"


def _only_entries(value: Json) -> bool:
    choices = choices_of(value)
    return (
        len(choices) == 1
        and bool(entries_of(choices[0]))
        and not choices[0].get("finish_reason")
        and not value.get("usage")
        and not any(choices[0]["delta"].get(name) for name in ("content", "reasoning_content"))
    )


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
    chat_preserving(
        "role-repeated", "each delta names the role, or has null for it", "DELTA-ROLE-NULL"
    )(editing_choices({"assistant": _role("assistant"), "null": _role(None)})),
    _role_first,
    chat_preserving(
        "idle-fields",
        "fields of a delta that it does not use",
        "TOOLCALLS-NULL",
        "TOOLCALLS-EMPTY-ARRAY",
    )(
        editing_choices(
            {
                "tool_calls: null": _delta(tool_calls=None),
                "tool_calls: []": _delta(tool_calls=[]),
                "content: null": _delta(content=None),
                "content: ''": _delta(content=""),
                "refusal: null": _delta(refusal=None),
                "function_call: null": _delta(function_call=None),
                "reasoning_content: null": _delta(reasoning_content=None),
                "fields of the choice": _other_choice_fields,
            }
        )
    ),
    chat_preserving("legacy-stub", "an empty `function_call` next to the calls", "LEGACY-FC-STUB")(
        editing_choices({"next to tool_calls": _legacy_stub})
    ),
    chat_preserving(
        "reasoning-renamed",
        "reasoning in the other field that servers have for it",
        "REASONING-FIELD-NAMES",
    )(editing_choices({"reasoning": _reasoning_renamed})),
    _empty_chunk,
    _response_ids,
    _chunks_merged,
    _arguments_end_empty,
    _finish_duplicate,
    _finish_then_stop,
    _finish_with_call,
    _finish_open_empty,
    _usage_chunk,
    _usage_running,
    _usage_added,
)
