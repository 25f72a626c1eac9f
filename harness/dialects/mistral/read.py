"""Frames of a Mistral chat stream -> deltas; a whole completion reads to the same turn.

Text comes as a string or as a list of parts, reasoning as a part of its own, and calls come
whole. It never raises for what a stream holds, and never makes up a call or a finish that the
stream does not say.
Source: https://docs.mistral.ai/api/#tag/chat (Chat Completion, `CompletionChunk`)
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, Final

from harness.dialects.kit.assembly import Assembly
from harness.dialects.kit.reader import EventReader, quote
from harness.dialects.mistral.calls import Calls
from harness.turns.deltas import Delta, FinishReason
from harness.turns.exact_json import decode_exactly
from harness.wire.frames import Frame

_FINISH: Final = {
    "stop": FinishReason.STOP,
    "tool_calls": FinishReason.TOOL_CALLS,
    "length": FinishReason.LENGTH,
    "model_length": FinishReason.LENGTH,
    "content_filter": FinishReason.CONTENT_FILTER,
}
# The words that say the provider failed.
_FAILED: Final = frozenset(("error",))
_ERROR_KEYS: Final = ("error", "message", "detail")


def read(frames: Iterable[Frame], tools: tuple[str, ...]) -> Iterator[Delta]:  # noqa: ARG001 - names come whole here
    """Yield the deltas of one response."""
    return _Reader().read(frames)


class _Reader(EventReader):
    """Reads one response: the first choice that comes, and no other."""

    def __init__(self) -> None:
        super().__init__()
        self._calls = Calls(self.says)
        self._choice: int | None = None
        self._failed = ""

    def event(self, value: dict[str, Any], frame: Frame) -> None:
        """Take one chunk, or a whole completion."""
        if not self.says.seed:
            self.says.seed = str(value.get("id") or "")
        choices = value.get("choices")
        usage = value.get("usage")
        if frame.event == "error" or (choices is None and usage is None) or value.get("error"):
            self._no_chunk(value, frame)
            return
        if isinstance(choices, list):
            for place, choice in enumerate(choices):
                if isinstance(choice, dict) and self._is_ours(choice.get("index")):
                    self._take_choice(choice, place, frame)
        if isinstance(usage, dict):
            self.says.usage(usage.get("prompt_tokens"), usage.get("completion_tokens"))

    def conclude(self) -> None:
        """End the turn; a finish reason is enough, be there a `[DONE]` or not."""
        if self._failed:
            self.says.fail(self._failed, f"the provider finished the turn with {self._failed!r}")
        elif self.says.finished:
            self.says.close()
        else:
            self.interrupted()

    def _is_ours(self, index: object) -> bool:
        """Whether a choice is the first one that came; without an index it is number 0."""
        number = index if type(index) is int else 0
        if self._choice is None:
            self._choice = number
        return number == self._choice

    def _take_choice(self, choice: dict[str, Any], place: int, frame: Frame) -> None:
        field = "message" if choice.get("delta") is None else "delta"
        said = choice.get(field)
        if isinstance(said, dict):
            self._say_content(said.get("content"))
            entries = said.get("tool_calls")
            if entries and isinstance(entries, list):
                self._calls.take(entries, partial(_exactly, place, field, frame))
        finish = choice.get("finish_reason")
        if finish and isinstance(finish, str):
            self._finished(finish)

    def _say_content(self, content: object) -> None:
        if isinstance(content, list):
            for part in content:
                _say_part(part, self.says)
        else:
            self.says.text(content)

    def _finished(self, word: str) -> None:
        """Take a finish reason: nothing takes back the first, but that the provider failed."""
        if word in _FAILED:
            self._failed = word
        elif not self.says.finished:
            self.says.finish(_FINISH.get(word, FinishReason.OTHER), word)

    def _no_chunk(self, value: dict[str, Any], frame: Frame) -> None:
        """Take what is no chunk: an error in one of the API's shapes, or something foreign."""
        error = value.get("error")
        told = error if isinstance(error, dict) else value
        if frame.event == "error" or any(value.get(key) for key in _ERROR_KEYS):
            words = told.get("message") or told.get("detail") or error or value
            code = told.get("code") or told.get("type") or "error"
            self.says.fail(quote(code), quote(words))
        else:
            self.unknown(value)


def _exactly(place: int, field: str, frame: Frame) -> list[Any]:
    """Return the calls of one choice, whose objects can be written as they were spelt."""
    with suppress(ValueError, LookupError, TypeError):  # a list of events has no one place
        value: Any = decode_exactly(frame.data)
        entries = value["choices"][place][field]["tool_calls"]
        return entries if isinstance(entries, list) else []
    return []


# Parts of a content list


def _say_text(part: dict[str, Any], says: Assembly) -> None:
    says.text(part.get("text"))


def _say_thinking(part: dict[str, Any], says: Assembly) -> None:
    thoughts = part.get("thinking")
    if isinstance(thoughts, str):
        says.reasoning(thoughts)
    for thought in thoughts if isinstance(thoughts, list) else ():
        if isinstance(thought, dict):
            says.reasoning(thought.get("text"))


# What points to sources, images and files says nothing that a turn holds.
_PARTS: Final[dict[object, Callable[[dict[str, Any], Assembly], None]]] = {
    "text": _say_text,
    "thinking": _say_thinking,
}


def _say_part(part: object, says: Assembly) -> None:
    if isinstance(part, dict):
        kind = part.get("type", "text")
        say = _PARTS.get(kind) if isinstance(kind, str) else None
        if say is not None:
            say(part, says)
    else:
        says.text(part)
