"""Read the frames of DashScope's native text generation, or a complete response, as deltas.

Each event contains the message, either its new part or all of it so far: `snapshots` decides which.
`output` has `choices`, or only `text` if the request asked for that format. A search by the model
itself is not a call. The reader never raises, whatever a stream contains, and never invents a call
or a finish.
Source: https://help.aliyun.com/zh/model-studio/qwen-api-reference (DashScope)
"""

from functools import partial
from typing import Any, Final

from harness.dialects.dashscope.calls import DashScopeCalls, MessageEvent, piece_of
from harness.dialects.dashscope.snapshots import GrowingFields
from harness.dialects.kit.assembly import Assembly
from harness.dialects.kit.reader import EventReader, exact_list, finish_reasons, quote, reads_with
from harness.turns.deltas import FinishReason
from harness.turns.json_values import as_text
from harness.wire.frames import Frame

_FINISH: Final = finish_reasons(stop=("stop",), tool_calls=("tool_calls",), length=("length",))
# While the model speaks, the reason is the text "null".
_NO_FINISH: Final = frozenset(("", "null"))
# Codes that are next to a good answer; the clients of the API put them there.
_NO_ERROR: Final = (None, "", 200, "200")
_FIRST_CHOICE: Final = (None, 0)
_TEXT, _REASONING = "content", "reasoning"


class _GrowingTurn(Assembly):
    """Builds the deltas of a turn, and emits all held text before the turn ends.

    It holds back token counts too, because each event has them, and only the last ones count.
    """

    __slots__ = ("_input_tokens", "_output_tokens", "fields")

    def __init__(self) -> None:
        super().__init__()
        self.fields = GrowingFields()
        self._input_tokens: int | None = None
        self._output_tokens: int | None = None

    def usage(self, input_tokens: object = None, output_tokens: object = None) -> None:
        if type(input_tokens) is int:
            self._input_tokens = input_tokens
        if type(output_tokens) is int:
            self._output_tokens = output_tokens

    def end_calls(self, failed: str, *, cut_short: bool) -> None:
        self.fields.flush()
        super().usage(self._input_tokens, self._output_tokens)
        super().end_calls(failed, cut_short=cut_short)

    def contradict(self) -> None:
        """Fail the turn, because a field took back earlier text, so that its value is unknown."""
        self.fail("bad_event", "a snapshot takes back what came before")


class _Reader(EventReader):
    """Reads the first choice of one response of the dialect `dashscope`."""

    def __init__(self) -> None:
        turn = _GrowingTurn()
        super().__init__(turn)
        self._fields = turn.fields
        self._calls = DashScopeCalls(turn, self._fields)
        self._fields.field(_TEXT, turn.text, turn.contradict)
        self._fields.field(_REASONING, turn.reasoning, turn.contradict)

    def _take(self, frame: Frame) -> None:
        # The response has its seed from an event that was read in full.
        if self.turn.seed and frame.event != "error":
            piece = piece_of(frame.data)
            if piece is not None and self._takes_piece(piece):
                return
        super()._take(frame)

    def _takes_piece(self, piece: MessageEvent) -> bool:
        """Process an ordinary event; return False for any other."""
        choices = piece.output.choices
        if not choices or choices[0].index not in _FIRST_CHOICE:
            return False
        if piece.error or piece.code not in _NO_ERROR:
            return False
        turn, choice = self.turn, choices[0]
        message = choice.message
        if message.reasoning_content:
            self._fields.take(_REASONING, message.reasoning_content)
        if message.content and not turn.over:
            self._fields.take(_TEXT, message.content)
        if message.tool_calls and not turn.over:
            self._calls.take_typed(message.tool_calls)
        self._take_finish(choice.finish_reason)
        usage = piece.usage
        if usage is not None:
            turn.usage(usage.input_tokens, usage.output_tokens)
        return True

    def event(self, value: dict[str, Any], frame: Frame) -> None:
        """Process one event, or a complete response."""
        if not self.turn.seed:
            self.turn.seed = as_text(value.get("request_id"))
        output = value.get("output")
        usage = value.get("usage")
        if frame.event == "error" or value.get("code") not in _NO_ERROR or value.get("error"):
            self._error(value)
            return
        if isinstance(output, dict):
            self._take_output(output, frame)
        elif not isinstance(usage, dict):
            self._error(value) if value.get("message") else self.unknown(value)
            return
        if isinstance(usage, dict):
            self.turn.usage(usage.get("input_tokens"), usage.get("output_tokens"))

    def _take_output(self, output: dict[str, Any], frame: Frame) -> None:
        choices = output.get("choices")
        # `result_format: text` has the text directly in `output`.
        if not isinstance(choices, list):
            self._take_content(_TEXT, output.get("text"))
            self._take_finish(output.get("finish_reason"))
            return
        for position, choice in enumerate(choices):
            if isinstance(choice, dict) and choice.get("index") in _FIRST_CHOICE:
                self._take_choice(choice, position, frame)
                return

    def _take_choice(self, choice: dict[str, Any], position: int, frame: Frame) -> None:
        message = choice.get("message")
        if isinstance(message, dict):
            if reasoning := message.get("reasoning_content"):
                self._take_content(_REASONING, reasoning)
            if content := message.get("content"):
                self._take_content(_TEXT, content)
            entries = message.get("tool_calls")
            if isinstance(entries, list) and not self.turn.over:
                path = ("output", "choices", position, "message", "tool_calls")
                self._calls.take(entries, partial(exact_list, frame.data, *path))
        self._take_finish(choice.get("finish_reason"))

    def _take_content(self, key: str, content: object) -> None:
        """Process text, or a list of parts with text, which the multimodal address sends."""
        if isinstance(content, list):
            texts = (part.get("text") for part in content if isinstance(part, dict))
            content = "".join(text for text in texts if isinstance(text, str))
        if isinstance(content, str) and not self.turn.over:
            self._fields.take(key, content)

    def _take_finish(self, word: object) -> None:
        """Process a finish reason. A later event cannot take back the first one."""
        # Until the end, the finish reason is the text "null" (quirk DASH-FINISH-NULL-TEXT).
        if isinstance(word, str) and word not in _NO_FINISH and not self.turn.finished:
            self.turn.finish(_FINISH.get(word, FinishReason.OTHER), word)

    def _error(self, value: dict[str, Any]) -> None:
        error = value.get("error")
        holder = error if isinstance(error, dict) else value
        # Code and message are in the event itself (quirk DASH-ERROR-EVENT), or in `error`.
        code = holder.get("code") or holder.get("type") or "error"
        self.turn.fail(quote(code), quote(holder.get("message") or error or value))


read = reads_with(_Reader)
