"""The same frames, framed in another way: comments, line ends, spaces, blanks, a byte order mark.

All of it is allowed by the framing's own grammar (WHATWG HTML 9.2.6, the NDJSON specification)
or was sent by a real server that clients had to survive.
"""

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from msgspec.structs import replace

from harness.dialects.table import DIALECTS
from harness.fuzzing.mutators.mutator import Mutate, preserving
from harness.fuzzing.mutators.sent import (
    BYTE_ORDER_MARK,
    DONE,
    Framing,
    Sent,
    SentFrame,
    sent,
    value_of,
)
from harness.wire.interaction import Interaction

Reframe: TypeAlias = Callable[[DrawFn, Sent], tuple[Sent, str] | None]

_COMMENTS: Final = (
    ":",
    ": keep-alive",
    ": OPENROUTER PROCESSING",
    ': {"choices": []}',
    ":data: {}",
)
# A space behind another one is part of the value.
_SPACED: Final = re.compile(rb"(?<![^\r\n])(data|event): (?! )")
_NO_FINISH: Final = re.compile(rb'"finish_reason": ?(?:null|"")')
_FIELDS: Final = ("id: 7", "id:", "retry: 3000", "retry: soon", "x-request: 1", "unknown")


def reframing(framing: Framing, reframe: Reframe) -> Mutate:
    """Return the mutation that `reframe` is, for bodies of one framing."""

    def mutate(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
        frames = sent(interaction.body)
        if frames is None or frames.framing != framing or not frames.places():
            return None
        changed = reframe(draw, frames)
        if changed is None or changed[0] == frames:
            return None
        return changed[0].into(interaction), changed[1]

    return mutate


def _comment(draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    at = draw(st.integers(0, len(frames.frames) - _unended(frames)))
    text = draw(st.sampled_from(_COMMENTS))
    ends = frames.line_end * draw(st.integers(1, 2))
    dispatched = "and a blank line" if len(ends) > len(frames.line_end) else "alone"
    comment = SentFrame(text.encode() + ends)
    return frames.inserted(at, comment), f"{text!r} {dispatched} before frame {at}"


def _field(draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    at = draw(st.sampled_from(frames.places()))
    text = draw(st.sampled_from(_FIELDS))
    frame = frames.frames[at]
    raw = text.encode() + frames.line_end + frame.raw
    return frames.put(at, replace(frame, raw=raw)), f"{text!r} in frame {at}"


def _line_ends(draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    line_end = draw(
        st.sampled_from((b"\r\n", b"\r", b"\n")[:: 2 if frames.framing == "lines" else 1])
    )
    changed = tuple(
        replace(
            frame,
            raw=frame.raw.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\n", line_end),
        )
        for frame in frames.frames
    )
    return replace(frames, frames=changed, line_end=line_end), f"each is {line_end!r}"


def _spaces(draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    del draw
    changed = tuple(replace(frame, raw=_SPACED.sub(rb"\1:", frame.raw)) for frame in frames.frames)
    return replace(frames, frames=changed), "in no frame"


def _byte_order_mark(_draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    return replace(frames, head=BYTE_ORDER_MARK), "at the start"


def _data_lines(draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    """Break a payload where JSON allows white space: after a brace that opens it."""
    at = draw(st.sampled_from(frames.places()))
    frame = frames.frames[at]
    if frame.data is None or value_of(frame) is None or b"\n" in frame.data:
        return None
    lines = frames.made(frame.data[:1] + b"\n" + frame.data[1:], frame.event)
    return frames.put(at, lines), f"frame {at} in two"


def _ping(draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    at = draw(st.sampled_from(frames.places()))
    data = draw(st.sampled_from((b"", b"null", b": keep-alive")))
    return frames.inserted(at, frames.made(data)), f"{data.decode()!r} before frame {at}"


def _no_final_blank(draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    """After the end of the answer only; before, it is one of the pairs of policies."""
    last = frames.frames[-1]
    if last.data != DONE or last.raw.startswith(DONE):
        return None
    ends = draw(st.sampled_from((b"", frames.line_end)))
    raw = last.raw.rstrip(b"\r\n") + ends
    return frames.put(len(frames.frames) - 1, replace(last, raw=raw)), f"[DONE] ends with {ends!r}"


def _done_missing(draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    del draw
    if not any(_has_finish(frame) for frame in frames.frames):
        return None  # then `[DONE]` is the only end
    left = tuple(frame for frame in frames.frames if frame.data != DONE)
    return replace(frames, frames=left), "left out"


def _has_finish(frame: SentFrame) -> bool:
    data = frame.data or b""
    return b"finish_reason" in data and _NO_FINISH.search(data) is None


def _done_added(draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    del draw
    if any(frame.data == DONE for frame in frames.frames) or _unended(frames):
        return None
    return frames.inserted(len(frames.frames), frames.made(DONE)), "at the end"


def _unended(frames: Sent) -> bool:
    """Whether the last event lacks its end, so that what comes behind it would be part of it."""
    raw = frames.frames[-1].raw
    return not raw.endswith((b"\n\n", b"\r\n\r\n", b"\r\r"))


def _after_done(draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    if frames.frames[-1].data != DONE or _unended(frames):
        return None
    more = draw(st.sampled_from((SentFrame(b": bye" + frames.line_end * 2), frames.made(DONE))))
    return frames.inserted(len(frames.frames), more), f"{more.raw!r}"


def _blank_line(draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    # Behind a line without its end it would be that end.
    ended = frames.frames[-1].raw.endswith(b"\n")
    if len(frames.frames) == 1 and not ended:
        return None
    at = draw(st.integers(1, len(frames.frames) - (not ended)))
    return frames.inserted(at, SentFrame(frames.line_end)), f"before line {at}"


def _no_final_newline(draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    del draw
    last = frames.frames[-1]
    raw = last.raw.rstrip(b"\r\n")
    return frames.put(len(frames.frames) - 1, replace(last, raw=raw)), "after the last line"


def _line_space(draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    at = draw(st.sampled_from(frames.places()))
    frame = frames.frames[at]
    end = frame.raw[len(frame.raw.rstrip(b"\r\n")) :]
    raw = b" " + (frame.data or b"") + b" \t" + end
    return frames.put(at, replace(frame, raw=raw)), f"around line {at}"


_WITHOUT_DONE: Final = tuple(row.name for row in DIALECTS.values() if row.done == "added")
_WITH_DONE: Final = tuple(row.name for row in DIALECTS.values() if row.done == "sent")

MUTATORS: Final = (
    preserving(
        "comment",
        "a comment between frames",
        reframing("sse", _comment),
        "SSE-COMMENT",
        "SSE-COMMENT-DISPATCH",
    ),
    preserving("other-fields", "fields of an event that carry no data", reframing("sse", _field)),
    preserving(
        "line-ends",
        "lines end with CRLF, CR or LF",
        reframing("sse", _line_ends),
        "SSE-CRLF",
        "SSE-CR-ONLY",
    ),
    preserving("no-space", "no space after `data:`", reframing("sse", _spaces), "SSE-NO-SPACE"),
    preserving(
        "byte-order-mark", "the body starts with one", reframing("sse", _byte_order_mark), "SSE-BOM"
    ),
    preserving(
        "data-lines",
        "one payload in two data lines",
        reframing("sse", _data_lines),
        "SSE-MULTILINE-DATA",
    ),
    preserving(
        "ping-data",
        "a frame that keeps the line alive",
        reframing("sse", _ping),
        "SSE-EMPTY-DATA",
        "SSE-DATA-NULL",
        "SSE-COMMENT-AS-DATA",
    ),
    preserving(
        "no-final-blank",
        "the last event lacks its blank line",
        reframing("sse", _no_final_blank),
        "SSE-NO-FINAL-BLANK",
    ),
    preserving(
        "done-missing",
        "no `[DONE]` ends the stream",
        reframing("sse", _done_missing),
        "SSE-DONE-MISSING",
        dialects=_WITH_DONE,
    ),
    preserving(
        "done-added",
        "a gateway adds `[DONE]`",
        reframing("sse", _done_added),
        "RESP-DONE-SENTINEL",
        dialects=_WITHOUT_DONE,
    ),
    preserving(
        "after-done",
        "a comment or a second `[DONE]` after the first",
        reframing("sse", _after_done),
        "SSE-AFTER-DONE",
    ),
    preserving("blank-line", "a blank line between lines", reframing("lines", _blank_line)),
    preserving(
        "no-final-newline",
        "the last line lacks its line end",
        reframing("lines", _no_final_newline),
        "NDJSON-NO-FINAL-NEWLINE",
    ),
    preserving("crlf-lines", "lines end with CRLF or LF", reframing("lines", _line_ends)),
    preserving("line-space", "blanks around a line", reframing("lines", _line_space)),
)
