"""Define mutators that write the chunks of an openai-chat stream as other servers do.

The content of each chunk is unchanged. They make empty members null or missing, move the finish
reason and the usage, and add further chunks without content.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from harness.fuzzing.mutators.chat_entries import (
    Json,
    chat_mutator,
    choices_of,
    entries_of,
    with_values,
)
from harness.fuzzing.mutators.mutator import Mutate
from harness.fuzzing.mutators.sent import Sent, dumped, on_frames, value_of
from harness.turns.json_values import as_dict

EditChoice: TypeAlias = Callable[[Json, Json], object]
# A chunk: the number of its frame, and its value.
Chunk: TypeAlias = tuple[int, Json]
EditChunk: TypeAlias = Callable[[DrawFn, Sent, int, Json], tuple[Sent, str] | None]
_FINAL_CALLS: Final = "tool_calls"


def with_value(frames: Sent, at: int, value: Json) -> Sent:
    """Return `frames` with `value` as the payload of the frame at the index `at`."""
    return with_values(frames, {at: value})


def chunks_of(frames: Sent) -> tuple[Chunk, ...]:
    """Return the index and the payload of each frame that is a chunk with `choices`."""
    values = ((at, value_of(frames.frames[at])) for at in frames.payload_indexes())
    return tuple((at, value) for at, value in values if value is not None and "choices" in value)


on_chunks = on_frames("sse", chunks_of)


def finish_of(value: Json) -> Any:  # noqa: ANN401 - what a server sends
    """Return the finish reason in a chunk; None if it has none."""
    return next((c["finish_reason"] for c in choices_of(value) if c.get("finish_reason")), None)


def finishing(frames: Sent) -> Chunk | None:
    """Return the chunk with the only finish reason; None if several choices or chunks have one."""
    chunks = chunks_of(frames)
    if any(len(choices_of(value)) > 1 for _, value in chunks):
        return None
    found = [(at, value) for at, value in chunks if finish_of(value)]
    return found[0] if len(found) == 1 else None


def counting(frames: Sent) -> Chunk | None:
    """Return the last chunk with usage; None if there is none."""
    return next((each for each in reversed(chunks_of(frames)) if each[1].get("usage")), None)


def on_chunk(find: Callable[[Sent], Chunk | None]) -> Callable[[EditChunk], Mutate]:
    """Return a decorator that turns an edit of the chunk that `find` returns into a mutation."""

    def adapt(edit: EditChunk) -> Mutate:
        @on_chunks
        def mutate(draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
            found = find(frames)
            return None if found is None else edit(draw, frames, *found)

        return mutate

    return adapt


def editing_choices(options: dict[str, EditChoice]) -> Mutate:
    """Return a mutation that draws one of the edits, and applies it to each choice of each chunk.

    Args:
        options: description -> edit of a choice and its delta.
    """

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
    """Return an edit that adds `fields` to a delta, except those that it already has."""
    return lambda _choice, delta: delta.update({**fields, **delta})


def _role(value: object) -> EditChoice:
    return lambda _choice, delta: delta.update(role=value)


def _without_role(_choice: Json, delta: Json) -> None:
    delta.pop("role", None)


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

_EMPTY_DELTAS: Final[tuple[Json | None, ...]] = (
    {},
    {"content": ""},
    {"role": "assistant", "content": None},
    {"tool_calls": []},
    None,
)
_NO_CHOICES: Final[tuple[Json, ...]] = ({"choices": []}, {"choices": None}, {})


def _choices(delta: Json, finish: str | None = None) -> Json:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def _template(frames: Sent) -> Json:
    """Return the members of a chunk that are equal in all chunks, such as `id` and `model`."""
    value = chunks_of(frames)[0][1]
    return {name: value[name] for name in value if name not in ("choices", "usage", "error")}


@chat_mutator("empty-chunk")
@on_chunks
def _empty_chunk(draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    choice: Json = {"index": 0, "finish_reason": None}
    empty = ({"choices": [{**choice, "delta": delta}]} for delta in _EMPTY_DELTAS)
    more = draw(st.sampled_from((*empty, *_NO_CHOICES)))
    end = finishing(frames)
    places = [at for at, _ in chunks_of(frames) if end is None or at <= end[0]]
    at = draw(st.sampled_from(places))
    return inserted(frames, at, more), f"{more} before frame {at}"


def inserted(frames: Sent, at: int, more: Json) -> Sent:
    """Return `frames` with a new chunk with the members `more` before the frame at `at`."""
    like = frames.frames[chunks_of(frames)[0][0]]
    data = dumped({**_template(frames), **more}, like.data)
    return frames.inserted(at, frames.made(data, like.event))


@chat_mutator("role-first")
@on_chunks
def _role_first(_draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    at = chunks_of(frames)[0][0]
    more = _choices({"role": "assistant", "content": ""})
    return inserted(frames, at, more), f"before frame {at}"


@chat_mutator("response-ids")
@on_chunks
def _response_ids(_draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    for number, (at, value) in enumerate(chunks_of(frames)):
        frames = with_value(frames, at, {**value, "id": f"{value.get('id', 'r')}-{number}"})
    return frames, "in each chunk"


@chat_mutator("entries-merged")
@on_chunks
def _chunks_merged(draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    """Join two consecutive chunks, so that one list `tool_calls` has the items of both."""
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


@chat_mutator("finish-duplicate")
@on_chunk(finishing)
def _finish_duplicate(_draw: DrawFn, frames: Sent, at: int, end: Json) -> tuple[Sent, str]:
    return inserted(frames, at + 1, _choices({}, finish_of(end))), f"after frame {at}"


@chat_mutator("finish-then-stop")
@on_chunk(finishing)
def _finish_then_stop(_draw: DrawFn, frames: Sent, at: int, end: Json) -> tuple[Sent, str] | None:
    if finish_of(end) != _FINAL_CALLS:
        return None
    return inserted(frames, at + 1, _choices({}, "stop")), f"after frame {at}"


@chat_mutator("finish-with-call")
@on_chunk(finishing)
def _finish_with_call(_draw: DrawFn, frames: Sent, last: int, end: Json) -> tuple[Sent, str] | None:
    """Move the finish reason to the previous chunk, if its own chunk contains nothing else."""
    before = [(at, value) for at, value in chunks_of(frames) if at < last]
    choice = choices_of(end)[0]
    holders = (end, choice, as_dict(end.get("x_groq")))
    has_usage = any(each.get("usage") for each in holders)
    if not before or any(choice.get("delta") or {}) or has_usage:
        return None
    at, value = before[-1]
    choices = choices_of(value)
    if len(choices) != 1:
        return None
    choices[0]["finish_reason"] = finish_of(end)
    return with_value(frames, at, value).put(last), f"in frame {at}"


@chat_mutator("finish-open-empty")
@on_chunk(finishing)
def _finish_open_empty(_draw: DrawFn, frames: Sent, last: int, _end: Json) -> tuple[Sent, str]:
    for at, value in chunks_of(frames):
        for choice in choices_of(value) if at < last else ():
            choice["finish_reason"] = ""
        frames = with_value(frames, at, value)
    return frames, "'' until the last"


@chat_mutator("arguments-end-empty")
@on_chunk(finishing)
def _arguments_end_empty(
    _draw: DrawFn, frames: Sent, last: int, _end: Json
) -> tuple[Sent, str] | None:
    """Add a chunk with empty arguments of the last call before the chunk with the finish reason."""
    calls = [
        (at, entry)
        for at, value in chunks_of(frames)
        for choice in choices_of(value)
        for entry in entries_of(choice)
    ]
    if not calls or calls[-1][0] >= last or "function" not in calls[-1][1]:
        return None  # with the finish or after it, it is not a fragment of the call
    entry = {"index": calls[-1][1].get("index", 0), "function": {"arguments": ""}}
    return inserted(frames, last, _choices({"tool_calls": [entry]})), f"before frame {last}"


@chat_mutator("usage-chunk")
@on_chunk(counting)
def _usage_chunk(draw: DrawFn, frames: Sent, at: int, value: Json) -> tuple[Sent, str]:
    """Move the usage to a separate chunk after the finish, written in one of several ways."""
    own = {**draw(st.sampled_from(_NO_CHOICES)), "usage": value["usage"]}
    after = inserted(frames, at + 1, own)
    rest = {**value, "usage": None}
    return with_value(after, at, rest) if choices_of(value) else after.put(at), f"{own}"


@chat_mutator("usage-running")
@on_chunk(counting)
def _usage_running(_draw: DrawFn, frames: Sent, last: int, counted: Json) -> tuple[Sent, str]:
    """Add usage with smaller counts of tokens to the chunks before the one with usage."""
    for at, value in chunks_of(frames):
        if at < last:
            usage = {**counted["usage"], "completion_tokens": 0}
            frames = with_value(frames, at, {**value, "usage": usage})
    return frames, "in each chunk"


@chat_mutator("usage-added")
@on_chunks
def _usage_added(_draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    if counting(frames) is not None:
        return None
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
    at = chunks_of(frames)[-1][0] + 1
    return inserted(frames, at, {"choices": [], "usage": usage}), f"before frame {at}"


chat_mutator("role-of-deltas")(
    editing_choices({"assistant": _role("assistant"), "null": _role(None), "absent": _without_role})
)
chat_mutator("idle-fields")(
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
)
chat_mutator("legacy-stub")(editing_choices({"next to tool_calls": _legacy_stub}))
chat_mutator("reasoning-renamed")(editing_choices({"reasoning": _reasoning_renamed}))
