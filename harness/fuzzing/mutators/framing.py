"""Define mutators of the framing: comments, line ends, spaces, blank lines, a byte order mark.

Each change is either valid in the grammar of the framing (WHATWG HTML 9.2.6, the NDJSON
specification), or a real server sent it.
"""

import re
from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn
from msgspec.structs import replace

from harness.dialects.table import DIALECTS
from harness.fuzzing.mutators.mutator import mutator
from harness.fuzzing.mutators.sent import (
    BYTE_ORDER_MARK,
    DONE,
    Sent,
    SentFrame,
    on_frames,
    value_of,
)

_COMMENTS: Final = (
    ":",
    ": keep-alive",
    ": OPENROUTER PROCESSING",
    ': {"choices": []}',
    ":data: {}",
)
# A space after another one is part of the value.
_SPACED: Final = re.compile(rb"(?<![^\r\n])(data|event): (?! )")
_NO_FINISH: Final = re.compile(rb'"finish_reason": ?(?:null|"")')
_WITHOUT_DONE: Final = tuple(row.name for row in DIALECTS.values() if row.done == "added")
_WITH_DONE: Final = tuple(row.name for row in DIALECTS.values() if row.done == "sent")
# A gateway that sent an id with each event, and comments with a blank line between events.
_IDS_AND_PINGS: Final = "https://github.com/theopenco/llmgateway/pull/2334"
_FIELDS: Final = ("id: 7", "id:", "retry: 3000", "retry: soon", "x-request: 1", "unknown")


@mutator("comment")
@on_frames("sse")
def _comment(draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    at = draw(st.integers(0, len(frames.frames) - _unended(frames)))
    text = draw(st.sampled_from(_COMMENTS))
    ends = frames.line_end * draw(st.integers(1, 2))
    dispatched = "and a blank line" if len(ends) > len(frames.line_end) else "alone"
    comment = SentFrame(text.encode() + ends)
    return frames.inserted(at, comment), f"{text!r} {dispatched} before frame {at}"


@mutator("other-fields")
@on_frames("sse")
def _field(draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    """Add lines without data, which are not an event, before a frame or in it."""
    at = draw(st.sampled_from(frames.payload_indexes()))
    text = draw(st.sampled_from(_FIELDS))
    after = draw(st.sampled_from(("", "\n", "\n: ping\n")))
    lines = text + "\n" + after.removeprefix("\n")
    raw = (lines + "\n" * bool(after)).replace("\n", frames.line_end.decode()).encode()
    how = "in a block before" if after else "in"
    return frames.inserted(at, SentFrame(raw)), f"{lines!r} {how} frame {at}"


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


@mutator("no-space")
@on_frames("sse")
def _spaces(_draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    changed = tuple(replace(frame, raw=_SPACED.sub(rb"\1:", frame.raw)) for frame in frames.frames)
    return replace(frames, frames=changed), "in no frame"


@mutator("byte-order-mark")
@on_frames("sse")
def _byte_order_mark(_draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    return replace(frames, head=BYTE_ORDER_MARK), "at the start"


@mutator("data-lines")
@on_frames("sse")
def _data_lines(draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    """Split a payload into two `data` lines after its opening brace, where JSON allows it."""
    at = draw(st.sampled_from(frames.payload_indexes()))
    frame = frames.frames[at]
    if frame.data is None or value_of(frame) is None or b"\n" in frame.data:
        return None
    lines = frames.made(frame.data[:1] + b"\n" + frame.data[1:], frame.event)
    return frames.put(at, lines), f"frame {at} in two"


@mutator("ping-data")
@on_frames("sse")
def _ping(draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    at = draw(st.sampled_from(frames.payload_indexes()))
    data = draw(st.sampled_from((b"", b"null", b": keep-alive")))
    return frames.inserted(at, frames.made(data)), f"{data.decode()!r} before frame {at}"


@mutator("no-final-blank")
@on_frames("sse")
def _no_final_blank(draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    """Remove the blank line after `[DONE]`. Elsewhere, good clients differ about it."""
    last = frames.frames[-1]
    if last.data != DONE or last.raw.startswith(DONE):
        return None
    ends = draw(st.sampled_from((b"", frames.line_end)))
    raw = last.raw.rstrip(b"\r\n") + ends
    return frames.put(len(frames.frames) - 1, replace(last, raw=raw)), f"[DONE] ends with {ends!r}"


@mutator("done-missing", dialects=_WITH_DONE)
@on_frames("sse")
def _done_missing(_draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    if not any(_has_finish(frame) for frame in frames.frames):
        return None  # then `[DONE]` is the only end
    left = tuple(frame for frame in frames.frames if frame.data != DONE)
    return replace(frames, frames=left), "left out"


def _has_finish(frame: SentFrame) -> bool:
    data = frame.data or b""
    return b"finish_reason" in data and _NO_FINISH.search(data) is None


@mutator("done-added", dialects=_WITHOUT_DONE)
@on_frames("sse")
def _done_added(_draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    if any(frame.data == DONE for frame in frames.frames) or _unended(frames):
        return None
    return frames.inserted(len(frames.frames), frames.made(DONE)), "at the end"


def _unended(frames: Sent) -> bool:
    """Return whether the last event has no blank line, so that appended lines belong to it."""
    raw = frames.frames[-1].raw
    return not raw.endswith((b"\n\n", b"\r\n\r\n", b"\r\r"))


@mutator("after-done")
@on_frames("sse")
def _after_done(draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    if frames.frames[-1].data != DONE or _unended(frames):
        return None
    more = draw(st.sampled_from((SentFrame(b": bye" + frames.line_end * 2), frames.made(DONE))))
    return frames.inserted(len(frames.frames), more), f"{more.raw!r}"


@mutator("blank-line")
@on_frames("lines")
def _blank_line(draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
    # Behind a line without its end it would be that end.
    ended = frames.frames[-1].raw.endswith(b"\n")
    if len(frames.frames) == 1 and not ended:
        return None
    at = draw(st.integers(1, len(frames.frames) - (not ended)))
    return frames.inserted(at, SentFrame(frames.line_end)), f"before line {at}"


@mutator("no-final-newline")
@on_frames("lines")
def _no_final_newline(_draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    last = frames.frames[-1]
    raw = last.raw.rstrip(b"\r\n")
    return frames.put(len(frames.frames) - 1, replace(last, raw=raw)), "after the last line"


@mutator("line-space")
@on_frames("lines")
def _line_space(draw: DrawFn, frames: Sent) -> tuple[Sent, str]:
    at = draw(st.sampled_from(frames.payload_indexes()))
    frame = frames.frames[at]
    end = frame.raw[len(frame.raw.rstrip(b"\r\n")) :]
    raw = b" " + (frame.data or b"") + b" \t" + end
    return frames.put(at, replace(frame, raw=raw)), f"around line {at}"


mutator("line-ends")(on_frames("sse")(_line_ends))
mutator("crlf-lines")(on_frames("lines")(_line_ends))
