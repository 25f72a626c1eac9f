"""A failing replay -> the case that a report shows: bytes, frames and deltas side by side."""

from harness.errors import StreamError
from harness.judging.cases import BODY_LIMIT, Case
from harness.judging.expectation import Expectation
from harness.judging.replaying import Limits, replay
from harness.judging.results import Emission, Replay
from harness.judging.rules.pairing import arguments_text
from harness.judging.shorten import shorten
from harness.normalizers.protocol import Normalizer
from harness.normalizers.reference import normalizer as reference
from harness.turns.calls import ParseError, ToolCall
from harness.turns.deltas import Finish, StreamFailure
from harness.turns.turn import Turn
from harness.wire.frames import Frame
from harness.wire.framing import frames as frames_of
from harness.wire.interaction import Interaction

_ROWS = 500
# So much of one frame or delta, and of one field of a turn, is enough to see what happened.
_ROW_LIMIT = 4_000
_FIELD_LIMIT = 20_000


def make_case(  # noqa: PLR0913, PLR0917 - one call site
    cell: str,
    place: int,
    interaction: Interaction,
    failing: Replay,
    expectation: Expectation,
    normalizer: Normalizer,
    limits: Limits,
) -> Case:
    """Put the failing replay beside what `reference` makes of the same reads.

    A failure that needs no cut shows under the recorded reads, where one sees what came when.
    """
    if not failing.chunking and not failing.hung:
        spread = replay(normalizer, interaction, interaction.recorded_cuts(), limits)
        if (spread.turn, spread.error, spread.hung) == (failing.turn, failing.error, failing.hung):
            failing = spread
    beside = replay(reference, interaction, failing.chunking, limits)
    frames = _frames(interaction.body)
    rows = (frames, failing.emissions, beside.emissions)
    return Case(
        cell=cell,
        interaction=place,
        body=interaction.body[:BODY_LIMIT],
        chunking=failing.chunking,
        frames=shorten(frames[:_ROWS], _ROW_LIMIT),
        deltas=_kept(failing.emissions),
        reference=_kept(beside.emissions),
        error="did not end within its limits" if failing.hung else failing.error,
        expected=shorten(expected_turn(expectation), _FIELD_LIMIT),
        judged=tuple(sorted(expectation.judged)),
        actual=shorten(failing.turn, _FIELD_LIMIT),
        cut=len(interaction.body) > BODY_LIMIT or any(len(row) > _ROWS for row in rows),
    )


def _frames(body: bytes) -> tuple[Frame, ...]:
    try:
        return tuple(frames_of([body]))
    except StreamError:
        return ()


def _kept(emissions: tuple[Emission, ...]) -> tuple[Emission, ...]:
    return shorten(emissions[:_ROWS], _ROW_LIMIT)


def expected_turn(expectation: Expectation) -> Turn:
    """Return the expectation in the shape of a turn, for a diff; what is not judged is empty."""
    calls = tuple(
        ToolCall(call.id or "", call.name, arguments_text(call), call.kind)
        for call in expectation.calls
    )
    rejected = tuple(
        ParseError("tool_use", "", rejection.snippet, rejection.id or "", rejection.name)
        for rejection in expectation.rejected
    )
    finish = None
    if expectation.finish is not None and expectation.failure is None:
        finish = Finish(expectation.finish, expectation.finish_raw)
    failure = None
    if expectation.failure is not None:
        failure = StreamFailure(expectation.failure, expectation.failure_says)
    return Turn(
        text=expectation.text,
        reasoning=expectation.reasoning,
        tool_calls=calls,
        parse_errors=rejected,
        finish=finish,
        usage=expectation.usage,
        failure=failure,
    )
