"""Turns to be written in a dialect and read back, and how they are read: cut every way."""

import itertools
import json
from collections.abc import Iterable
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st

from harness.dialects.table import DIALECTS
from harness.turns.arguments import same_value
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    ReasoningDelta,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.turns.fold import fold
from harness.turns.surrogates import join_surrogates
from harness.turns.turn import Turn
from harness.wire.framing import frames
from tests.dialects.openai_chat_streams import assert_protocol
from tests.replay_every_way import replay_every_way


class Script(msgspec.Struct, frozen=True):
    """One turn: what is said before the calls, the calls (id, name, fragments), its end."""

    before: tuple[Delta, ...]
    calls: tuple[tuple[str, str, tuple[str, ...]], ...]
    usage: Usage | None
    finish: Finish

    def deltas(self) -> list[Delta]:
        """Return the deltas in the order of the contract."""
        usage = [] if self.usage is None else [UsageDelta(self.usage)]
        return [*self.before, *self._calls(), *usage, self.finish]

    def _calls(self) -> Iterable[Delta]:
        for index, (call_id, name, fragments) in enumerate(self.calls):
            yield ToolCallStart(index, call_id, name)
            yield from (ArgumentsDelta(index, fragment) for fragment in fragments)
            yield ToolCallEnd(index)


def read_deltas(dialect: str, body: bytes) -> tuple[Delta, ...]:
    """Return the deltas of `body`, the same for every chunking."""
    return replay_every_way(
        lambda reads: tuple(DIALECTS[dialect].read(frames(reads), ())), body, tail=b""
    )


def read_turn(dialect: str, body: bytes) -> Turn:
    """Return the turn of `body`, cut every way."""
    deltas = read_deltas(dialect, body)
    assert_protocol(deltas)
    return fold(deltas)


def assert_same(turn: Turn, wanted: Turn, *, ids: bool = True) -> None:
    """Compare by what a call means; made-up ids need only be unique."""
    assert turn.parse_errors == ()
    assert [call.name for call in turn.tool_calls] == [call.name for call in wanted.tool_calls]
    for call, other in zip(turn.tool_calls, wanted.tool_calls, strict=True):
        assert same_value(call.arguments, other.arguments)
    found = [call.id for call in turn.tool_calls]
    assert all(found)
    assert len(set(found)) == len(found)
    if ids:
        assert found == [call.id for call in wanted.tool_calls]
    assert msgspec.structs.replace(turn, tool_calls=()) == msgspec.structs.replace(
        wanted, tool_calls=()
    )


words = st.text(max_size=6) | st.sampled_from(
    ("\u2028", "\u0085", "\U0001f600", '"', "\\", "\\u00e9", "\ud83d", "\n")
)
values = st.recursive(
    words | st.integers(-(2**70), 2**70) | st.floats(-1e9, 1e9) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
clean = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
objects = st.dictionaries(clean, values, max_size=3)
ids = st.sampled_from(("call_1", "call_2", "0", "\u00e9")) | clean.filter(bool)
texts = st.text(min_size=1, max_size=8)
says = texts.map(TextDelta) | texts.map(ReasoningDelta)
counts = st.none() | st.integers(0, 2**40)


@st.composite
def fragments(draw: st.DrawFn) -> tuple[str, ...]:
    """Draw an arguments text, cut anywhere; sometimes none at all."""
    if draw(st.integers(0, 4)) == 0:
        return ()
    separators = draw(st.sampled_from(((",", ":"), (", ", ": "))))
    value, ascii_only = draw(objects), draw(st.booleans())
    # Half of a surrogate pair is its escape, or nothing that a JSON text could hold.
    text = join_surrogates(json.dumps(value, ensure_ascii=ascii_only, separators=separators))
    cuts = draw(st.lists(st.integers(1, max(1, len(text) - 1)), max_size=4, unique=True))
    edges = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    return tuple(text[start:end] for start, end in itertools.pairwise(edges))


@st.composite
def scripts(draw: st.DrawFn, finishes: tuple[Finish, ...]) -> Script:
    """Draw a turn that ends with one of `finishes`."""
    some = draw(st.lists(ids, max_size=3, unique=True))
    names = st.sampled_from(("get_weather", "get_time", "\u00e9"))
    usage = draw(st.none() | st.builds(Usage, counts, counts))
    return Script(
        tuple(draw(st.lists(says, max_size=4))),
        tuple((call_id, draw(names), draw(fragments())) for call_id in some),
        None if usage == Usage() else usage,
        draw(st.sampled_from(finishes)),
    )


def spellings(kind: Any, **free: tuple[str, ...]) -> st.SearchStrategy[Any]:  # noqa: ANN401 - a spelling's class
    """Draw a spelling of `kind`, each switch on its own; `free` are those that are text."""
    return st.builds(kind, **{n: _switch(h, free.get(n)) for n, h in get_type_hints(kind).items()})


def _switch(hint: Any, free: tuple[str, ...] | None) -> st.SearchStrategy[Any]:  # noqa: ANN401 - a type hint
    if get_origin(hint) is Literal:
        return st.sampled_from(get_args(hint))
    return st.booleans() if hint is bool else st.sampled_from(free or ("x",))
