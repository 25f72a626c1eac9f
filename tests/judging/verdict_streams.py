"""Build the streams of the kinds of faults that servers have, in each dialect that has the kind.

The writer of a dialect writes a documented answer. A kind changes its events: the index, the id or
the fragments of a call. The paths below are all that a kind needs to know of a dialect.
"""

import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from harness.dialects.table import DIALECTS, oracle_reading
from harness.fuzzing.mutators.sent import SentFrame, dumped, sent, value_of
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ParseError,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.wire.interaction import Interaction

Json = dict[str, Any]
# The frames of a body, each with its payload; None for a frame without a JSON object.
Frames = list[tuple[SentFrame, Json | None]]
Change = Callable[[Frames], Frames]


class CallPaths(msgspec.Struct, frozen=True):
    """Where the events of a dialect have the members of a call.

    Fields:
        index: which call or block an event belongs to; "" if no member says it.
        lists: the member with the list of calls; "" if there is no list.
        start: the name of the event that begins a text; "" if there is none.
        type: the member that repeats the name of the event; "" if there is none.
    """

    index: str
    id: str
    name: str
    fragment: str
    lists: str = ""
    start: str = ""
    type: str = ""


def _chat(answer: str) -> CallPaths:
    calls = f"{answer}.tool_calls"
    members = ("index", "id", "function.name", "function.arguments")
    index, call_id, name, fragment = (f"{calls}.0.{member}" for member in members)
    return CallPaths(index, call_id, name, fragment, lists=calls)


_COHERE: Final = "delta.message.tool_calls"
_BEDROCK: Final = ("start.toolUse.toolUseId", "start.toolUse.name", "delta.toolUse.input")
PATHS: Final = {
    "openai-chat": _chat("choices.0.delta"),
    "mistral": _chat("choices.0.delta"),
    "dashscope": _chat("output.choices.0.message"),
    "anthropic": CallPaths(
        "index", "content_block.id", "content_block.name", "delta.partial_json",
        start="content_block_start", type="type",
    ),
    "bedrock-converse": CallPaths("contentBlockIndex", *_BEDROCK),
    "cohere": CallPaths(
        "index", f"{_COHERE}.id", f"{_COHERE}.function.name", f"{_COHERE}.function.arguments",
        start="content-start", type="type",
    ),
    "google-interactions": CallPaths(
        "index", "step.id", "step.name", "delta.arguments", start="step.start", type="event_type"
    ),
    "openai-responses": CallPaths(
        "output_index", "item.call_id", "item.name", "delta",
        start="response.output_item.added", type="type",
    ),
    "gemini": CallPaths("", "", "", ""),
    "gemini-live": CallPaths("", "", "", ""),
    "ollama": CallPaths("", "", "", "", lists="message.tool_calls"),
}  # fmt: skip
FRAGMENTED: Final = tuple(name for name, paths in PATHS.items() if paths.index)
_OPTIONS: Final = {"mistral": {"calls": "fragments"}}


class Call(msgspec.Struct, frozen=True):
    """One call of a written answer, with its fragments of arguments."""

    id: str
    name: str
    fragments: tuple[str, ...] = ()

    @property
    def arguments(self) -> str:
        """The complete arguments."""
        return "".join(self.fragments)


FIRST: Final = Call("call_a", "get_weather", ('{"ci', 'ty": ', '"Oslo"}'))
SECOND: Final = Call("call_b", "get_time", ('{"zo', 'ne": ', '"CET"}'))
TOOLS: Final = tuple(
    {
        "name": call.name,
        "description": "",
        "parameters": {"type": "object", "properties": {key: {}}, "required": [key]},
    }
    for call, key in ((FIRST, "city"), (SECOND, "zone"))
)
_USAGE: Final = Usage(30, 40)


def answer(
    dialect: str,
    *calls: Call,
    text: Iterable[str] = (),
    finish: FinishReason | None = None,
) -> Interaction:
    """Return an answer with text and calls, as the API documents it."""
    reason = finish or (FinishReason.TOOL_CALLS if calls else FinishReason.STOP)
    deltas: list[Delta] = [TextDelta(piece) for piece in text]
    for index, call in enumerate(calls):
        deltas.append(ToolCallStart(index, call.id, call.name))
        deltas += [ArgumentsDelta(index, fragment) for fragment in call.fragments]
        deltas.append(ToolCallEnd(index))
    row = DIALECTS[dialect]
    options = row.writer_options(**_OPTIONS.get(dialect, {}))
    return row.interaction((*deltas, UsageDelta(_USAGE), Finish(reason, "")), options, tools=TOOLS)


def changed(interaction: Interaction, change: Change) -> Interaction:
    """Return `interaction` with the frames that `change` returns."""
    found = sent(interaction.body)
    assert found is not None
    frames: Frames = [(frame, value_of(frame)) for frame in found.frames]
    raw = (
        frame.raw if value is None else found.changed(frame, dumped(value, frame.data)).raw
        for frame, value in change(copy.deepcopy(frames))
    )
    return replace(interaction, body=found.head + b"".join(raw), reads=())


def with_values(interaction: Interaction, change: Callable[[Json], object]) -> Interaction:
    """Return `interaction` with each payload changed in place."""

    def each(frames: Frames) -> Frames:
        for _, value in frames:
            if value is not None:
                change(value)
        return frames

    return changed(interaction, each)


def member(value: object, path: str) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value at a path of keys and indexes; None if it is missing."""
    for key in path.split("."):
        if isinstance(value, list) and key.isdigit():
            value = value[int(key)] if int(key) < len(value) else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


def put(value: Json, path: str, new: object) -> None:
    """Set the member at `path`, if its parent exists."""
    parent, _, last = path.rpartition(".")
    holder = member(value, parent) if parent else value
    if isinstance(holder, dict):
        holder[last] = new


def with_text(interaction: Interaction, old: str, new: str) -> Interaction:
    """Return `interaction` with a text replaced in all payloads, such as an id."""

    def swap(frames: Frames) -> Frames:
        return [
            (
                frame,
                value and msgspec.json.decode(dumped(value).replace(old.encode(), new.encode())),
            )
            for frame, value in frames
        ]

    return changed(interaction, swap)


def moved_fragments(dialect: str, index: int, *, keep: int) -> Interaction:
    """Return two calls, the second with its fragments after the first `keep` at another index."""
    paths = PATHS[dialect]

    def move(frames: Frames) -> Frames:
        is_second, came = False, 0
        for _, value in frames:
            if value is None:
                continue
            if member(value, paths.name) == SECOND.name:
                is_second = True
            elif is_second and member(value, paths.fragment):
                came += 1
                if came > keep:
                    put(value, paths.index, index)
        return frames

    return changed(answer(dialect, FIRST, SECOND), move)


def without_fragment(dialect: str, lost: int) -> Interaction:
    """Return one call without its fragment `lost`, also where an event repeats the arguments."""
    paths, rest = PATHS[dialect], FIRST.arguments.replace(FIRST.fragments[lost], "", 1)

    def drop(frames: Frames) -> Iterator[tuple[SentFrame, Json | None]]:
        for frame, value in frames:
            if value is not None and member(value, paths.fragment) == FIRST.fragments[lost]:
                put(value, paths.fragment, "")
            text = dumped(value).replace(dumped(FIRST.arguments), dumped(rest))
            yield frame, msgspec.json.decode(text)

    return changed(answer(dialect, FIRST), lambda frames: list(drop(frames)))


def early(dialect: str, interaction: Interaction, *, path: str, piece: str) -> Interaction:
    """Return `interaction` with the delta `piece` before the event that begins its block."""
    paths = PATHS[dialect]

    def begins(frame: SentFrame, value: Json | None) -> bool:
        name = value is not None and member(value, paths.name) == FIRST.name
        return name if path else frame.event == paths.start

    def move(frames: Frames) -> Frames:
        start = next(at for at, pair in enumerate(frames) if begins(*pair))
        (at,) = (
            at
            for at, (frame, value) in enumerate(frames)
            if value is not None
            and (member(value, path) == piece if path else piece in str(value.get("delta")))
        )
        frames.insert(start, frames.pop(at))
        return frames

    return changed(interaction, move)


# What a client hands over: (id, name, arguments), and None for the arguments of a rejected call.
Emitted = tuple[str, str, str | None]
A: Final[Emitted] = (FIRST.id, FIRST.name, FIRST.arguments)
B: Final[Emitted] = (SECOND.id, SECOND.name, SECOND.arguments)


def rejected(call: Emitted) -> Emitted:
    """Return `call` as a client rejects it."""
    return (*call[:2], None)


def without_arguments(call: Emitted) -> Emitted:
    """Return `call` as a client executes it that lost its arguments."""
    return (*call[:2], "")


def turn(interaction: Interaction, *calls: Emitted, text: str = "") -> tuple[Delta, ...]:
    """Return the deltas of a client that hands over `calls` and `text`, and the end as it was."""
    reading = oracle_reading(interaction)
    deltas: list[Delta] = [TextDelta(text)] if text else []
    for index, (call_id, name, arguments) in enumerate(calls):
        deltas.append(ToolCallStart(index, call_id, name))
        if arguments is None:
            deltas.append(ToolCallRejected(index, ParseError("tool_use", "unusable", "")))
        else:
            deltas += [ArgumentsDelta(index, arguments)] if arguments else []
            deltas.append(ToolCallEnd(index))
    is_cut = reading.meaning is FinishReason.LENGTH
    reason = FinishReason.TOOL_CALLS if calls else FinishReason.STOP
    end = Finish(FinishReason.LENGTH if is_cut else reason, reading.finish)
    return (*deltas, UsageDelta((reading.usages or (_USAGE,))[0]), end)
