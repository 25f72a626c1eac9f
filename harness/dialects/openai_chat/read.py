"""Frames of an openai-chat stream -> deltas, as prompt as the bytes allow.

Reads what providers really send, not only the contract: every rule of the catalogue's B
group that concerns a first reader. It never raises for what a stream holds, and never makes
up a call, an argument or a finish that the stream does not say.
Source: OpenAI API reference, "The chat completion chunk object".
"""

from collections.abc import Iterable, Iterator
from typing import Any

from harness.dialects.openai_chat.calls import CallAssembler, Calls
from harness.dialects.openai_chat.policy import Policy
from harness.turns.deltas import (
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
from harness.wire.payload import NotJson, decode_json

_FINISH = {
    "stop": FinishReason.STOP,
    "end_turn": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_CALLS,
    "tool_use": FinishReason.TOOL_CALLS,
    "function_call": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "max_tokens": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}
# A reason that a later bare `stop` does not take back (quirk FINISH-TOOLCALLS-THEN-STOP).
_STRONG = frozenset((FinishReason.TOOL_CALLS, FinishReason.LENGTH, FinishReason.CONTENT_FILTER))
_CUT_SHORT = frozenset((FinishReason.LENGTH, FinishReason.CONTENT_FILTER))
_DECIDED_BY_CALLS = frozenset((FinishReason.STOP, FinishReason.OTHER))
_QUOTED_CHARACTERS = 300


def read(
    frames: Iterable[Frame],
    *,
    tools: Iterable[str] = (),
    policy: Policy | None = None,
    calls: CallAssembler | None = None,
) -> Iterator[Delta]:
    """Yield the deltas of one response.

    Args:
        frames: of the response's body, in order.
        tools: names that the request declared; they settle how a name in pieces is meant.
        policy: how to decide where rules pull against each other.
        calls: how entries become calls; a fresh `Calls` where not given.
    """
    policy = policy or Policy()
    if calls is None:  # an assembler that holds no call yet is false
        calls = Calls(frozenset(tools), policy)
    reader = _Reader(policy, calls)
    for frame in frames:
        yield from reader.take(frame)
        if reader.over:
            return
    yield from reader.end()


class _Reader:
    """Reads one response; `over` once nothing that follows may change the turn."""

    def __init__(self, policy: Policy, calls: CallAssembler) -> None:
        self.over = False
        self._policy = policy
        self._calls = calls
        self._choice: int | None = None
        self._refusal: list[str] = []
        self._finish: Finish | None = None
        self._events = 0
        # What came in `delta` is only repeated by a `message` that follows.
        self._text_came = False
        self._calls_came = False
        self._message_text = 0

    def take(self, frame: Frame) -> list[Delta]:
        """Return the deltas that one frame says."""
        if not frame.complete and self._policy.unfinished_event == "drop":
            return []
        out: list[Delta] = []
        data = frame.data
        if data == b"[DONE]" or data.strip() == b"[DONE]":
            self._done(out)
            return out
        try:
            chunk = decode_json(data)
        except NotJson as error:
            self._bad_event(frame, str(error), out)
            return out
        if type(chunk) is dict:
            self._chunk(chunk, frame, out)
        return out

    def end(self) -> list[Delta]:
        """Return what the end of the stream says, where no [DONE] came."""
        out: list[Delta] = []
        if self._finish is not None:
            self._close(out)
        elif self._events == 0:
            self._fail("empty_stream", "the stream held no event", out)
        else:
            self._fail("interrupted", "the stream ended without a finish reason or [DONE]", out)
        return out

    # One frame

    def _chunk(self, chunk: dict[str, Any], frame: Frame, out: list[Delta]) -> None:
        if not self._events:
            self._calls.seed = str(chunk.get("id", ""))
        self._events += 1
        choices = chunk.get("choices")
        if not choices or frame.event == "error" or chunk.get("error"):
            failure = _failure(chunk, frame.event)
            if failure is not None:
                self._fail(failure.code, failure.message, out)
                return
        if type(choices) is list:
            for choice in choices:
                if type(choice) is dict and not self.over:
                    self._take_choice(choice, out)
        usage = chunk.get("usage")
        if type(usage) is dict and not self.over:
            out.append(UsageDelta(_usage(usage)))

    def _take_choice(self, choice: dict[str, Any], out: list[Delta]) -> None:
        index = choice.get("index")
        if type(index) is not int:
            index = 0
        if index != self._choice:
            if self._choice is not None:
                return  # another answer to the same request (quirk N-CHOICES)
            self._choice = index
        delta = choice.get("delta")
        if type(delta) is dict and delta:
            self._text_came = self._text_came or bool(delta.get("content"))
            self._delta(delta, out)
            self._calls_came = len(self._calls) > 0
        elif type(message := choice.get("message")) is dict:
            self._message(message, out)
        finish = choice.get("finish_reason")
        if finish and type(finish) is str:
            self._finished(finish)
        if "error" in choice and (failure := _failure(choice, "")) is not None:
            self._fail(failure.code, failure.message, out)

    def _delta(self, delta: dict[str, Any], out: list[Delta]) -> None:
        content = delta.get("content")
        if content:
            _say(content, out)
        reasoning = delta.get("reasoning_content") or delta.get("reasoning")
        if reasoning and type(reasoning) is str:
            out.append(ReasoningDelta(reasoning))
        entries = delta.get("tool_calls")
        if entries:
            self._entries(entries, out)
        elif len(delta) > 1 or not content:
            self._rare_fields(delta, out)

    def _rare_fields(self, delta: dict[str, Any], out: list[Delta]) -> None:
        if (call := delta.get("function_call")) and type(call) is dict:
            self._calls.take({"index": 0, "function": call}, out)
        kwargs = delta.get("additional_kwargs")
        if type(kwargs) is dict and kwargs.get("tool_calls"):
            self._entries(kwargs["tool_calls"], out)
        if (refusal := delta.get("refusal")) and type(refusal) is str:
            self._refusal.append(refusal)

    def _entries(self, entries: object, out: list[Delta]) -> None:
        for entry in entries if type(entries) is list else [entries]:
            if type(entry) is dict:
                self._calls.take(entry, out)

    def _message(self, message: dict[str, Any], out: list[Delta]) -> None:
        """Use a whole message once (quirk MESSAGE-NOT-DELTA); it may also grow each time."""
        content = message.get("content")
        if type(content) is str:
            content, self._message_text = content[self._message_text :], len(content)
        said = {**message, "content": None if self._text_came else content}
        if self._calls_came:
            said["tool_calls"] = said["function_call"] = None
        self._delta(said, out)

    # The end

    def _finished(self, raw: str) -> None:
        reason = _FINISH.get(raw.lower(), FinishReason.OTHER)
        if self._finish is not None and self._finish.reason in _STRONG and reason not in _STRONG:
            return
        self._finish = Finish(reason, raw)

    def _done(self, out: list[Delta]) -> None:
        if self._events == 0:
            self._fail("empty_stream", "the stream held no event before [DONE]", out)
        elif self._finish is None and self._policy.done_without_finish == "interrupted":
            self._fail("interrupted", "[DONE] came without a finish reason", out)
        else:
            self._close(out)

    def _close(self, out: list[Delta]) -> None:
        finish = self._finish or Finish(FinishReason.STOP, "")
        if self._refusal:
            self._fail("refusal", "".join(self._refusal), out)
            return
        if finish.raw.lower() == "error":
            self._fail("error", "the provider finished the turn with 'error'", out)
            return
        self._calls.close(out, cut_short=finish.reason in _CUT_SHORT)
        if len(self._calls) and finish.reason in _DECIDED_BY_CALLS:
            finish = Finish(FinishReason.TOOL_CALLS, finish.raw)
        out.append(finish)
        self.over = True

    def _fail(self, code: str, message: str, out: list[Delta]) -> None:
        self._calls.close(out, failed=f"the turn failed ({code}): {message}")
        out.append(StreamFailure(code, message))
        self.over = True

    def _bad_event(self, frame: Frame, why: str, out: list[Delta]) -> None:
        """A payload that is no JSON: a stray comment, a glued error, or a broken stream."""
        data = frame.data.strip()
        if not data or data.startswith(b":"):
            return
        self._events += 1
        if not frame.complete:
            self._fail("interrupted", f"the stream ended inside the event at {frame.offset}", out)
            return
        glued = _glued_error(data)
        if glued is None and frame.event == "error":
            glued = StreamFailure("error", _quote(data))
        if glued is not None:
            self._fail(glued.code, glued.message, out)
            return
        kind = "HTML, no event stream" if data.startswith(b"<") else f"not JSON ({why})"
        self._fail("bad_event", f"byte {frame.offset}: {kind}: {_quote(data)}", out)


def _say(content: object, out: list[Delta]) -> None:
    """Append what `content` says: a string, or a list of parts."""
    if type(content) is str:
        out.append(TextDelta(content))
        return
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            out.append(TextDelta(part))
        elif isinstance(part, dict) and isinstance(text := part.get("text"), str) and text:
            out.append(TextDelta(text))


def _usage(usage: dict[str, Any]) -> Usage:
    counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
    return Usage(*(count if type(count) is int else None for count in counts))


def _failure(chunk: dict[str, Any], event: str) -> StreamFailure | None:
    """Return the error that a chunk tells in one of the ways of the field, or None."""
    error = chunk.get("error")
    if isinstance(error, dict):
        code = error.get("code") or error.get("type") or "error"
        return StreamFailure(str(code), _words(error.get("message")) or _words(error))
    if error:
        return StreamFailure(_words(chunk.get("code")) or "error", _words(error))
    if chunk.get("error_message") or chunk.get("error_type"):
        code = _words(chunk.get("error_type")) or "error"
        return StreamFailure(code, _words(chunk.get("error_message")))
    if event == "error" or (chunk.get("message") and ("code" in chunk or "object" in chunk)):
        code = _words(chunk.get("code")) or "error"
        return StreamFailure(code, _words(chunk.get("message")) or _words(chunk))
    return None


def _words(value: object) -> str:
    return "" if value is None else str(value)[:_QUOTED_CHARACTERS]


def _quote(data: bytes) -> str:
    return data[:_QUOTED_CHARACTERS].decode("utf-8", "replace")


def _glued_error(data: bytes) -> StreamFailure | None:
    """Find the error that a gateway put behind an unfinished event."""
    at = data.find(b'{"error"')
    if at <= 0:
        return None
    try:
        chunk = decode_json(data[at:])
    except NotJson:
        return None
    return _failure(chunk, "") if isinstance(chunk, dict) else None
