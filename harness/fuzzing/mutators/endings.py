"""Define mutators that truncate a body, add an error, or replace it by something else.

A client must not execute an incomplete call, and must report the failure.
"""

import gzip
from collections.abc import Iterator
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from msgspec.structs import replace

from harness.dialects.table import DIALECTS
from harness.fuzzing.mutators.mutator import MutatedInput, Mutation, at_place, mutator, with_body
from harness.fuzzing.mutators.rewriting import Deltas, rewriting
from harness.fuzzing.mutators.sent import DONE, Sent, SentFrame, on_frames, sent
from harness.turns.deltas import Finish, FinishReason, StreamFailure, UsageDelta
from harness.wire.interaction import Ended, Interaction

CUT: Final = "cut-short"
GLUED: Final = "error-glued"
_GLUED_ERROR: Final = b'{"error": {"message": "The server had an error", "type": "server_error"}}'


# How the network may end a truncated body: a proxy ends it like a complete one.
_ENDS: Final[tuple[Ended, ...]] = ("complete", "truncated")


def cut_after(interaction: Interaction, at: int, ended: Ended) -> tuple[Interaction, str]:
    """Return `interaction` with only the first `at` bytes of its body, and a description.

    A cut inside a line end shows nothing about a client. So this does not split a CRLF, and leaves
    out a CR at the end, because a parser may wait for the LF that can follow.
    """
    body = interaction.body
    at += body[at - 1 : at + 1] == b"\r\n"
    at -= body[at - 1 : at] == b"\r"
    cut = replace(with_body(interaction, body[:at]), ended=ended)
    breaks = ", where the connection breaks" if cut.broken else ""
    return cut, f"after byte {at} of {len(body)}{breaks}"


def glued_after(interaction: Interaction, at: int, error: bytes) -> tuple[Interaction, str]:
    """Return `interaction` with `error` after the first `at` bytes, and a description."""
    return with_body(interaction, interaction.body[:at] + error), f"after byte {at}"


def truncated_inputs(interaction: Interaction) -> Iterator[MutatedInput]:
    """Yield `interaction` truncated after each byte: alone, and with a gateway's error after it.

    How a parser fails can depend on the exact byte, so this tries each one. After every second
    byte, the connection breaks. Only inputs for APIs without an event for errors have the error.
    """
    has_glued = interaction.dialect in _ERRORS_IN_EVENTS
    frames = sent(interaction.body)
    is_sse = frames is not None and frames.framing == "sse"
    error = b"data: " + _GLUED_ERROR + b"\n\n" if is_sse else _GLUED_ERROR + b"\n"
    for at in range(len(interaction.body)):
        glued = glued_after(interaction, at, error)
        cut = cut_after(interaction, at, _ENDS[at % 2])
        for name, (changed, how) in ((CUT, cut), (GLUED, glued))[: 1 + has_glued]:
            step = Mutation(name, how, (at, len(interaction.body) - at))
            yield MutatedInput(changed, (step,), preserving=False)


_ERRORS: Final = (
    b'{"error": {"message": "The server had an error", "type": "server_error", "code": 500}}',
    b'{"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}',
    b'{"error": "overloaded"}',
)
# Other APIs have a kind of event for errors, which the step `failed` makes.
_ERRORS_IN_EVENTS: Final = (
    *(row.name for row in DIALECTS.values() if row.done == "sent"),
    "gemini",
    "ollama",
)
_FAILURES: Final = (
    StreamFailure("server_error", "The server had an error"),
    StreamFailure("overloaded_error", "Überlastet: 请稍后再试"),
    StreamFailure("interrupted"),
    StreamFailure("refusal", "I cannot help with that."),  # the last, as `_failed` leaves it out
)
_PAGES: Final = (
    b"<html><body>502 Bad Gateway</body></html>",
    b"404 page not found",
    b'{"detail": "Not authenticated"}',
    b"",
    b"data: [DONE]\n\n",
    b": keep-alive\n\n",
)
_STATUSES: Final = (500, 429, 400, 529)


@at_place(mutator(CUT))
def _cut(draw: DrawFn, interaction: Interaction, at: int) -> tuple[Interaction, str]:
    return cut_after(interaction, at, draw(st.sampled_from(_ENDS)))


@mutator("cut-between")
def _cut_between(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
    frames = sent(interaction.body)
    if frames is None or not frames.payload_indexes():
        return None
    at = draw(st.sampled_from(frames.payload_indexes()))
    size = len(frames.head) + sum(len(frame.raw) for frame in frames.frames[:at])
    return cut_after(interaction, size, draw(st.sampled_from(_ENDS)))


@mutator("frame-dropped")
@on_frames()
def _dropped(draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    at = draw(st.sampled_from(frames.payload_indexes()))
    return frames.put(at), f"frame {at} of {len(frames.frames)}"


@mutator("frame-duplicated")
@on_frames()
def _duplicated(draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    at = draw(st.sampled_from(frames.payload_indexes()))
    frame = frames.frames[at]
    return frames.put(at, frame, frame), f"frame {at} of {len(frames.frames)}"


@mutator("frames-swapped")
@on_frames(applies=lambda frames: frames.frames[1:])
def _swapped(draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    at = draw(st.integers(0, len(frames.frames) - 2))
    one, two = frames.frames[at : at + 2]
    if one.raw == two.raw:
        return None
    return frames.put(at, two).put(at + 1, one), f"frames {at} and {at + 1}"


@at_place(mutator(GLUED, dialects=_ERRORS_IN_EVENTS))
def _error_glued(draw: DrawFn, interaction: Interaction, at: int) -> tuple[Interaction, str]:
    """Cut the body at a byte, and append an error of a gateway to the incomplete frame."""
    error = draw(st.sampled_from(_ERRORS))
    framed = draw(st.sampled_from((error, b"data: " + error + b"\n\n", b"\n" + error + b"\n")))
    return glued_after(interaction, at, framed)


@mutator("error-frame", dialects=_ERRORS_IN_EVENTS)
@on_frames(applies=lambda frames: frames.framing != "messages" and frames.payload_indexes())
def _error_frame(draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    """Insert an error in the common JSON format between two frames; the stream may end there."""
    at = draw(st.sampled_from(frames.payload_indexes()))
    error = frames.made(draw(st.sampled_from(_ERRORS)))
    if draw(st.booleans()):
        return frames.inserted(at, error), f"before frame {at}"
    kept: tuple[SentFrame, ...] = (*frames.frames[:at], error)
    return replace(frames, frames=kept), f"in place of the rest from frame {at}"


@mutator("failed")
def _failed(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
    failures = _FAILURES if _may_refuse(interaction) else _FAILURES[:-1]

    @rewriting
    def fail(draw: DrawFn, deltas: Deltas) -> tuple[Deltas, str]:
        failure = draw(st.sampled_from(failures))
        at = draw(st.integers(0, len(deltas) - 1))
        kept = tuple(d for d in deltas[:at] if not isinstance(d, Finish | UsageDelta))
        return (*kept, failure), f"{failure.code} after delta {at}"

    return fail(draw, interaction)


def _may_refuse(interaction: Interaction) -> bool:
    """Return whether the model may refuse: in chat completions, only with a response format.

    Source: https://platform.openai.com/docs/guides/structured-outputs#refusals
    """
    is_chat = interaction.dialect == "openai-chat"
    return not is_chat or b'"response_format"' in interaction.request.body


@mutator("finish-other")
@rewriting
def _other_finish(draw: DrawFn, deltas: Deltas) -> tuple[Deltas, str]:
    """Change the finish reason to another one of every dialect, or to an unknown one."""
    known = (reason for reason in FinishReason if reason is not FinishReason.OTHER)
    reasons = [*map(Finish, known), Finish(FinishReason.OTHER, "x_new")]
    finish = draw(st.sampled_from(reasons))
    changed = tuple(finish if isinstance(delta, Finish) else delta for delta in deltas)
    return changed, finish.raw or finish.reason.value


@mutator("finish-stop")
@rewriting
def _stop_word(_draw: DrawFn, deltas: Deltas) -> tuple[Deltas, str]:
    stop = Finish(FinishReason.STOP)
    return tuple(stop if isinstance(d, Finish) else d for d in deltas), "stop, whatever was said"


@mutator("status-other")
def _other_status(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str]:
    status = draw(st.sampled_from(_STATUSES))
    return replace(interaction, status=status), str(status)


@mutator("no-answer")
def _page(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str]:
    body = draw(st.sampled_from(_PAGES))
    return with_body(interaction, body), repr(body.decode())


@mutator("compressed")
def _compressed(_draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
    if not interaction.body:
        return None
    # Without the header, because a client that sees it decompresses the body.
    packed = with_body(interaction, gzip.compress(interaction.body, mtime=0))
    return packed, f"{len(packed.body)} bytes"


@at_place(mutator("byte-changed"))
def _byte_changed(
    draw: DrawFn, interaction: Interaction, at: int
) -> tuple[Interaction, str] | None:
    """Change a byte in AWS's framing, whose checksums show the damage; None for other framings."""
    body, frames = interaction.body, sent(interaction.body)
    if frames is None or frames.framing != "messages":
        return None
    value = draw(st.sampled_from((0, 0x0A, 0x22, 0x5C, 0x7B, 0x7D, 0xC3, 0xFF)))
    return with_body(interaction, body[:at] + bytes((value,)) + body[at + 1 :]), (
        f"byte {at} is {value:#04x}"
    )


@mutator("done-early")
@on_frames("sse", lambda frames: frames.frames[-1].data == DONE)
def _done_early(draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    at = draw(st.sampled_from(frames.payload_indexes()))
    kept = replace(frames, frames=(*frames.frames[:at], frames.frames[-1]))
    return kept, f"[DONE] in place of frame {at}"
