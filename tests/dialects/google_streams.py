"""Turns of Google's dialects, spelled by hand and drawn, read every way that a body is cut."""

import json
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st

from harness.dialects.table import DIALECTS
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.turns.fold import fold
from harness.turns.turn import Turn
from harness.wire.framing import iter_frames
from tests.dialects.openai_chat_streams import assert_protocol
from tests.replay_every_way import replay_every_way

Json = dict[str, Any]


def read_turn(dialect: str, body: bytes) -> Turn:
    """Return the turn of `body`, cut every way."""
    read = DIALECTS[dialect].read
    deltas = replay_every_way(lambda reads: tuple(read(iter_frames(reads), ())), body)
    assert_protocol(deltas)
    return fold(deltas)


def sse(*events: Json | str) -> bytes:
    """Spell events as their servers do."""
    payloads = [event if isinstance(event, str) else json.dumps(event) for event in events]
    return b"".join(f"data: {payload}\r\n\r\n".encode() for payload in payloads)


def without_ids(turn: Turn) -> Turn:
    """Return `turn` for a spelling that has no ids."""
    calls = (ToolCall("", call.name, call.arguments) for call in turn.tool_calls)
    return msgspec.structs.replace(turn, tool_calls=tuple(calls))


# What a script is made of

words = st.text(max_size=6) | st.sampled_from(
    ("\u2028", "\U0001f600", '"', "\\", "a.b", "$", "[0]", "'")
)
values = st.recursive(
    words | st.integers(-(2**70), 2**70) | st.floats(-1e9, 1e9) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
arguments = st.dictionaries(words | st.just("a"), values, max_size=3).map(
    lambda value: json.dumps(value, ensure_ascii=False)
)
texts = st.text(min_size=1, max_size=8).map(TextDelta) | st.text(min_size=1).map(ReasoningDelta)


class Script(msgspec.Struct, frozen=True):
    """One turn; each call has an id, a name, and its arguments in fragments."""

    before: list[Delta]
    calls: list[tuple[str, str, tuple[str, ...]]]
    after: list[Delta]
    usage: Usage | None
    finish: Finish

    def deltas(self) -> list[Delta]:
        """Return the deltas in the order of the contract."""
        calls: list[Delta] = []
        for index, (call_id, name, fragments) in enumerate(self.calls):
            pieces = [ArgumentsDelta(index, fragment) for fragment in fragments]
            calls += (ToolCallStart(index, call_id, name), *pieces, ToolCallEnd(index))
        usage = [] if self.usage is None else [UsageDelta(self.usage)]
        return [*self.before, *calls, *self.after, *usage, self.finish]


@st.composite
def call(draw: st.DrawFn) -> tuple[str, str, tuple[str, ...]]:
    """Draw a call; the arguments are cut anywhere, and sometimes there are none."""
    text = draw(arguments | st.just(""))
    cut = draw(st.integers(0, len(text)))
    pieces = tuple(piece for piece in (text[:cut], text[cut:]) if piece)
    return draw(st.text(min_size=1, max_size=4)), draw(st.text(min_size=1, max_size=6)), pieces


def scripts(finishes: st.SearchStrategy[Finish]) -> st.SearchStrategy[Script]:
    """Return turns that end in one of `finishes`."""
    usages = st.none() | st.builds(Usage, st.integers(0, 2**40), st.none() | st.integers(0, 2**40))
    return st.builds(
        Script,
        st.lists(texts, max_size=3),
        st.lists(call(), max_size=3, unique_by=lambda one: one[0]),
        st.lists(texts, max_size=2),
        usages,
        finishes,
    )


def spellings(kind: type[msgspec.Struct], **fixed: st.SearchStrategy[Any]) -> Any:  # noqa: ANN401 - a strategy of `kind`
    """Return a strategy for every combination of the switches of a spelling."""
    drawn = {name: _values(hint) for name, hint in get_type_hints(kind).items() if hint is not str}
    return st.builds(kind, **{**drawn, **fixed})


def _values(hint: Any) -> st.SearchStrategy[Any]:  # noqa: ANN401 - a type hint
    if get_origin(hint) is Literal:
        return st.sampled_from(get_args(hint))
    return st.booleans() if hint is bool else st.none() | st.integers(0, 3)
