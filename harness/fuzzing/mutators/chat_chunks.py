"""The chunks of an openai-chat stream in the spellings of its many servers: all but the calls.

What a chunk says stays; what it leaves unsaid is spelled as null, as nothing, or as one more
chunk with nothing in it.
"""

from collections.abc import Callable
from typing import Any, Final, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from harness.fuzzing.mutators.chat_entries import choices_of, entries_of
from harness.fuzzing.mutators.mutator import Mutate, preserving
from harness.fuzzing.mutators.sent import Sent, dumped, sent, value_of
from harness.wire.interaction import Interaction

Json: TypeAlias = dict[str, Any]
Rechunk: TypeAlias = Callable[[DrawFn, Sent], tuple[Sent, str] | None]
EditChoice: TypeAlias = Callable[[Json, Json], None]
_CHAT: Final = ("openai-chat",)
_FINAL_CALLS: Final = "tool_calls"


def rechunking(rechunk: Rechunk) -> Mutate:
    """Return the mutation that `rechunk` is."""

    def mutate(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
        frames = sent(interaction.body)
        if frames is None or frames.framing != "sse" or not chunks_of(frames):
            return None
        changed = rechunk(draw, frames)
        if changed is None or changed[0] == frames:
            return None
        return changed[0].into(interaction), changed[1]

    return mutate


def editing_choices(options: dict[str, EditChoice]) -> Mutate:
    """Return the mutation that draws an edit of each choice and its delta, made in place."""

    def rechunk(draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
        how = draw(st.sampled_from(tuple(options)))
        for at in frames.places():
            value = value_of(frames.frames[at])
            for choice in choices_of(value):
                if isinstance(choice.get("delta"), dict):
                    options[how](choice, choice["delta"])
            if value is not None and value != value_of(frames.frames[at]):
                frames = with_value(frames, at, value)
        return frames, how

    return rechunking(rechunk)


def with_value(frames: Sent, at: int, value: Json) -> Sent:
    """Return `frames` with another payload of the one at `at`."""
    frame = frames.frames[at]
    return frames.put(at, frames.changed(frame, dumped(value, frame.data)))


def chunks_of(frames: Sent) -> tuple[tuple[int, Json], ...]:
    """Return place and value of the frames that are chunks."""
    values = ((at, value_of(frames.frames[at])) for at in frames.places())
    return tuple((at, value) for at, value in values if value is not None and "choices" in value)


def finish_of(value: Json) -> Any:  # noqa: ANN401 - what a server sends
    """Return the finish reason that a chunk gives; None where it gives none."""
    return next((c["finish_reason"] for c in choices_of(value) if c.get("finish_reason")), None)


def finishing(frames: Sent) -> tuple[int, Json] | None:
    """Return the one chunk that finishes the only choice."""
    chunks = chunks_of(frames)
    if any(len(choices_of(value)) > 1 for _, value in chunks):
        return None
    found = [(at, value) for at, value in chunks if finish_of(value)]
    return found[0] if len(found) == 1 else None


# Edits of a choice and its delta


def _delta(**fields: object) -> EditChoice:
    """Return the edit that gives a delta those of `fields` that it lacks."""

    def edit(_choice: Json, delta: Json) -> None:
        for name, value in fields.items():
            delta.setdefault(name, value)

    return edit


def _role(value: object) -> EditChoice:
    def edit(_choice: Json, delta: Json) -> None:
        delta["role"] = value

    return edit


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
    """Return what all chunks of the stream say about it."""
    value = chunks_of(frames)[0][1]
    return {name: value[name] for name in value if name not in ("choices", "usage", "error")}


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


def _role_first(_draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    delta = {"role": "assistant", "content": ""}
    choice = {"index": 0, "delta": delta, "finish_reason": None}
    at = chunks_of(frames)[0][0]
    return inserted(frames, at, {"choices": [choice]}), f"before frame {at}"


def _response_ids(_draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    for place, (at, value) in enumerate(chunks_of(frames)):
        frames = with_value(frames, at, {**value, "id": f"{value.get('id', 'r')}-{place}"})
    return frames, "in each chunk"


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


MUTATORS: Final = (
    preserving(
        "role-repeated",
        "each delta names the role, or says null for it",
        editing_choices({"assistant": _role("assistant"), "null": _role(None)}),
        "DELTA-ROLE-NULL",
        dialects=_CHAT,
    ),
    preserving(
        "role-first",
        "a first chunk that names the role and says nothing",
        rechunking(_role_first),
        dialects=_CHAT,
    ),
    preserving(
        "idle-fields",
        "fields of a delta that it does not use",
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
        ),
        "TOOLCALLS-NULL",
        "TOOLCALLS-EMPTY-ARRAY",
        dialects=_CHAT,
    ),
    preserving(
        "legacy-stub",
        "an empty `function_call` beside the calls",
        editing_choices({"beside tool_calls": _legacy_stub}),
        "LEGACY-FC-STUB",
        dialects=_CHAT,
    ),
    preserving(
        "reasoning-renamed",
        "reasoning in the other field that servers have for it",
        editing_choices({"reasoning": _reasoning_renamed}),
        "REASONING-FIELD-NAMES",
        dialects=_CHAT,
    ),
    preserving(
        "empty-chunk",
        "a chunk that says nothing",
        rechunking(_empty_chunk),
        "CHUNK-CHOICES-EMPTY",
        "CHUNK-CHOICES-NULL",
        "CHUNK-CHOICES-ABSENT",
        "DELTA-NULL",
        "PLACEHOLDER-DELTAS",
        dialects=_CHAT,
    ),
    preserving(
        "response-ids",
        "each chunk has another response id",
        rechunking(_response_ids),
        "RESPONSE-ID-PER-CHUNK",
        dialects=_CHAT,
    ),
    preserving(
        "entries-merged",
        "entries of two chunks in one list",
        rechunking(_chunks_merged),
        "DELTA-MULTI-IN-CHUNK",
        dialects=_CHAT,
    ),
)
