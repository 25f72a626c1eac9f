"""Frames of an openai-chat stream -> deltas, as prompt as the bytes allow.

Reads what providers really send, not only the contract: every rule of the catalogue's B
group that concerns a first reader. It never raises, whatever a stream contains, and never invents
a call, an argument or a finish that the stream does not contain.
Source: OpenAI API reference, "The chat completion chunk object".
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

from msgspec.structs import replace

from harness.dialects.kit.reader import error_text, finish_reasons, quote
from harness.dialects.openai_chat.calls import CallAssembler, ChatCalls, ReaderPolicy
from harness.dialects.openai_chat.chunk import (
    Choice,
    ChoiceDelta,
    Chunk,
    Entry,
    decode_chunk,
    decode_plain,
    entries_of,
)
from harness.turns.deltas import (
    DECIDED_BY_CALLS,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    Usage,
    UsageDelta,
)
from harness.wire.frames import Frame
from harness.wire.payload import NotJson

_FINISH: Final = finish_reasons(
    stop=("stop", "end_turn"),
    tool_calls=("tool_calls", "tool_use", "function_call"),
    length=("length", "max_tokens"),
    content_filter=("content_filter", "sensitive"),
)
# Words that say the provider failed: vLLM (abort), DeepSeek (insufficient_system_resource),
# GLM (network_error), OpenRouter (error).
_FAILED = frozenset(("error", "network_error", "insufficient_system_resource", "abort", "timeout"))
# A reason that a later bare `stop` does not take back (quirk FINISH-TOOLCALLS-THEN-STOP).
_STRONG = frozenset((FinishReason.TOOL_CALLS, FinishReason.LENGTH, FinishReason.CONTENT_FILTER))
# After these a call whose arguments never began may have been cut off before them.
_CUT_SHORT = frozenset((FinishReason.LENGTH, FinishReason.CONTENT_FILTER, FinishReason.OTHER))
_NO_CHOICE = object()  # in the place of the choice's number until one came


def read(
    frames: Iterable[Frame],
    tools: Iterable[str] = (),
    *,
    policy: ReaderPolicy | None = None,
    calls: CallAssembler | None = None,
) -> Iterator[Delta]:
    """Yield the deltas of one response.

    Args:
        frames: of the response's body, in order.
        tools: names that the request declared; they settle how a name in pieces is meant.
        policy: how to decide if rules contradict each other.
        calls: how entries become calls; a fresh `Calls` if not given.
    """
    policy = policy or ReaderPolicy()
    if calls is None:  # an assembler that holds no call yet is false
        calls = ChatCalls(frozenset(tools), policy)
    reader = _Reader(policy, calls)
    for frame in frames:
        yield from reader.take(frame)
        if reader.over:
            return
    yield from reader.end()


class _Reader:
    """Reads one response; `over` once nothing that follows may change the turn."""

    __slots__ = (
        "_calls",
        "_calls_came",
        "_choice",
        "_finish",
        "_first",
        "_message_text",
        "_policy",
        "_refusal",
        "_text_came",
        "over",
    )

    def __init__(self, policy: ReaderPolicy, calls: CallAssembler) -> None:
        self.over = False
        self._policy = policy
        self._calls = calls
        self._choice: object = _NO_CHOICE
        self._refusal: list[str] = []
        self._finish: Finish | None = None
        self._first = b""  # the first event, empty until one came
        # What came in `delta` is only repeated by a `message` that follows.
        self._text_came = False
        self._calls_came = False
        self._message_text = 0

    def take(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one frame."""
        out: list[Delta] = []
        chunk = decode_plain(frame.data) if frame.complete else None
        if chunk is not None:
            self._chunk(chunk, frame, out)
        elif frame.data.strip() == b"[DONE]":
            self._done(out)
        elif frame.failure:
            self._first = self._first or b"-"
            self._fail(frame.failure, error_text(frame.data), out)
        elif frame.complete or not self._may_be_left_out(frame):
            self._take_odd(frame, out)
        return out

    def _may_be_left_out(self, frame: Frame) -> bool:
        """Whether an event that the end of the stream truncated does not matter.

        A finish reason is enough for a complete turn (quirk SSE-DONE-MISSING), so neither half a
        [DONE] nor half a usage chunk after it takes the turn back.
        """
        if self._policy.unfinished_event == "drop" or b"[DONE]".startswith(frame.data.strip()):
            return True
        return self._finish is not None and decode_plain(frame.data) is None

    def _take_odd(self, frame: Frame, out: list[Delta]) -> None:
        """Take a frame that is truncated, or whose payload has not the shape of a chunk."""
        try:
            chunk = decode_chunk(frame.data)
        except NotJson as error:
            self._bad_event(frame, str(error), out)
            return
        if chunk is not None:
            self._chunk(chunk, frame, out)

    def end(self) -> list[Delta]:
        """Return the deltas of the end of the stream, if no [DONE] came."""
        out: list[Delta] = []
        if self._finish is not None:
            self._close(out)
        elif not self._first:
            self._fail("empty_stream", "the stream held no event", out)
        else:
            self._fail("interrupted", "the stream ended without a finish reason or [DONE]", out)
        return out

    # One frame

    def _chunk(self, chunk: Chunk, frame: Frame, out: list[Delta]) -> None:
        if not self._first:
            self._calls.seed = "" if chunk.id is None else str(chunk.id)
            self._first = frame.data
        choices = chunk.choices
        if not choices or frame.event or chunk.error:
            failure = _failure(chunk, frame)
            if failure is not None:
                self._fail(failure.code, failure.message, out)
                return
        for choice in choices or ():
            self._take_choice(choice, frame, out)
            if self.over:
                return
        usage = chunk.usage
        if isinstance(usage, dict):
            out.append(UsageDelta(_usage(usage)))

    def _take_choice(self, choice: Choice, frame: Frame, out: list[Delta]) -> None:
        if choice.index != self._choice and not self._is_ours(choice.index):
            return  # another answer to the same request (quirk N-CHOICES)
        delta = choice.delta
        message = choice.message
        if message is not None and (delta is None or _is_silent(delta)):
            self._message(message, out)
        elif delta is not None:
            if delta.content:
                self._text_came = True
            if self._take_answer(delta, out):
                self._calls_came = len(self._calls) > 0
        finish = choice.finish_reason
        if finish and type(finish) is str:
            self._finished(finish)
        if choice.error and (failure := _failure(Chunk(error=choice.error), frame)) is not None:
            self._fail(failure.code, failure.message, out)

    def _is_ours(self, index: object) -> bool:
        """Whether a choice is the first one that came; without an index it is number 0."""
        number = index if type(index) is int else 0
        if self._choice is _NO_CHOICE:
            self._choice = number
        return number == self._choice

    def _take_answer(self, answer: ChoiceDelta, out: list[Delta]) -> bool:
        """Append what a delta or a message contains; return whether it may have had calls."""
        content = answer.content
        if content:
            if type(content) is str:
                out.append(TextDelta(content))
            else:
                _append_parts(content, out)
        reasoning = answer.reasoning_content or answer.reasoning
        if reasoning and type(reasoning) is str:
            out.append(ReasoningDelta(reasoning))
        if answer.refusal and type(answer.refusal) is str:
            self._refusal.append(answer.refusal)
        if answer.tool_calls:
            for entry in answer.tool_calls:
                self._calls.take(entry, out)
            return True
        if answer.function_call is None and answer.additional_kwargs is None:
            return False
        self._calls_elsewhere(answer, out)
        return True

    def _calls_elsewhere(self, answer: ChoiceDelta, out: list[Delta]) -> None:
        """Take calls that are not in `tool_calls`; next to those they are only stubs."""
        if answer.function_call is not None:
            self._calls.take(Entry(index=0, function=answer.function_call), out)
        kwargs = answer.additional_kwargs
        if isinstance(kwargs, dict) and kwargs.get("tool_calls"):
            for entry in entries_of(kwargs["tool_calls"]):
                self._calls.take(entry, out)

    def _message(self, message: ChoiceDelta, out: list[Delta]) -> None:
        """Use a complete message once (quirk MESSAGE-NOT-DELTA); it may also grow each time."""
        content = message.content
        if type(content) is str:
            content, self._message_text = content[self._message_text :], len(content)
        answer = replace(message, content=None if self._text_came else content)
        if self._calls_came:
            answer = replace(answer, tool_calls=None, function_call=None)
        self._take_answer(answer, out)

    # The end

    def _finished(self, raw: str) -> None:
        reason = _FINISH.get(raw.lower(), FinishReason.OTHER)
        so_far = self._finish
        if so_far is not None and so_far.reason in _STRONG and reason not in _STRONG:
            return
        if so_far is None or not _is_error(so_far):  # nothing takes an error back
            self._finish = Finish(reason, raw)

    def _done(self, out: list[Delta]) -> None:
        if not self._first:
            self._fail("empty_stream", "the stream held no event before [DONE]", out)
        elif self._choice is _NO_CHOICE and self._finish is None:
            first = quote(self._first)
            self._fail("unknown_envelope", f"no choice came before [DONE]: {first}", out)
        elif self._finish is None and self._policy.done_without_finish == "interrupted":
            self._fail("interrupted", "[DONE] came without a finish reason", out)
        else:
            self._close(out)

    def _close(self, out: list[Delta]) -> None:
        finish = self._finish or Finish(FinishReason.STOP, "")
        if self._refusal:
            self._fail("refusal", "".join(self._refusal), out)
            return
        if _is_error(finish):
            self._fail(finish.raw, f"the provider finished the turn with {finish.raw!r}", out)
            return
        self._calls.close(out, cut_short=finish.reason in _CUT_SHORT)
        if len(self._calls) and finish.reason in DECIDED_BY_CALLS:
            finish = Finish(FinishReason.TOOL_CALLS, finish.raw)
        out.append(finish)
        self.over = True

    def _fail(self, code: str, message: str, out: list[Delta]) -> None:
        self._calls.close(out, failed=f"the turn failed ({code}): {message}")
        out.append(StreamFailure(code, message))
        self.over = True

    def _bad_event(self, frame: Frame, error: str, out: list[Delta]) -> None:
        """A payload that is not JSON: a stray comment, a glued error, or a broken stream."""
        data = frame.data.strip()
        if not data or data.startswith(b":"):
            return
        self._first = self._first or data
        if not frame.complete:
            self._fail("interrupted", f"the stream ended inside the event at {frame.offset}", out)
            return
        glued = _glued_error(frame)
        if glued is None and frame.event == "error":
            glued = StreamFailure("error", quote(data))
        if glued is not None:
            self._fail(glued.code, glued.message, out)
            return
        kind = "HTML, no event stream" if data.startswith(b"<") else f"not JSON ({error})"
        self._fail("bad_event", f"byte {frame.offset}: {kind}: {quote(data)}", out)


def _is_silent(answer: ChoiceDelta) -> bool:
    return not any(getattr(answer, name) for name in answer.__struct_fields__)


def _append_parts(content: object, out: list[Delta]) -> None:
    """Append the texts of a list of parts."""
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            out.append(TextDelta(part))
        elif isinstance(part, dict) and isinstance(text := part.get("text"), str) and text:
            out.append(TextDelta(text))


def _usage(usage: dict[str, Any]) -> Usage:
    counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
    return Usage(*(count if type(count) is int else None for count in counts))


def _failure(chunk: Chunk, frame: Frame) -> StreamFailure | None:
    """Return the error of a chunk, in any of the forms that servers use, or None."""
    error = chunk.error
    if isinstance(error, dict):
        code = error.get("code") or error.get("type") or "error"
        return StreamFailure(str(code), quote(error.get("message")) or quote(error))
    if error:
        return StreamFailure(quote(chunk.code) or "error", quote(error))
    if chunk.error_message or chunk.error_type:
        return StreamFailure(quote(chunk.error_type) or "error", quote(chunk.error_message))
    is_error_message = chunk.message and (chunk.code is not None or chunk.object is not None)
    if frame.event == "error" or chunk.type == "error" or is_error_message:
        message = quote(chunk.message) or quote(frame.data)
        return StreamFailure(quote(chunk.code) or "error", message)
    return None


def _is_error(finish: Finish) -> bool:
    return finish.raw.lower() in _FAILED


def _glued_error(frame: Frame) -> StreamFailure | None:
    """Find the error that a gateway put behind an unfinished event."""
    at = frame.data.find(b'{"error"')
    if at <= 0:
        return None
    try:
        chunk = decode_chunk(frame.data[at:])
    except NotJson:
        return None
    return None if chunk is None else _failure(chunk, frame)
