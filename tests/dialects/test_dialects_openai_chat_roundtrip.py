"""Any deltas, in any spelling, cut anywhere, fold to the same turn.

What a switch really takes away is taken from the expectation too (`_left`); where two
switches leave nothing that tells one turn from another, `CONTRADICTIONS` says why.
"""

import itertools
import json
from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.dialects.openai_chat.write import write
from harness.dialects.openai_chat.writer_options import WriterOptions
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
from harness.turns.json_prefix import PrefixState, prefix_state
from harness.turns.turn import Turn
from tests.replay_every_way import read_deltas

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
        ends = [ToolCallEnd(index) for index in range(len(self.calls))]
        return [*self.before, *self._calls(ends), *self.after, *usage, self.finish]

    def _calls(self, ends: list[ToolCallEnd]) -> list[Delta]:
        starts = [ToolCallStart(i, call.id, call.name) for i, call in enumerate(self.calls)]
        pieces = [[ArgumentsDelta(i, f) for f in c.fragments] for i, c in enumerate(self.calls)]
        if not self.interleaved:
            each = zip(starts, pieces, ends, strict=True)
            one_by_one: list[Delta] = []
            for start, own, end in each:
                one_by_one += (start, *own, end)
            return one_by_one
        most = max(map(len, pieces), default=0)
        turns = [own[at] for at in range(most) for own in pieces if at < len(own)]
        return [*starts, *turns, *ends]


# What a script is made of

words = st.text(max_size=6) | st.sampled_from(
    ("\u2028", "\u0085", "\U0001f600", '"', "\\", "\\u00e9")
)
values = st.recursive(
    words | st.integers(-(2**70), 2**70) | st.floats(-1e9, 1e9) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
objects: st.SearchStrategy[dict[str, Any]] = st.dictionaries(
    words | st.just("a"), values, max_size=3
) | st.just({})
ids = st.sampled_from(("call_1", "call_2", "0", "x", "x-3", "\u00e9")) | st.text(
    min_size=1, max_size=5
)
texts = st.text(min_size=1, max_size=8).map(TextDelta) | st.text(min_size=1).map(ReasoningDelta)
FINISHES = (
    Finish(FinishReason.STOP, "stop"),
    Finish(FinishReason.STOP, "end_turn"),
    Finish(FinishReason.TOOL_CALLS, "tool_calls"),
    Finish(FinishReason.TOOL_CALLS, "function_call"),
    Finish(FinishReason.LENGTH, "length"),
    Finish(FinishReason.LENGTH, "max_tokens"),
    Finish(FinishReason.CONTENT_FILTER, "content_filter"),
    Finish(FinishReason.OTHER, "eos"),
    Finish(FinishReason.OTHER, "Malformed"),
)
counts = st.none() | st.integers(0, 2**40)


@st.composite
def fragments(draw: st.DrawFn) -> tuple[str, ...]:
    """Draw an arguments text, cut anywhere; sometimes none at all."""
    if draw(st.integers(0, 4)) == 0:
        return ()
    separators = draw(st.sampled_from(((",", ":"), (", ", ": "))))
    text = json.dumps(draw(objects), ensure_ascii=draw(st.booleans()), separators=separators)
    cuts = draw(st.lists(st.integers(1, max(1, len(text) - 1)), max_size=5, unique=True))
    edges = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    return tuple(text[start:end] for start, end in itertools.pairwise(edges))


FREE_TEXT: dict[str, tuple[str, ...]] = {
    "comment": ("", " keep-alive", "{}"),
    "event_name": ("", "message", "chunk"),
    "model": ("gpt-4o-mini",),
    "response_id": ("chatcmpl-1", ""),
}


def _switch(name: str, hint: Any) -> st.SearchStrategy[Any]:  # noqa: ANN401 - a type hint
    """Return the values of one switch, its contract value as often as all others."""
    default = msgspec.structs.asdict(WriterOptions())[name]
    if get_origin(hint) is Literal:
        options: tuple[Any, ...] = get_args(hint)
    elif hint is bool:
        options = (False, True)
    elif hint is str:
        options = FREE_TEXT[name]
    else:
        options = {"name_pieces": (1, 2, 3, 5), "choice": (0, None, 3)}[name]
    return st.just(default) | st.sampled_from(options)


SWITCHES = {name: _switch(name, hint) for name, hint in get_type_hints(WriterOptions).items()}


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    some_ids = draw(st.lists(ids, max_size=4, unique=True))
    names = st.sampled_from(TOOLS)
    return Script(
        calls=tuple(Call(call_id, draw(names), draw(fragments())) for call_id in some_ids),
        interleaved=draw(st.booleans()),
        before=tuple(draw(st.lists(texts, max_size=2))),
        after=tuple(draw(st.lists(texts, max_size=1))),
        usage=draw(st.none() | st.builds(Usage, counts, counts)),
        finish=draw(st.sampled_from(FINISHES)),
        spelling=WriterOptions(**{name: draw(switch) for name, switch in SWITCHES.items()}),
    )


# What contradicts what


def _without_index(spelling: WriterOptions) -> bool:
    return spelling.index in ("absent", "null") and spelling.where != "legacy"


def _indexes_say_nothing(spelling: WriterOptions) -> bool:
    return _without_index(spelling) or spelling.index == "zero"


def _without_ids(spelling: WriterOptions) -> bool:
    return spelling.first_id != "repeated"


def _at_once(spelling: WriterOptions) -> bool:
    return spelling.one_chunk or spelling.where == "message"


def _neighbours(script: Script) -> list[tuple[Call, Call]]:
    return list(zip(script.calls, script.calls[1:], strict=False))


def _can_grow(name: str) -> bool:
    return any(tool != name and tool.startswith(name) for tool in TOOLS)


def _two_readings(script: Script) -> bool:
    def prefixes(call: Call) -> str:
        return "".join("".join(call.fragments[: at + 1]) for at in range(len(call.fragments)))

    return any(
        len(call.fragments) > 1 and prefix_state(prefixes(call)) is PrefixState.PREFIX
        for call in script.calls
    )


CONTRADICTIONS: dict[str, Callable[[Script, WriterOptions], bool]] = {
    "nothing says that the turn ended": lambda _, s: s.finish == "absent" and not s.done,
    "nothing at all was said, not even the end": lambda c, s: (
        s.finish == "absent" and not (c.calls or c.before or c.after)
    ),
    "the old field holds one call": lambda c, s: s.where == "legacy" and len(c.calls) > 1,
    "fragments of several calls alternate, and neither index nor id says whose each is": (
        lambda c, s: (
            c.interleaved
            and len(c.calls) > 1
            and not _at_once(s)
            and _indexes_say_nothing(s)
            and (_without_ids(s) or s.later_id != "repeated")
        )
    ),
    "without an index an unknown id opens a call, so it cannot change within one": (
        lambda c, s: _without_index(s) and s.later_id == "changed" and bool(c.calls)
    ),
    "without an index a first id that comes late, beside the name, opens another call": (
        lambda _, s: (
            _without_index(s)
            and _without_ids(s)
            and s.later_id == "repeated"
            and (s.later_name == "repeated" or s.name_pieces > 1)
        )
    ),
    "neither index nor ids, and the same name again: a repeated name or another call": (
        lambda c, s: (
            _indexes_say_nothing(s)
            and _without_ids(s)
            and any(one.name == two.name for one, two in _neighbours(c))
        )
    ),
    "neither index nor ids, and names in pieces: a piece of this name or the next one": (
        lambda c, s: (
            _indexes_say_nothing(s) and _without_ids(s) and s.name_pieces > 1 and len(c.calls) > 1
        )
    ),
    "neither index nor ids, no arguments, and a name that others begin with: a piece of one": (
        lambda c, s: (
            _indexes_say_nothing(s)
            and _without_ids(s)
            and any(not one.arguments and _can_grow(one.name) for one, _ in _neighbours(c))
        )
    ),
    "another id with the same name before any argument: a changed id or another call": (
        lambda c, s: (
            s.index == "zero"
            and any(
                one.name == two.name and (not one.arguments or (c.interleaved and not _at_once(s)))
                for one, two in _neighbours(c)
            )
        )
    ),
    "a new id and a new name open a call, so a piece of a name cannot have a new id": (
        lambda _, s: s.name_pieces > 1 and s.later_id == "changed"
    ),
    "a new id, the same name and whole arguments after whole arguments are another call": (
        lambda _, s: (
            s.later_id == "changed"
            and s.later_name == "repeated"
            and s.arguments in ("whole-again", "placeholder-first")
        )
    ),
    "the limit stopped a call before its arguments began, or it has none": (
        lambda c, _: (
            c.finish.reason not in (FinishReason.STOP, FinishReason.TOOL_CALLS)
            and any(not call.arguments for call in c.calls)
        )
    ),
    "cumulative fragments that are the start of one object when they are appended": (
        lambda c, s: s.arguments == "cumulative" and not _at_once(s) and _two_readings(c)
    ),
}


def _contradiction(script: Script) -> str:
    found = (why for why, holds in CONTRADICTIONS.items() if holds(script, script.spelling))
    return next(found, "")


# What must come out


def _left(script: Script) -> Turn:
    """Return the turn without what the spelling takes away."""
    finish = script.finish
    if script.spelling.finish == "absent":
        finish = Finish(FinishReason.STOP, "")
    if script.spelling.finish == "then-stop" and finish.reason in (
        FinishReason.STOP,
        FinishReason.OTHER,
    ):
        finish = Finish(FinishReason.STOP, "stop")
    if script.calls and finish.reason in (FinishReason.STOP, FinishReason.OTHER):
        finish = Finish(FinishReason.TOOL_CALLS, finish.raw)
    return fold([*script.deltas()[:-1], finish])


def _assert_same(turn: Turn, wanted: Turn, spelling: WriterOptions) -> None:
    assert turn.parse_errors == ()
    assert [call.name for call in turn.tool_calls] == [call.name for call in wanted.tool_calls]
    for call, other in zip(turn.tool_calls, wanted.tool_calls, strict=True):
        if spelling.arguments == "object":
            assert same_value(call.arguments, other.arguments)
        else:
            assert call.arguments == other.arguments
    found_ids = [call.id for call in turn.tool_calls]
    assert all(found_ids)
    assert len(set(found_ids)) == len(found_ids)
    if not _without_ids(spelling) and spelling.where != "legacy":
        assert found_ids == [call.id for call in wanted.tool_calls]
    empty = {"tool_calls": (), "parse_errors": ()}
    assert msgspec.structs.replace(turn, **empty) == msgspec.structs.replace(wanted, **empty)


@given(scripts())
def test_what_is_written_in_any_spelling_is_read_to_the_same_turn(script: Script) -> None:
    assume(not _contradiction(script))
    body = b"".join(write(script.deltas(), script.spelling))
    _assert_same(fold(read_deltas(body, tools=TOOLS)), _left(script), script.spelling)


@given(scripts())
def test_with_ids_indexes_and_an_end_no_other_switch_is_excluded(script: Script) -> None:
    plain = {"index": "kept", "first_id": "repeated", "later_id": "absent", "finish": "own-chunk"}
    spelling = msgspec.structs.replace(script.spelling, **plain, where="delta", done=True)
    script = msgspec.structs.replace(script, spelling=spelling)
    assume("cumulative" not in _contradiction(script) and "limit" not in _contradiction(script))
    assert _contradiction(script) == ""
