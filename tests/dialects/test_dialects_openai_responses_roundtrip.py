"""Any deltas, in any spelling of the Responses API, cut anywhere, fold to the same turn."""

import itertools
import json
from collections.abc import Iterable
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.dialects.openai_responses.read import read
from harness.dialects.openai_responses.write import write
from harness.dialects.openai_responses.writer_options import WriterOptions, possible_options
from harness.turns.arguments import same_value
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    Usage,
    UsageDelta,
)
from harness.turns.fold import fold
from harness.turns.turn import Turn
from harness.wire.framing import iter_frames
from tests.replay_every_way import replay_every_way


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
    usage: Usage
    end: Finish | StreamFailure
    spelling: WriterOptions

    def deltas(self) -> list[Delta]:
        return [*self.before, *self._calls(), *self.after, UsageDelta(self.usage), self.end]

    def _calls(self) -> list[Delta]:
        starts = [ToolCallStart(i, call.id, call.name) for i, call in enumerate(self.calls)]
        pieces = [[ArgumentsDelta(i, f) for f in c.fragments] for i, c in enumerate(self.calls)]
        ends = [ToolCallEnd(i) for i in range(len(self.calls))]
        if self.interleaved:
            return [*starts, *_alternating(pieces), *ends]
        said: list[Delta] = []
        for start, own, end in zip(starts, pieces, ends, strict=True):
            said += [start, *own, end]
        return said


def _alternating(pieces: list[list[ArgumentsDelta]]) -> list[ArgumentsDelta]:
    most = max(map(len, pieces), default=0)
    return [own[at] for at in range(most) for own in pieces if at < len(own)]


words = st.text(max_size=6) | st.sampled_from(("\u2028", "\U0001f600", '"', "\\", "\u0085"))
values = st.recursive(
    words | st.integers(-(2**70), 2**70) | st.floats(-1e9, 1e9) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=6,
)
texts = st.text(min_size=1, max_size=8).map(TextDelta) | st.text(min_size=1).map(ReasoningDelta)
counts = st.integers(0, 2**40)
ENDS: tuple[Finish | StreamFailure, ...] = (
    Finish(FinishReason.STOP, "completed"),
    Finish(FinishReason.LENGTH, "max_output_tokens"),
    Finish(FinishReason.CONTENT_FILTER, "content_filter"),
    Finish(FinishReason.OTHER, "moonlight"),
    StreamFailure("rate_limit_exceeded", "slow down"),
    StreamFailure("refusal", "I cannot."),
)


@st.composite
def fragments(draw: st.DrawFn) -> tuple[str, ...]:
    """Draw an arguments text, cut anywhere."""
    value = draw(st.dictionaries(words, values, max_size=3))
    text = json.dumps(value, ensure_ascii=draw(st.booleans()))
    cuts = draw(st.lists(st.integers(1, len(text) - 1), max_size=5, unique=True))
    return tuple(text[a:b] for a, b in itertools.pairwise([0, *sorted(cuts), len(text)]))


def _switch(name: str, hint: Any) -> st.SearchStrategy[Any]:  # noqa: ANN401 - a type hint
    """Return the values of one switch, its contract value as often as all others."""
    default = msgspec.structs.asdict(WriterOptions())[name]
    if get_origin(hint) is Literal:
        return st.just(default) | st.sampled_from(get_args(hint))
    return st.booleans() if hint is bool else st.just(default)


SWITCHES = {name: _switch(name, hint) for name, hint in get_type_hints(WriterOptions).items()}


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    ids = draw(st.lists(st.text(min_size=1, max_size=5), max_size=4, unique=True))
    names = st.sampled_from(("get_weather", "search", "\u00e9"))
    return Script(
        calls=tuple(Call(call_id, draw(names), draw(fragments())) for call_id in ids),
        interleaved=draw(st.booleans()),
        before=tuple(draw(st.lists(texts, max_size=3))),
        after=tuple(draw(st.lists(texts, max_size=2))),
        usage=draw(st.builds(Usage, counts, counts)),
        end=draw(st.sampled_from(ENDS)),
        spelling=WriterOptions(**{name: draw(switch) for name, switch in SWITCHES.items()}),
    )


def read_turn(body: bytes) -> Turn:
    def decode(reads: Iterable[bytes]) -> Turn:
        return fold(read(iter_frames(reads), ()))

    return replay_every_way(decode, body)


def _expected(script: Script) -> Turn:
    end = script.end
    if isinstance(end, Finish) and script.calls:
        of_calls = end.reason in (FinishReason.STOP, FinishReason.OTHER)
        end = Finish(FinishReason.TOOL_CALLS, end.raw) if of_calls else end
    return fold([*script.deltas()[:-1], end])


def _assert_same(turn: Turn, script: Script) -> None:
    wanted = _expected(script)
    told = possible_options(script.spelling).arguments
    calls = turn.tool_calls
    if isinstance(script.end, StreamFailure):
        assert turn.tool_calls == ()
        assert [error.id for error in turn.parse_errors] == [c.id for c in wanted.tool_calls]
    else:
        assert turn.parse_errors == ()
        assert [(c.id, c.name) for c in calls] == [(c.id, c.name) for c in wanted.tool_calls]
        for call, other in zip(calls, wanted.tool_calls, strict=True):
            same = same_value(call.arguments, other.arguments)
            assert same if told == "object" else call.arguments == other.arguments
    assert (turn.text, turn.reasoning) == (wanted.text, wanted.reasoning)
    assert turn.finish == wanted.finish
    assert turn.failure == wanted.failure


@given(scripts())
def test_what_is_written_in_any_spelling_is_read_to_the_same_turn(script: Script) -> None:
    spelling = possible_options(script.spelling)
    # An error event has no output: what only stands there was never said.
    at_the_end = "terminal-only" in (spelling.arguments, spelling.texts)
    failed = isinstance(script.end, StreamFailure) and script.end.code != "refusal"
    assume(not (at_the_end and failed and spelling.failure != "response"))
    # Nothing was ended there, and what began early may have been about to go on.
    turn = read_turn(b"".join(write(script.deltas(), script.spelling)))
    _assert_same(turn, script)
    if not failed or spelling.failure == "response":
        assert turn.usage == script.usage


@given(scripts())
def test_the_last_event_alone_is_the_same_turn_as_its_stream(script: Script) -> None:
    plain = WriterOptions(reasoning=script.spelling.reasoning)
    script = msgspec.structs.replace(script, spelling=plain)
    events = write(script.deltas(), plain)
    response = json.loads(events[-1].partition(b"data: ")[2])["response"]
    document = json.dumps(response).encode()
    turn = fold(read(iter_frames([document]), ()))
    streamed = fold(read(iter_frames([b"".join(events)]), ()))
    assert turn == streamed
