"""Any deltas, in any spelling, cut anywhere, fold to the same turn.

Where a spelling leaves nothing that tells one turn from another, `CONTRADICTIONS` says why.
"""

import itertools
import json
from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.dialects.anthropic.write import write
from harness.dialects.anthropic.writer_options import WriterOptions
from harness.turns.arguments import same_value
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
from harness.turns.fold import fold
from harness.turns.turn import Turn
from tests.dialects.anthropic_streams import read_deltas

CUT_SHORT = (FinishReason.LENGTH, FinishReason.CONTENT_FILTER)


class Call(msgspec.Struct, frozen=True):
    """A call to be written."""

    id: str
    name: str
    fragments: tuple[str, ...]


class Script(msgspec.Struct, frozen=True):
    """One turn and how it is written."""

    calls: tuple[Call, ...]
    interleaved: bool
    before: tuple[Delta, ...]
    after: tuple[Delta, ...]
    usage: Usage | None
    finish: Finish
    spelling: WriterOptions

    def deltas(self) -> list[Delta]:
        """Return the deltas in the order of the contract."""
        usage = [UsageDelta(self.usage)] if self.usage is not None else []
        return [*self.before, *self._calls(), *self.after, *usage, self.finish]

    def _calls(self) -> list[Delta]:
        starts = [ToolCallStart(i, call.id, call.name) for i, call in enumerate(self.calls)]
        pieces = [[ArgumentsDelta(i, f) for f in c.fragments] for i, c in enumerate(self.calls)]
        ends = [ToolCallEnd(index) for index in range(len(self.calls))]
        if self.interleaved:
            turns = itertools.zip_longest(*pieces)
            return [*starts, *(piece for row in turns for piece in row if piece), *ends]
        one_by_one: list[Delta] = []
        for start, own, end in zip(starts, pieces, ends, strict=True):
            one_by_one += (start, *own, end)
        return one_by_one


words = st.text(max_size=6) | st.sampled_from(("\u2028", "\u0085", "\U0001f600", '"', "\\"))
values = st.recursive(
    words | st.integers(-(2**70), 2**70) | st.floats(-1e9, 1e9) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
ids = st.sampled_from(("toolu_1", "x", "x-3", "\u00e9")) | st.text(min_size=1, max_size=5)
texts = st.text(min_size=1, max_size=8).map(TextDelta) | st.text(min_size=1).map(ReasoningDelta)
counts = st.none() | st.integers(0, 2**40)
FINISHES = (
    Finish(FinishReason.STOP, "end_turn"),
    Finish(FinishReason.STOP, "stop_sequence"),
    Finish(FinishReason.TOOL_CALLS, "tool_use"),
    Finish(FinishReason.LENGTH, "max_tokens"),
    Finish(FinishReason.LENGTH, "model_context_window_exceeded"),
    Finish(FinishReason.CONTENT_FILTER, "refusal"),
    Finish(FinishReason.OTHER, "pause_turn"),
    Finish(FinishReason.OTHER, "Something"),
)


@st.composite
def fragments(draw: st.DrawFn) -> tuple[str, ...]:
    """Draw an input, cut anywhere; sometimes none at all."""
    if draw(st.integers(0, 4)) == 0:
        return ()
    value = draw(st.dictionaries(words, values, max_size=3))
    text = json.dumps(value, ensure_ascii=draw(st.booleans()))
    cuts = draw(st.lists(st.integers(1, max(1, len(text) - 1)), max_size=5, unique=True))
    edges = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    return tuple(text[start:end] for start, end in itertools.pairwise(edges))


FREE_TEXT: dict[str, tuple[str, ...]] = {
    "comment": ("", " keep-alive", "{}"),
    "model": ("claude-sonnet-4-5",),
    "message_id": ("msg_1", ""),
}


def _switch(name: str, hint: Any) -> st.SearchStrategy[Any]:  # noqa: ANN401 - a type hint
    """Return the values of one switch, its contract value as often as all others."""
    options: tuple[Any, ...] = get_args(hint) if get_origin(hint) is Literal else (False, True)
    options = FREE_TEXT.get(name, options)
    return st.just(msgspec.structs.asdict(WriterOptions())[name]) | st.sampled_from(options)


SWITCHES = {name: _switch(name, hint) for name, hint in get_type_hints(WriterOptions).items()}


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    some_ids = draw(st.lists(ids, max_size=4, unique=True))
    names = st.sampled_from(("get", "get_weather", "\u00e9"))
    return Script(
        calls=tuple(Call(call_id, draw(names), draw(fragments())) for call_id in some_ids),
        interleaved=draw(st.booleans()),
        before=tuple(draw(st.lists(texts, max_size=2))),
        after=tuple(draw(st.lists(texts, max_size=1))),
        usage=draw(st.none() | st.builds(Usage, counts, counts)),
        finish=draw(st.sampled_from(FINISHES)),
        spelling=WriterOptions(**{name: draw(switch) for name, switch in SWITCHES.items()}),
    )


CONTRADICTIONS: dict[str, Callable[[Script, WriterOptions], bool]] = {
    "several blocks are open, and no index says whose each fragment is": lambda c, s: (
        c.interleaved and len(c.calls) > 1 and s.index in ("zero", "absent") and s.whole == "no"
    ),
    "the model was stopped before the input began, or there is none": lambda c, s: (
        c.finish.reason in (*CUT_SHORT, FinishReason.OTHER)
        and not (s.block_stop and s.start_input == "empty")
        and not all("".join(call.fragments).strip("{}") for call in c.calls)
    ),
    "the model was stopped inside the last block, a call": lambda c, s: (
        c.finish.reason in CUT_SHORT
        and bool(c.calls)
        and (not c.after or (s.text_at == "no-start" and s.whole == "no"))
    ),
}


def _assert_same(turn: Turn, wanted: Turn) -> None:
    assert turn.parse_errors == ()
    assert [(c.id, c.name) for c in turn.tool_calls] == [(c.id, c.name) for c in wanted.tool_calls]
    for call, other in zip(turn.tool_calls, wanted.tool_calls, strict=True):
        assert same_value(call.arguments or "{}", other.arguments or "{}")
    empty = {"tool_calls": (), "parse_errors": ()}
    assert msgspec.structs.replace(turn, **empty) == msgspec.structs.replace(wanted, **empty)


def _wanted(script: Script) -> Turn:
    """Return the turn; a count that nobody gave is 0, and calls decide an open end."""
    turn = fold(script.deltas())
    finish = script.finish
    if script.calls and finish.reason in (FinishReason.STOP, FinishReason.OTHER):
        finish = Finish(FinishReason.TOOL_CALLS, finish.raw)
    given = turn.usage or Usage()
    usage = Usage(given.input_tokens or 0, given.output_tokens or 0)
    return msgspec.structs.replace(turn, finish=finish, usage=usage)


@given(scripts())
def test_what_is_written_in_any_spelling_is_read_to_the_same_turn(script: Script) -> None:
    assume(not any(holds(script, script.spelling) for holds in CONTRADICTIONS.values()))
    body = b"".join(write(script.deltas(), script.spelling))
    _assert_same(fold(read_deltas(body)), _wanted(script))


@given(scripts())
def test_fragments_keep_the_text_of_the_arguments(script: Script) -> None:
    spelling = msgspec.structs.replace(script.spelling, input="empty-first", whole="no")
    assume(not any(holds(script, spelling) for holds in CONTRADICTIONS.values()))
    turn = fold(read_deltas(b"".join(write(script.deltas(), spelling))))
    for call, written in zip(turn.tool_calls, script.calls, strict=True):
        assert call.arguments == "".join(written.fragments) or not written.fragments


@given(scripts())
def test_the_whole_message_is_read_to_the_same_turn_as_its_stream(script: Script) -> None:
    plain = WriterOptions()
    streamed = fold(read_deltas(b"".join(write(script.deltas(), plain))))
    for whole in ("document", "in-start"):
        spelling = msgspec.structs.replace(plain, whole=whole)
        at_once = fold(read_deltas(b"".join(write(script.deltas(), spelling))))
        names = [(e.id, e.name) for e in at_once.parse_errors]
        assert names == [(error.id, error.name) for error in streamed.parse_errors]
        errors = {"parse_errors": ()}
        _assert_same(
            msgspec.structs.replace(at_once, **errors), msgspec.structs.replace(streamed, **errors)
        )
