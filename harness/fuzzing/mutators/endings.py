"""Bodies that end too early, end wrong, or are no answer: networks, gateways, providers.

None of it may run a call that is not whole, and each is reported as what it is.
"""

import gzip
from collections.abc import Iterator
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from msgspec.structs import replace

from harness.fuzzing.mutators.mutator import MutatedInput, Mutation, changing, with_body
from harness.fuzzing.mutators.rewriting import Deltas, rewriting
from harness.fuzzing.mutators.sent import DONE, SentFrame, sent
from harness.turns.deltas import Finish, FinishReason, StreamFailure, UsageDelta
from harness.wire.cuts import seams
from harness.wire.interaction import Interaction

CUT: Final = "cut-short"
GLUED: Final = "error-glued"
_GLUED_ERROR: Final = b'{"error": {"message": "The server had an error", "type": "server_error"}}'


def cut_after(interaction: Interaction, at: int) -> tuple[Interaction, str]:
    """Return what is left of `interaction` where its body ends after `at` bytes."""
    body = interaction.body
    return with_body(interaction, body[:at]), f"after byte {at} of {len(body)}"


def glued_after(interaction: Interaction, at: int, error: bytes) -> tuple[Interaction, str]:
    """Return `interaction` with `error` in place of what comes after `at` bytes."""
    return with_body(interaction, interaction.body[:at] + error), f"after byte {at}"


def truncated_inputs(interaction: Interaction) -> Iterator[MutatedInput]:
    """Yield `interaction` broken off after each byte, as the mutators of these names do."""
    frames = sent(interaction.body)
    error = (
        b"data: " + _GLUED_ERROR + b"\n\n"
        if frames and frames.framing == "sse"
        else _GLUED_ERROR + b"\n"
    )
    for at in range(len(interaction.body)):
        yield _mutated_input(CUT, cut_after(interaction, at))
        yield _mutated_input(GLUED, glued_after(interaction, at, error))


def _mutated_input(name: str, changed: tuple[Interaction, str]) -> MutatedInput:
    interaction, how = changed
    return MutatedInput(interaction, (Mutation(name, how),), preserving=False)


_ERRORS: Final = (
    b'{"error": {"message": "The server had an error", "type": "server_error", "code": 500}}',
    b'{"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}',
    b'{"error": "overloaded"}',
)
_FAILURES: Final = (
    StreamFailure("server_error", "The server had an error"),
    StreamFailure("overloaded_error", "Überlastet: 请稍后再试"),
    StreamFailure("interrupted"),
    StreamFailure("refusal", "I cannot help with that."),
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


def _places(body: bytes) -> SearchStrategy[int]:
    """Return offsets in `body`: anywhere, or at a seam, where a reader is likely to break."""
    anywhere = st.integers(0, len(body) - 1)
    found = seams(body)
    return anywhere | st.sampled_from(found) if found else anywhere


def _cut(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
    body = interaction.body
    return cut_after(interaction, draw(_places(body))) if body else None


def _cut_between(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
    frames = sent(interaction.body)
    if frames is None or not frames.places():
        return None
    at = draw(st.sampled_from(frames.places()))
    kept = replace(frames, frames=frames.frames[:at])
    return kept.into(interaction), f"before frame {at} of {len(frames.frames)}"


def _dropped(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
    frames = sent(interaction.body)
    if frames is None or not frames.places():
        return None
    at = draw(st.sampled_from(frames.places()))
    return frames.put(at).into(interaction), f"frame {at} of {len(frames.frames)}"


def _duplicated(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
    frames = sent(interaction.body)
    if frames is None or not frames.places():
        return None
    at = draw(st.sampled_from(frames.places()))
    frame = frames.frames[at]
    return frames.put(at, frame, frame).into(interaction), f"frame {at} of {len(frames.frames)}"


def _swapped(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
    frames = sent(interaction.body)
    if frames is None or len(frames.frames) < 2:  # noqa: PLR2004 - a pair
        return None
    at = draw(st.integers(0, len(frames.frames) - 2))
    one, two = frames.frames[at : at + 2]
    if one.raw == two.raw:
        return None
    return frames.put(at, two).put(at + 1, one).into(interaction), f"frames {at} and {at + 1}"


def _error_glued(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
    """Append a gateway's error to a frame that was not finished."""
    body = interaction.body
    if not body:
        return None
    at = draw(_places(body))
    error = draw(st.sampled_from(_ERRORS))
    framed = draw(st.sampled_from((error, b"data: " + error + b"\n\n", b"\n" + error + b"\n")))
    return glued_after(interaction, at, framed)


def _error_frame(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
    """Put an error of the common shape between two frames; the stream ends there, or goes on."""
    frames = sent(interaction.body)
    if frames is None or frames.framing == "messages" or not frames.places():
        return None
    at = draw(st.sampled_from(frames.places()))
    error = frames.made(draw(st.sampled_from(_ERRORS)))
    if draw(st.booleans()):
        return frames.inserted(at, error).into(interaction), f"before frame {at}"
    kept: tuple[SentFrame, ...] = (*frames.frames[:at], error)
    return replace(frames, frames=kept).into(interaction), f"in place of the rest from frame {at}"


def _failed(draw: DrawFn, deltas: Deltas) -> tuple[Deltas, str]:
    failure = draw(st.sampled_from(_FAILURES))
    at = draw(st.integers(0, len(deltas) - 1))
    kept = tuple(d for d in deltas[:at] if not isinstance(d, Finish | UsageDelta))
    return (*kept, failure), f"{failure.code} after delta {at}"


def _other_finish(draw: DrawFn, deltas: Deltas) -> tuple[Deltas, str]:
    """Name another reason: one that the dialect has a word for, or a word that nobody knows."""
    reasons = [*(Finish(reason) for reason in FinishReason), Finish(FinishReason.OTHER, "x_new")]
    finish = draw(st.sampled_from(reasons))
    changed = tuple(finish if isinstance(delta, Finish) else delta for delta in deltas)
    return changed, finish.raw or finish.reason.value


def _stop_word(_draw: DrawFn, deltas: Deltas) -> tuple[Deltas, str]:
    stop = Finish(FinishReason.STOP)
    return tuple(stop if isinstance(d, Finish) else d for d in deltas), "stop, whatever was said"


def _other_status(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str]:
    status = draw(st.sampled_from(_STATUSES))
    return replace(interaction, status=status), str(status)


def _page(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str]:
    body = draw(st.sampled_from(_PAGES))
    return with_body(interaction, body), repr(body.decode())


def _compressed(_draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
    if not interaction.body:
        return None
    # Without the header, which would let whoever loads the saved cassette unpack it.
    packed = with_body(interaction, gzip.compress(interaction.body, mtime=0))
    return packed, f"{len(packed.body)} bytes"


def _byte_changed(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
    body = interaction.body
    if not body:
        return None
    at = draw(_places(body))
    value = draw(st.sampled_from((0, 0x0A, 0x22, 0x5C, 0x7B, 0x7D, 0xC3, 0xFF)))
    return with_body(interaction, body[:at] + bytes((value,)) + body[at + 1 :]), (
        f"byte {at} is {value:#04x}"
    )


def _done_early(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
    frames = sent(interaction.body)
    if frames is None or frames.framing != "sse" or frames.frames[-1].data != DONE:
        return None
    at = draw(st.sampled_from(frames.places()))
    kept = replace(frames, frames=(*frames.frames[:at], frames.frames[-1]))
    return kept.into(interaction), f"[DONE] in place of frame {at}"


MUTATORS: Final = (
    changing(CUT, "the body ends after any byte", _cut, "SSE-EOF-MIDCALL", "AWS-MESSAGE-CUT"),
    changing(
        "cut-between",
        "the body ends between two frames",
        _cut_between,
        "SSE-EOF-MIDCALL",
        "SSE-EOF-NO-FINISH-TEXT",
    ),
    changing("done-early", "`[DONE]` before the turn has ended", _done_early, new_calls=True),
    changing("frame-dropped", "one frame is missing", _dropped, new_calls=True),
    changing("frame-duplicated", "one frame comes twice", _duplicated, new_calls=True),
    changing("frames-swapped", "two frames in the other order", _swapped, new_calls=True),
    changing(
        "failed",
        "the turn fails in the middle, as the API tells it",
        rewriting(_failed),
        "ERR-IN-200",
        "ANT-ERROR-EVENT",
        "REFUSAL-DELTA",
        "DASH-ERROR-EVENT",
    ),
    changing(
        "error-frame",
        "an error object between frames, or in place of the rest",
        _error_frame,
        "ERR-IN-200",
        "ERR-CODE-NOT-INT",
    ),
    changing(
        GLUED,
        "an error behind half a frame",
        _error_glued,
        "ERR-INJECTED-MID-EVENT",
        "ERR-UNFRAMED",
        "EVENT-GLUED",
    ),
    changing(
        "finish-stop",
        "the finish reason says stop, whatever came",
        rewriting(_stop_word),
        "FINISH-STOP-WITH-CALLS",
    ),
    changing(
        "finish-other",
        "another finish reason",
        rewriting(_other_finish),
        "FINISH-UNKNOWN",
        "FINISH-LENGTH-WITH-CALL",
        "FINISH-TOOLCALLS-WITHOUT-CALLS",
    ),
    changing("status-other", "an HTTP status of failure with the same body", _other_status),
    changing(
        "no-answer",
        "a page, a note or nothing instead of the body",
        _page,
        "HTTP-HTML-BODY",
        "STREAM-NO-EVENTS",
    ),
    changing("compressed", "a body that nobody unpacked", _compressed, "SSE-GZIP"),
    changing("byte-changed", "one byte is another", _byte_changed, "AWS-CHECKSUM", new_calls=True),
)
