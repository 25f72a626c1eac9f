"""Turns as they are told: what is said, the calls, the usage, the end; and their deltas.

A turn is drawn as a `Script`, in the order in which every API tells it; what some dialects
cannot say (names, ids, reasoning after a call) is left to their own tests.
"""

import itertools
from collections.abc import Iterator
from typing import Final

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from harness.fuzzing.strategies.arguments import Schema, argument_texts, words
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.turns.exact_json import join_surrogates
from harness.turns.fold import fold
from harness.turns.turn import Tool, Turn

# Each dialect writes its own word for these.
FINISHES: Final = tuple(
    Finish(reason)
    for reason in (
        FinishReason.TOOL_CALLS,
        FinishReason.STOP,
        FinishReason.LENGTH,
        FinishReason.CONTENT_FILTER,
    )
)
_ANY_TOOLS: Final = tuple(Tool(name) for name in ("get_weather", "get_time", "\u00e9"))
_MOST_TOKENS: Final = 2**40


class TurnScript(msgspec.Struct, frozen=True):
    """One turn: what is said before the calls, the calls (id, name, fragments), its end."""

    before: tuple[Delta, ...]
    calls: tuple[tuple[str, str, tuple[str, ...]], ...]
    usage: Usage | None
    finish: Finish

    def deltas(self) -> list[Delta]:
        """Return the deltas in the order of the contract."""
        usage = [] if self.usage is None else [UsageDelta(self.usage)]
        return [*self.before, *self._calls(), *usage, self.finish]

    def _calls(self) -> Iterator[Delta]:
        for index, (call_id, name, pieces) in enumerate(self.calls):
            yield ToolCallStart(index, call_id, name)
            yield from (ArgumentsDelta(index, piece) for piece in pieces)
            yield ToolCallEnd(index)


def call_ids() -> SearchStrategy[str]:
    """Return ids of calls, short and odd."""
    odd = ("call_1", "call_2", "0", "\u00e9")
    return st.sampled_from(odd) | words(surrogates=False, most=5).filter(bool)


def content_deltas() -> SearchStrategy[Delta]:
    """Return pieces of text and of reasoning, never empty, of whole characters."""
    texts = words(surrogates=False, most=8).filter(bool)
    return texts.map(TextDelta) | texts.map(ReasoningDelta)


def usages() -> SearchStrategy[Usage | None]:
    """Return counts, some of them not told."""
    counts = st.none() | st.integers(0, _MOST_TOKENS)
    told = st.builds(Usage, counts, counts)
    return st.none() | told.map(lambda usage: None if usage == Usage() else usage)


@st.composite
def fragments(draw: DrawFn, schema: Schema = True, *, most: int = 5) -> tuple[str, ...]:  # noqa: FBT002 - a JSON Schema may be `true`
    """Draw an arguments text that fits `schema`, cut into up to `most` pieces; now and then none.

    Args:
        draw: of Hypothesis.
        schema: the JSON Schema of a tool's parameters.
        most: pieces at most.
    """
    if draw(st.integers(0, 4)) == 0:
        return ()
    # Half of a surrogate pair is its escape, or nothing that a JSON text could hold.
    text = join_surrogates(draw(argument_texts(schema)))
    cuts = draw(st.lists(st.integers(1, max(1, len(text) - 1)), max_size=most - 1, unique=True))
    edges = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    return tuple(text[start:end] for start, end in itertools.pairwise(edges))


@st.composite
def turn_scripts(
    draw: DrawFn,
    finishes: tuple[Finish, ...] = FINISHES,
    *,
    tools: tuple[Tool, ...] = _ANY_TOOLS,
    most_calls: int = 3,
) -> TurnScript:
    """Draw a turn that calls some of `tools` and ends with one of `finishes`."""
    ids = draw(st.lists(call_ids(), max_size=most_calls, unique=True))
    called = [draw(st.sampled_from(tools)) for _ in ids]
    return TurnScript(
        tuple(draw(st.lists(content_deltas(), max_size=4))),
        tuple(
            (call_id, tool.name, draw(fragments(tool.parameters or True)))
            for call_id, tool in zip(ids, called, strict=True)
        ),
        draw(usages()),
        draw(st.sampled_from(finishes)),
    )


def deltas(
    finishes: tuple[Finish, ...] = FINISHES,
    *,
    tools: tuple[Tool, ...] = _ANY_TOOLS,
    most_calls: int = 3,
) -> SearchStrategy[tuple[Delta, ...]]:
    """Return the deltas of whole turns that conform; the arguments are as `scripts`."""
    told = turn_scripts(finishes, tools=tools, most_calls=most_calls)
    return told.map(lambda script: tuple(script.deltas()))


def turns(
    finishes: tuple[Finish, ...] = FINISHES,
    *,
    tools: tuple[Tool, ...] = _ANY_TOOLS,
    most_calls: int = 3,
) -> SearchStrategy[Turn]:
    """Return whole turns; the arguments are as `scripts`."""
    return deltas(finishes, tools=tools, most_calls=most_calls).map(fold)
