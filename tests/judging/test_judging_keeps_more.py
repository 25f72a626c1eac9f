"""A client that keeps more of a turn than before never has a worse outcome."""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Final

import msgspec
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.judging.judge import LoadedSubject, judge_subject
from harness.normalizers.reference import normalizer as reference
from harness.project import ClientKind
from harness.results.outcome import Outcome
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ParseError,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    UsageDelta,
)
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction
from tests.dialects.openai_chat_streams import chunk, sse
from tests.judging.judging_samples import an_interaction
from tests.judging.verdict_streams import (
    FIRST,
    FRAGMENTED,
    SECOND,
    Call,
    answer,
    moved_fragments,
    with_text,
)

_TEXT: Final = ("It ", "snows.")
_ENDS: Final = ("raises", "fails", "stops", "as sent")


class Kept(msgspec.Struct, frozen=True):
    """How much a client keeps of a turn: of each part 0 for nothing, and larger for more.

    Fields:
        calls: for each call 0 if it is dropped, 1 if it is rejected, 2 if it is as expected.
        text: how many pieces of the text are kept.
        usage: whether the numbers of tokens are kept.
        end: a position in `_ENDS`.
    """

    calls: tuple[int, ...]
    text: int
    usage: int
    end: int

    def is_part_of(self, other: "Kept", *, doubtful: bool) -> bool:
        """Return whether `other` keeps all that this client keeps, and reports each loss too.

        Args:
            other: another client.
            doubtful: the stream is not as the API documents it, so that a client may refuse it,
                and then a loss of text must be reported, too.
        """
        mine, its = ((*it.calls, it.text, it.usage, it.end) for it in (self, other))
        keeps_all = all(a <= b for a, b in zip(mine, its, strict=True))
        # A failure tells the caller that something is missing. A wrong end is not a part, and
        # "stop" is wrong only if no call was rejected.
        is_told = all(other.calls) and (other.text == len(_TEXT) or not doubtful)
        has_wrong_end = _ENDS[other.end] == "stops" and (doubtful or self.end != other.end)
        return keeps_all and not has_wrong_end and (other.is_loud or not self.is_loud or is_told)

    @property
    def is_loud(self) -> bool:
        """Whether the client tells its caller that the turn failed."""
        return _ENDS[self.end] in ("raises", "fails")


class Sent(msgspec.Struct, frozen=True):
    """A stream, and the deltas of a client that keeps everything, by part."""

    interaction: Interaction
    calls: tuple[tuple[Delta, ...], ...]
    usage: tuple[Delta, ...]
    end: Finish

    def deltas(self, kept: Kept) -> Iterator[Delta]:
        """Yield what a client emits that keeps so much."""
        yield from map(TextDelta, _TEXT[: kept.text])
        for deltas, much in zip(self.calls, kept.calls, strict=True):
            start = deltas[0]
            if much == 1 and isinstance(start, ToolCallStart):
                yield from (start, ToolCallRejected(start.index, ParseError("tool_use", "bad", "")))
            elif much:
                yield from deltas
        yield from self.usage if kept.usage else ()
        end = _ENDS[kept.end]
        if end == "raises":
            raise ValueError
        failure = StreamFailure("client", "the client reports a failure")
        stop = Finish(FinishReason.STOP, "stop")
        yield failure if end == "fails" else stop if end == "stops" else self.end


@cache
def _sent(stream: str, dialect: str) -> Sent:
    """Split what `reference` reads in a stream into parts."""
    interaction = STREAMS[stream](dialect)
    deltas = tuple(reference.normalize(interaction, iter((interaction.body,))))
    starts = [it.index for it in deltas if isinstance(it, ToolCallStart)]
    kinds = (ToolCallStart, ArgumentsDelta, ToolCallEnd, ToolCallRejected)
    calls = tuple(
        tuple(it for it in deltas if isinstance(it, kinds) and it.index == index)
        for index in starts
    )
    usage = tuple(it for it in deltas if isinstance(it, UsageDelta))
    return Sent(interaction, calls, usage, next(it for it in deltas if isinstance(it, Finish)))


_BROKEN: Final = Call(SECOND.id, SECOND.name, ('{"zo', 'ne": '))
STREAMS: Final[dict[str, Callable[[str], Interaction]]] = {
    "two calls": lambda name: answer(name, FIRST, SECOND, text=_TEXT),
    "a usable call and another": lambda name: answer(name, FIRST, _BROKEN, text=_TEXT),
    "an unusable call": lambda name: answer(name, _BROKEN, text=_TEXT),
    "a call that the limit cut": lambda name: answer(
        name, FIRST, _BROKEN, text=_TEXT, finish=FinishReason.LENGTH
    ),
    "fragments without an owner": lambda name: moved_fragments(name, 7, keep=0),
    "one call twice": lambda name: with_text(
        answer(name, FIRST, replace(FIRST, id=SECOND.id), text=_TEXT), SECOND.id, FIRST.id
    ),
    "text alone": lambda name: answer(name, text=_TEXT),
}
# The text of these streams is as in the others, but their calls have several readings.
DOUBTFUL: Final = ("fragments without an owner", "one call twice")
DIALECTS: Final = tuple(name for name in FRAGMENTED if name != "openai-responses")


def _outcome(sent: Sent, kept: Kept, kind: ClientKind) -> Outcome:
    def normalize(_interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
        for _ in reads:
            pass
        yield from sent.deltas(kept)

    client = replace(reference, name="client", normalize=normalize, streams=False, kind=kind)
    cassette = Cassette("x/y", (sent.interaction,), Origin("recorded"), model="m")
    return judge_subject(LoadedSubject(cassette), client, cuts="whole")[0].outcome


@st.composite
def _pairs(draw: st.DrawFn) -> tuple[str, str, ClientKind, Kept, Kept]:
    """Draw a stream, a client, and another client that keeps more of the stream."""
    stream, dialect = draw(st.sampled_from(tuple(STREAMS))), draw(st.sampled_from(DIALECTS))
    limits = (*[2] * len(_sent(stream, dialect).calls), len(_TEXT), 1, len(_ENDS) - 1)
    much = [draw(st.integers(0, most)) for most in limits]
    less, more = (
        Kept(tuple(each[:-3]), *each[-3:])
        for each in ([draw(st.integers(0, most)) for most in much], much)
    )
    doubtful = stream in DOUBTFUL
    assume(less.is_part_of(more, doubtful=doubtful))
    return stream, dialect, draw(st.sampled_from(("sdk", "gateway"))), less, more


@example(
    ("an unusable call", "openai-chat", "sdk", Kept((0,), 0, 0, 0), Kept((1,), 1, 1, 3))
)  # an exception that loses the text was excused, and the loss of half of it was not
@example(
    ("one call twice", "openai-chat", "gateway", Kept((0, 1), 0, 0, 0), Kept((0, 2), 0, 0, 0))
)  # the rejection of one call excused the exception
@example(
    ("fragments without an owner", "anthropic", "sdk", Kept((0, 1), 0, 0, 3), Kept((0, 2), 0, 0, 3))
)  # and the silent loss of another call
@example(("an unusable call", "openai-chat", "gateway", Kept((0,), 0, 0, 1), Kept((0,), 2, 1, 1)))
@example(("two calls", "openai-chat", "gateway", Kept((0, 0), 0, 0, 0), Kept((2, 1), 2, 1, 3)))
@given(_pairs())
def test_a_client_that_keeps_more_has_no_worse_outcome(
    pair: tuple[str, str, ClientKind, Kept, Kept],
) -> None:
    stream, dialect, kind, less, more = pair
    before, after = (_outcome(_sent(stream, dialect), kept, kind) for kept in (less, more))
    if before.conforms:
        assert after.conforms, (before, after)
    else:
        assert after.badness >= before.badness, (before, after)


@pytest.mark.parametrize("kind", ["sdk", "gateway"])
def test_a_client_that_drops_calls_silently_follows_no_failed_turn(kind: ClientKind) -> None:
    calls = [{"function": {"name": name, "arguments": "{}"}} for name in ("f", "g")]
    delta = {"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": calls}}
    body = sse(chunk(delta), chunk(finish="tool_calls"), "[DONE]")
    sent = Sent(an_interaction(body), (), (), Finish(FinishReason.TOOL_CALLS, "tool_calls"))
    assert _outcome(sent, Kept((), 0, 0, 2), kind) is Outcome.LOST_CALL
