"""Turns to be written in a dialect and read back: what is drawn, and how results are compared."""

import itertools
import json
from typing import Any

import msgspec
from hypothesis import strategies as st

from harness.dialects.table import DIALECTS
from harness.turns.arguments import same_value
from harness.turns.deltas import (
    DECIDED_BY_CALLS,
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
from harness.turns.fold import fold
from harness.turns.turn import Turn
from tests.dialects.openai_chat_streams import assert_protocol
from tests.replay_every_way import read_every_way

# Some are prefixes of others, so that a name can only be told from a piece of one by rule.
TOOLS = ("get", "get_weather", "get_weather_now", "search", "send_mail")


class Call(msgspec.Struct, frozen=True):
    """A call to be written."""

    id: str
    name: str
    fragments: tuple[str, ...]

    @property
    def arguments(self) -> str:
        return "".join(self.fragments)


class Script(msgspec.Struct, frozen=True):
    """One turn to be written; the fragments of interleaved calls alternate."""

    before: tuple[Delta, ...]
    calls: tuple[Call, ...]
    interleaved: bool
    after: tuple[Delta, ...]
    usage: Usage | None
    finish: Finish

    def deltas(self) -> list[Delta]:
        """Return the deltas in the order of the contract."""
        usage = [UsageDelta(self.usage)] if self.usage is not None else []
        return [*self.before, *self._calls(), *self.after, *usage, self.finish]

    def _calls(self) -> list[Delta]:
        starts = [ToolCallStart(i, call.id, call.name) for i, call in enumerate(self.calls)]
        pieces = [[ArgumentsDelta(i, f) for f in c.fragments] for i, c in enumerate(self.calls)]
        ends = [ToolCallEnd(index) for index in range(len(self.calls))]
        if self.interleaved:
            rounds = itertools.zip_longest(*pieces)
            return [*starts, *(piece for row in rounds for piece in row if piece), *ends]
        one_by_one: list[Delta] = []
        for start, own, end in zip(starts, pieces, ends, strict=True):
            one_by_one += (start, *own, end)
        return one_by_one

    def text(self, kind: type[TextDelta | ReasoningDelta]) -> str:
        """Return the text, or the reasoning, of the turn."""
        said = (*self.before, *self.after)
        return "".join(delta.text for delta in said if isinstance(delta, kind))


_words = st.text(max_size=6) | st.sampled_from(
    ("\u2028", "\u0085", "\U0001f600", '"', "\\", "\\u00e9", "a.b", "$", "[0]", "'")
)
_values = st.recursive(
    _words | st.integers(-(2**70), 2**70) | st.floats(-1e9, 1e9) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=3),
    max_leaves=6,
)
_objects: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    _words | st.just("a"), _values, max_size=3
) | st.just({})
_ids = st.sampled_from(("call_1", "call_2", "0", "x", "x-3", "\u00e9")) | st.text(
    min_size=1, max_size=5
)
_text = st.text(min_size=1, max_size=8).map(TextDelta)
_prose = _text | st.text(min_size=1, max_size=8).map(ReasoningDelta)
_counts = st.none() | st.integers(0, 2**40)


@st.composite
def _fragments(draw: st.DrawFn) -> tuple[str, ...]:
    """Draw an arguments text, cut anywhere; sometimes none at all."""
    if draw(st.integers(0, 4)) == 0:
        return ()
    separators = draw(st.sampled_from(((",", ":"), (", ", ": "))))
    text = json.dumps(draw(_objects), ensure_ascii=draw(st.booleans()), separators=separators)
    cuts = draw(st.lists(st.integers(1, max(1, len(text) - 1)), max_size=5, unique=True))
    edges = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    return tuple(text[start:end] for start, end in itertools.pairwise(edges))


@st.composite
def scripts(
    draw: st.DrawFn,
    finishes: tuple[Finish, ...],
    *,
    text_only: bool = False,
    interleaves: bool = True,
) -> Script:
    """Draw a turn that an API can express."""
    prose = _text if text_only else _prose
    call_ids = [] if text_only else draw(st.lists(_ids, max_size=4, unique=True))
    names = st.sampled_from(TOOLS)
    return Script(
        before=tuple(draw(st.lists(prose, max_size=2))),
        calls=tuple(Call(call_id, draw(names), draw(_fragments())) for call_id in call_ids),
        interleaved=interleaves and draw(st.booleans()),
        after=tuple(draw(st.lists(prose, max_size=2))),
        usage=draw(st.none() | st.builds(Usage, _counts, _counts).filter(lambda it: it != Usage())),
        finish=draw(st.sampled_from(finishes)),
    )


def expected_turn(script: Script, finish: Finish | None = None) -> Turn:
    """Return the turn of `script`; calls decide what an end without a clear reason means."""
    finish = finish or script.finish
    if script.calls and finish.reason in DECIDED_BY_CALLS:
        finish = Finish(FinishReason.TOOL_CALLS, finish.raw)
    return fold([*script.deltas()[:-1], finish])


def read_deltas(dialect: str, body: bytes) -> tuple[Delta, ...]:
    """Return the deltas of `body`, the same for every chunking."""
    return read_every_way(lambda frames: DIALECTS[dialect].read(frames, TOOLS), body, tail=b"")


def read_turn(dialect: str, body: bytes) -> Turn:
    """Return the turn of `body`, cut every way."""
    deltas = read_deltas(dialect, body)
    assert_protocol(deltas)
    return fold(deltas)


def assert_same(turn: Turn, expected: Turn, *, ids: bool = True, text: bool = False) -> None:
    """Compare two turns without rejected calls.

    Args:
        turn: as it was read.
        expected: what it must be.
        ids: whether the ids of calls are those that were written, else they are only unique.
        text: whether arguments keep their text, else only their value.
    """
    assert turn.parse_errors == ()
    assert [call.name for call in turn.tool_calls] == [call.name for call in expected.tool_calls]
    for call, other in zip(turn.tool_calls, expected.tool_calls, strict=True):
        if text and other.arguments:
            assert call.arguments == other.arguments
        assert same_value(call.arguments or "{}", other.arguments or "{}")
    found = [call.id for call in turn.tool_calls]
    assert all(found)
    assert len(set(found)) == len(found)
    if ids:
        assert found == [call.id for call in expected.tool_calls]
    # The options of a writer may add sealed data to a turn that says nothing of it.
    rest = {"tool_calls": ()} | ({} if expected.sealed else {"sealed": ()})
    assert msgspec.structs.replace(turn, **rest) == msgspec.structs.replace(expected, **rest)
