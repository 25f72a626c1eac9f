"""Read the frames of an openai-chat stream as deltas, as promptly as the bytes allow.

The reader handles what providers really send, not only the contract: all quirks of group B of the
catalogue. It never raises, whatever a stream contains, and never invents
a call, an argument or a finish that the stream does not contain.
Source: OpenAI API reference, "The chat completion chunk object".
"""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Final

from msgspec.structs import replace

from harness.dialects.kit.assembly import Assembly
from harness.dialects.kit.frames import DONE
from harness.dialects.kit.reader import EventReader, exact_event, finish_reasons, quote
from harness.dialects.openai_chat.calls import CallAssembler, ChatCalls, ReaderPolicy
from harness.dialects.openai_chat.chunk import (
    Choice,
    ChoiceDelta,
    Chunk,
    Entry,
    chunk_of,
    decode_plain,
    entries_of,
)
from harness.turns.deltas import (
    Delta,
    Finish,
    FinishReason,
    StreamFailure,
    TextDelta,
    Usage,
    UsageDelta,
)
from harness.wire.frames import Frame
from harness.wire.payload import json_or_none

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
_NO_CHOICE = object()  # in the place of the choice's number until one came
_DEFAULT_POLICY: Final = ReaderPolicy()


def read(
    frames: Iterable[Frame],
    tools: Iterable[str] = (),
    *,
    policy: ReaderPolicy | None = None,
    calls: CallAssembler | None = None,
) -> Iterator[Delta]:
    """Yield the deltas of one response.

    Args:
        frames: the frames of the response's body, in order.
        tools: the names of the declared tools, which decide what a name in several parts means.
        policy: how to decide if rules contradict each other.
        calls: turns the items of `tool_calls` into calls; a new `ChatCalls` if None.
    """
    policy = policy or _DEFAULT_POLICY
    if calls is None:  # an assembler that holds no call yet is false
        calls = ChatCalls(frozenset(tools), policy)
    return _Reader(policy, calls).read(frames)


class _ChatTurn(Assembly):
    """Builds the deltas of one response, with calls from an assembler."""

    __slots__ = ("calls",)

    def __init__(self, calls: CallAssembler) -> None:
        super().__init__()
        self.calls = calls

    def __len__(self) -> int:
        return len(self.calls)

    def end_calls(self, failed: str, *, cut_short: bool) -> None:
        self.calls.close(self.out, failed=failed, cut_short=cut_short)


class _Reader(EventReader):
    """Reads one response of the dialect `openai-chat`."""

    INTERRUPTED: ClassVar = "the stream ended without a finish reason or [DONE]"

    is_known = False
    _choice: object = _NO_CHOICE
    _finish: Finish | None = None
    # What came in `delta` is only repeated by a `message` that follows.
    _text_came = False
    _calls_came = False
    _message_text = 0

    def __init__(self, policy: ReaderPolicy, calls: CallAssembler) -> None:
        super().__init__(_ChatTurn(calls))
        self._out = self.turn.out
        self._policy = policy
        self._calls = calls
        self._refusal: list[str] = []
        self._copied: set[object] = set()  # indexes of calls whose arguments are in a copy only

    def _take(self, frame: Frame) -> None:
        chunk = decode_plain(frame.data) if frame.complete else None
        if chunk is not None:
            self._chunk(chunk, frame)
        # `[DONE]` is not JSON; it ends the stream by OpenAI's convention.
        elif frame.data.strip() == DONE:
            self._done()
        elif frame.complete or not self._may_be_left_out(frame):
            super()._take(frame)

    def event(self, value: dict[str, Any], frame: Frame) -> None:
        """Process an event that is truncated, or that is not a chunk by its structure."""
        self._chunk(chunk_of(exact_event(value, frame.data)), frame)

    def end_of_stream(self) -> None:
        """Close a turn that has its finish reason, even without [DONE]."""
        if self._finish is not None:
            self._close(self._finish)
        else:
            self.interrupted()

    def _elements(self, values: list[Any], frame: Frame) -> None:
        """Ignore a list, because events of this API are objects."""

    def _may_be_left_out(self, frame: Frame) -> bool:
        """Return whether an event that is incomplete at the end of the stream does not matter.

        A turn with a finish reason is complete (quirk SSE-DONE-MISSING). So an incomplete [DONE] or
        an incomplete usage chunk after it does not fail the turn.
        """
        if self._policy.unfinished_event == "drop" or b"[DONE]".startswith(frame.data.strip()):
            return True
        return self._finish is not None and decode_plain(frame.data) is None

    # One frame

    def _chunk(self, chunk: Chunk, frame: Frame) -> None:
        if not self.is_known:
            self.is_known = True
            self._calls.seed = "" if chunk.id is None else str(chunk.id)
            self.first = frame.data
        choices = chunk.choices
        # Servers send errors as chunks with status 200 (quirks ERR-IN-200, ERR-CHOICES-EMPTY).
        if not choices or frame.event or chunk.error:
            failure = _failure(chunk, frame)
            if failure is not None:
                self.turn.fail(failure.code, failure.message)
                return
        for choice in choices or ():
            if self._take_choice(choice, frame):
                return
        # A chunk may have counts without a choice (quirk CHUNK-CHOICES-EMPTY); the last ones count.
        usage = chunk.usage
        if isinstance(usage, dict):
            self._out.append(UsageDelta(_usage(usage)))
        elif chunk.x_groq is not None or (choices and choices[0].usage is not None):
            self._take_own_usage(chunk)

    def _take_own_usage(self, chunk: Chunk) -> None:
        """Read the counts where single providers have them (quirk USAGE-ELSEWHERE)."""
        groq = chunk.x_groq.get("usage") if isinstance(chunk.x_groq, dict) else None
        for usage in (groq, *(choice.usage for choice in chunk.choices or ())):
            if isinstance(usage, dict):
                self._out.append(UsageDelta(_usage(usage)))
                return

    def _take_choice(self, choice: Choice, frame: Frame) -> bool:
        """Process the content of a choice; return whether it ends the turn."""
        out = self._out
        if choice.index != self._choice and not self._is_ours(choice.index):
            return False  # another answer to the same request (quirk N-CHOICES)
        delta = choice.delta
        message = choice.message
        # Some servers stream `message`, as without streaming (quirk MESSAGE-NOT-DELTA).
        if message is not None and (delta is None or _is_silent(delta)):
            self._message(message, out)
        elif delta is not None:
            if delta.content:
                self._text_came = True
            if self._take_answer(delta, out):
                self._calls_came = len(self._calls) > 0
        finish = choice.finish_reason
        # "" and null are not reasons; servers send them until the end (quirk FINISH-EMPTY-STRING).
        if finish and type(finish) is str:
            self._finished(finish)
        if choice.error and (failure := _failure(Chunk(error=choice.error), frame)) is not None:
            self.turn.fail(failure.code, failure.message)
            return True
        return False

    def _is_ours(self, index: object) -> bool:
        """Return whether a choice is the first one that came. A missing index counts as 0."""
        number = index if type(index) is int else 0
        if self._choice is _NO_CHOICE:
            self._choice = number
        return number == self._choice

    def _take_answer(self, answer: ChoiceDelta, out: list[Delta]) -> bool:
        """Append the content of a delta or a message; return whether it may have had calls."""
        content = answer.content
        if content:
            if type(content) is str:
                out.append(TextDelta(content))
            else:
                for part in content if isinstance(content, list) else ():
                    self.turn.text(part.get("text") if isinstance(part, dict) else part)
        # Providers use two names for it (quirk REASONING-FIELD-NAMES).
        reasoning = answer.reasoning_content or answer.reasoning
        if reasoning:
            self.turn.reasoning(reasoning)
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
        """Process calls outside of `tool_calls`, which may be copies of calls in it."""
        # The field of the first version of tool calls (quirk LEGACY-FUNCTION-CALL).
        if answer.function_call is not None:
            self._calls.take(Entry(index=0, function=answer.function_call), out)
        kwargs = answer.additional_kwargs
        if isinstance(kwargs, dict) and kwargs.get("tool_calls"):
            for position, entry in enumerate(entries_of(kwargs["tool_calls"])):
                self._take_copy(entry, position, out)

    def _take_copy(self, entry: Entry, position: int, out: list[Delta]) -> None:
        """Process an item that may repeat a call of `tool_calls` (quirk DELTA-ADDITIONAL-KWARGS).

        It only adds members that are missing there. Without an index, its position in the list
        counts.
        """
        if not isinstance(entry.index, int | str):
            entry.index = None
        index = position if entry.index is None else entry.index
        if index not in self._copied:
            if self._calls.has_arguments(entry, position):
                return
            if (entry.function or entry).arguments:
                self._copied.add(index)
        entry.index = index
        self._calls.take(entry, out)

    def _message(self, message: ChoiceDelta, out: list[Delta]) -> None:
        """Use a complete message once (quirk MESSAGE-NOT-DELTA). It may also grow each time."""
        content = message.content
        if type(content) is str:
            content, self._message_text = content[self._message_text :], len(content)
        answer = replace(message, content=None if self._text_came else content)
        if self._calls_came:
            kwargs = None if self._copied else answer.additional_kwargs
            answer = replace(answer, tool_calls=None, function_call=None, additional_kwargs=kwargs)
        self._take_answer(answer, out)

    # The end

    def _finished(self, raw: str) -> None:
        reason = _FINISH.get(raw.lower(), FinishReason.OTHER)
        so_far = self._finish
        # A second `stop` must not hide `tool_calls` (quirk FINISH-TOOLCALLS-THEN-STOP).
        if so_far is not None and so_far.reason in _STRONG and reason not in _STRONG:
            return
        if so_far is None or not _is_error(so_far):  # nothing takes an error back
            self._finish = Finish(reason, raw)

    def _done(self) -> None:
        # `[DONE]` alone is not an answer, and must not become an empty success.
        if not self.first:
            self.turn.fail("empty_stream", "the stream held no event before [DONE]")
        elif self._choice is _NO_CHOICE:
            first = quote(self.first)
            self.turn.fail("unknown_envelope", f"no choice came before [DONE]: {first}")
        elif self._finish is None and self._policy.done_without_finish == "interrupted":
            self.interrupted("[DONE] came without a finish reason")
        else:
            self._close(self._finish or Finish(FinishReason.STOP, ""))

    def _close(self, finish: Finish) -> None:
        # A refusal is not an answer: agent code must not read it as the text of one.
        if self._refusal:
            self.turn.fail("refusal", "".join(self._refusal))
        elif _is_error(finish):
            self.turn.fail(finish.raw, f"the provider finished the turn with {finish.raw!r}")
        else:
            self.turn.finish(finish.reason, finish.raw)
            self.turn.close()

    def _not_json(self, frame: Frame, error: str) -> None:
        """Process a payload that is not JSON, which may have an error at its end."""
        failure = None
        if frame.complete:
            failure = _glued_error(frame)
            if failure is None and frame.event == "error":
                failure = StreamFailure("error", quote(frame.data.strip()))
        if failure is None:
            super()._not_json(frame, error)
        else:
            self.turn.fail(failure.code, failure.message)


def _is_silent(answer: ChoiceDelta) -> bool:
    return not any(getattr(answer, name) for name in answer.__struct_fields__)


def _usage(usage: dict[str, Any]) -> Usage:
    counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
    return Usage(*(count if type(count) is int else None for count in counts))


def _failure(chunk: Chunk, frame: Frame) -> StreamFailure | None:
    """Return the error of a chunk in any format that servers use; None if there is none."""
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
    """Return the error that a gateway appended to an incomplete event; None if there is none."""
    # Gateways write their error into an event that broke off (quirk ERR-INJECTED-MID-EVENT).
    _, mark, rest = frame.data.partition(b'{"error"')
    data = mark + rest
    value = json_or_none(data)
    return _failure(chunk_of(exact_event(value, data)), frame) if type(value) is dict else None
