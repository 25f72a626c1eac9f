"""Read the frames of a Mistral chat stream as deltas; a complete response reads to the same turn.

Text comes as a string or as a list of parts, reasoning as a separate part, and calls come
complete. It never raises, whatever a stream contains, and never invents a call or a finish that the
stream does not contain.
Source: https://docs.mistral.ai/api/#tag/chat (Chat Completion, `CompletionChunk`)
"""

from functools import partial
from typing import Any, ClassVar, Final

from harness.dialects.kit.listed_calls import ListedCall, ListedCalls
from harness.dialects.kit.reader import EventReader, exact_list, finish_reasons, quote, reads_with
from harness.turns.deltas import FinishReason
from harness.turns.json_values import as_text
from harness.wire.frames import Frame


class MistralCalls(ListedCalls):
    """Collects the calls of one choice."""

    NO_ID: ClassVar = frozenset(("null",))
    FUNCTION_TYPES: ClassVar = ("function", None, "", "null")

    def known(self, index: object, call_id: object, name: object) -> ListedCall | None:  # noqa: ARG002 - as below
        """Return None, because items that only continue a call are too rare for a fast path."""
        return None

    def without_index(self, position: int) -> ListedCall | None:  # noqa: ARG002 - the last one counts
        """Return the last call, which an item without an index continues; None if there is none."""
        return self.calls[-1] if self.calls else None

    def is_other(
        self, call: ListedCall, index: int | None, call_id: str, name: str, arguments: str
    ) -> bool:
        """Return whether an item begins another call. A repeated name may begin new arguments."""
        if call_id and (call.id or index is None):
            return True
        begins = call.end == "}" and arguments.lstrip()[:1] == "{"
        return bool(name and call.name and (name != call.name or begins))

    def append(self, call: ListedCall, arguments: str) -> None:
        """Append a fragment to the arguments of `call`."""
        if arguments:
            call.end = arguments.rstrip()[-1:] or call.end
            self.turn.append(call.key, arguments)


_FINISH: Final = finish_reasons(
    stop=("stop",),
    tool_calls=("tool_calls",),
    length=("length", "model_length"),
    content_filter=("content_filter",),
)
# The words that say the provider failed.
_FAILED: Final = frozenset(("error",))
_ERROR_KEYS: Final = ("error", "message", "detail")


class _Reader(EventReader):
    """Reads one response of the dialect `mistral`: the first choice that comes, and no other."""

    def __init__(self) -> None:
        super().__init__()
        self._calls = MistralCalls(self.turn)
        self._choice: int | None = None

    def event(self, value: dict[str, Any], frame: Frame) -> None:
        """Process one chunk, or a complete response."""
        if not self.turn.seed:
            self.turn.seed = as_text(value.get("id"))
        choices = value.get("choices")
        usage = value.get("usage")
        if frame.event == "error" or (choices is None and usage is None) or value.get("error"):
            self._no_chunk(value, frame)
            return
        if isinstance(choices, list):
            for position, choice in enumerate(choices):
                if isinstance(choice, dict) and self._is_ours(choice.get("index")):
                    self._take_choice(choice, position, frame)
        self.turn.count(usage, "prompt_tokens", "completion_tokens")

    def _is_ours(self, index: object) -> bool:
        """Return whether a choice is the first one that came. A missing index counts as 0."""
        number = index if type(index) is int else 0
        if self._choice is None:
            self._choice = number
        return number == self._choice

    def _take_choice(self, choice: dict[str, Any], position: int, frame: Frame) -> None:
        field = "message" if choice.get("delta") is None else "delta"
        message = choice.get(field)
        if isinstance(message, dict):
            self._content(message.get("content"))
            entries = message.get("tool_calls")
            if isinstance(entries, list):
                path = ("choices", position, field, "tool_calls")
                self._calls.take(entries, partial(exact_list, frame.data, *path))
        finish = choice.get("finish_reason")
        if finish and isinstance(finish, str):
            self._finished(finish)

    def _content(self, content: object) -> None:
        """Process text, or a list of parts; ignore parts with sources, images and files."""
        if not isinstance(content, list):
            self.turn.text(content)
            return
        for part in content:
            if not isinstance(part, dict):
                self.turn.text(part)
            elif part.get("type", "text") == "text":
                self.turn.text(part.get("text"))
            # Models that reason send reasoning as a part (quirk MIST-CONTENT-PARTS).
            elif part["type"] == "thinking":
                self._thinking(part.get("thinking"))

    def _thinking(self, thoughts: object) -> None:
        for thought in thoughts if isinstance(thoughts, list) else ():
            if isinstance(thought, dict):
                self.turn.reasoning(thought.get("text"))
        self.turn.reasoning(thoughts)

    def _finished(self, word: str) -> None:
        """Process a finish reason. Only a failure of the provider replaces the first one."""
        # `error` is a finish word of this API (quirk MIST-FINISH-WORDS), and not an end.
        if word in _FAILED:
            self.failed = word
        elif not self.turn.finished:
            self.turn.finish(_FINISH.get(word, FinishReason.OTHER), word)

    def _no_chunk(self, value: dict[str, Any], frame: Frame) -> None:
        """Process an event that is not a chunk: an error of the API, or unknown data."""
        error = value.get("error")
        holder = error if isinstance(error, dict) else value
        if frame.event == "error" or any(value.get(key) for key in _ERROR_KEYS):
            text = holder.get("message") or holder.get("detail") or error or value
            code = holder.get("code") or holder.get("type") or "error"
            self.turn.fail(quote(code), quote(text))
        else:
            self.unknown(value)


read = reads_with(_Reader)
