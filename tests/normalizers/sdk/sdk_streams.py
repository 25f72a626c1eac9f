"""Clean turns in a dialect, and an adapter's reading of them: cut anywhere, read lazily."""

import json
from collections.abc import Iterator, Sequence

from hypothesis import strategies as st
from msgspec.structs import replace

from harness.judging.replaying import replay
from harness.normalizers.protocol import Normalizer
from harness.results.replay import Replay
from harness.turns.arguments import same_value
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.turns.turn import Turn
from harness.wire.cuts import Chunking
from harness.wire.interaction import Interaction, Read, Request

_WORD = st.text(st.characters(exclude_categories=["Cs"], codec="utf-8"), min_size=1, max_size=6)
_VALUES = st.dictionaries(_WORD, st.none() | st.integers(-99, 99) | _WORD, max_size=3)


@st.composite
def clean_turns(
    draw: st.DrawFn, finish: str, called: str, texts: int = 3, *, usage_first: bool = False
) -> list[Delta]:
    """Draw a turn as a model says it: text, then calls in fragments, then its end.

    Args:
        draw: given by Hypothesis.
        finish: the provider's word for an end without calls.
        called: its word for one with calls.
        texts: at most so many pieces of text.
        usage_first: usage comes before the finish and not after it.
    """
    said: list[Delta] = [TextDelta(text) for text in draw(st.lists(_WORD, max_size=texts))]
    calls = draw(st.lists(_VALUES, min_size=0 if said else 1, max_size=2))
    for index, values in enumerate(calls):
        said += _call(index, json.dumps(values, ensure_ascii=draw(st.booleans())), draw)
    reason = FinishReason.TOOL_CALLS if calls else FinishReason.STOP
    usage = UsageDelta(Usage(draw(st.integers(1, 9)), draw(st.integers(1, 9))))
    end = Finish(reason, called if calls else finish)
    return [*said, usage, end] if usage_first else [*said, end, usage]


def _call(index: int, arguments: str, draw: st.DrawFn) -> Iterator[Delta]:
    at = draw(st.integers(1, len(arguments) - 1))
    yield ToolCallStart(index, f"call_{index}", draw(st.sampled_from(("get", "get_weather"))))
    yield ArgumentsDelta(index, arguments[:at])
    yield ArgumentsDelta(index, arguments[at:])
    yield ToolCallEnd(index)


def an_answer(dialect: str, events: Sequence[bytes], status: int = 200) -> Interaction:
    """Return `events` as the answer of a server, each in a read of its own."""
    kind = "text/event-stream" if status < 400 else "application/json"
    return Interaction(
        Request(),
        status,
        (("content-type", kind),),
        b"".join(events),
        tuple(Read(len(event)) for event in events),
        dialect=dialect,
    )


def replayed(
    normalizer: Normalizer, interaction: Interaction, cuts: Chunking | None = None
) -> Replay:
    """Replay an answer, by default as recorded."""
    return replay(normalizer, interaction, interaction.recorded_cuts() if cuts is None else cuts)


def with_same_arguments(turn: Turn, expected: Turn) -> Turn:
    """Return `turn` with the expected text of all arguments that have the expected value.

    A package that parses arguments returns values, and not their text.
    """
    pairs = zip(turn.tool_calls, expected.tool_calls, strict=True)
    calls = (
        replace(call, arguments=other.arguments)
        if same_value(call.arguments, other.arguments)
        else call
        for call, other in pairs
    )
    return replace(turn, tool_calls=tuple(calls))
