"""Write deltas as the events of DashScope's native text generation, controlled by options.

Source: https://help.aliyun.com/zh/model-studio/qwen-api-reference (DashScope)
"""

from typing import Final, Literal

from harness.dialects.kit.options import Options
from harness.dialects.kit.writer import Json, Writer, object_or_text, optional_field, writes_with
from harness.turns.deltas import ReasoningDelta, StreamFailure, ToolCallStart
from harness.turns.exact_json import encode_json


class WriterOptions(Options, frozen=True):
    """Sets how the writer of the dialect `dashscope` writes a stream.

    The default of each option is what the API documents.

    Fields:
        output: each event has what is new, or all so far (`DASH-CUMULATIVE`).
        result_format: `text` can contain text only, so a turn with calls or reasoning is
            always written as a message.
        content: text as a string, or as a list of parts, as the multimodal address sends it
            (`DASH-CONTENT-PARTS`).
        later_id, later_name: the id and the name in the increments that follow the first one of a
            call (`DELTA-ID-EMPTY-LATER`, `DELTA-NAME-REPEATED`).
        index: whether calls have an index; the document has none.
        arguments: `object` is a JSON object instead of its text (`ARGS-OBJECT`).
        open_finish: the finish reason before the last event (`DASH-FINISH-NULL-TEXT`).
        finish: in a separate event, or in the last one with content.
        usage: token counts in each event, growing, or in the last one only.
        fields: the lines `id`, `event` and the comment with the status before each payload.
        document: one document instead of a stream (`JSON-FOR-STREAM`).
        model: unused, as no event names it.
        request_id: the id of the request, which all events contain.
    """

    output: Literal["increments", "snapshots"] = "increments"
    result_format: Literal["message", "text"] = "message"
    content: Literal["text", "parts"] = "text"
    later_id: Literal["empty", "absent", "repeated"] = "empty"
    later_name: Literal["absent", "empty", "repeated"] = "absent"
    index: Literal["kept", "absent"] = "kept"
    arguments: Literal["text", "object"] = "text"
    open_finish: Literal["text", "null", "absent"] = "text"
    finish: Literal["own-event", "with-last"] = "own-event"
    usage: Literal["each", "last"] = "each"
    fields: bool = True
    document: bool = False
    model: str = "qwen-plus"
    request_id: str = "request-1"


_OPEN_FINISHES: Final[dict[str, Json]] = {
    "text": {"finish_reason": "null"},
    "null": {"finish_reason": None},
    "absent": {},
}


class _Writer(Writer[WriterOptions]):
    """Writes one response; `_steps` are the messages of its events."""

    def begin(self) -> None:
        self._cumulative = self.options.output == "snapshots" or self.options.document
        self._is_text = self.options.result_format == "text" and all(
            not isinstance(delta, ToolCallStart | ReasoningDelta) for delta in self.deltas
        )
        self._message: Json = {"role": "assistant", "content": ""}
        self._entries: dict[int, Json] = {}
        self._steps: list[Json] = []
        self._error: Json | None = None

    # The framing

    def events(self) -> tuple[bytes, ...]:
        self.take_all()
        return self._document() if self.options.document else self._stream()

    def _stream(self) -> tuple[bytes, ...]:
        steps = list(self._steps)
        if self.word is not None and (self.options.finish == "own-event" or not steps):
            last = self._message if self._cumulative else {"role": "assistant", "content": ""}
            steps.append(self._copy(last))
        outputs = [self._output(step, None) for step in steps]
        if self.word is not None:
            outputs[-1] = self._output(steps[-1], self.word)
        payloads = [
            self._envelope({"output": output} | self._counts(position, len(outputs)))
            for position, output in enumerate(outputs)
        ]
        framed = [self._framed(at, payload) for at, payload in enumerate(payloads, 1)]
        if self._error is not None:
            framed.append(self._framed(len(framed) + 1, self._error, failed=True))
        return tuple(framed)

    def _document(self) -> tuple[bytes, ...]:
        if self._error is not None:
            return (encode_json(self._error),)
        output = self._output(self._copy(self._message), self.word)
        return (encode_json(self._envelope({"output": output} | self._counts(0, 1))),)

    def _framed(self, number: int, payload: Json, *, failed: bool = False) -> bytes:
        if not self.options.fields and not failed:
            return b"data: " + encode_json(payload) + b"\n\n"
        event, status = ("error", 400) if failed else ("result", 200)
        start = f"id:{number}\nevent:{event}\n:HTTP_STATUS/{status}\ndata:"
        return start.encode() + encode_json(payload) + b"\n\n"

    def _envelope(self, fields: Json) -> Json:
        return {**fields, "request_id": self.options.request_id}

    def _output(self, message: Json, finish: str | None) -> Json:
        fields: Json = {"finish_reason": finish}
        if finish is None:
            fields = _OPEN_FINISHES[self.options.open_finish]
        if self._is_text:
            return {"text": message["content"], **fields}
        content = message["content"]
        if self.options.content == "parts":
            message = {**message, "content": [{"text": content}] if content else []}
        return {"choices": [{"message": message, **fields}]}

    def _counts(self, position: int, events: int) -> Json:
        usage = self.usage
        if usage is None or (self.options.usage == "last" and position < events - 1):
            return {}
        out = usage.output_tokens
        grown = None if out is None else out * (position + 1) // events
        total = (usage.input_tokens or 0) + (grown or 0)
        counts = {"input_tokens": usage.input_tokens, "output_tokens": grown}
        return {"usage": {**counts, "total_tokens": total}}

    # The deltas

    def text(self, text: str) -> None:
        self._extend("content", text)

    def reasoning(self, text: str) -> None:
        self._extend("reasoning_content", text)

    def fail(self, failure: StreamFailure) -> None:
        self._error = self._envelope({"code": failure.code, "message": failure.message})

    def _extend(self, field: str, text: str) -> None:
        self._message[field] = self._message.get(field, "") + text
        self._step({"role": "assistant", "content": "", field: text})

    def start_call(self, start: ToolCallStart) -> None:
        is_object = self.options.arguments == "object"
        first = object_or_text(self.arguments[start.index]) if is_object else ""
        function = {"name": start.name, "arguments": first}
        entry = self._entry(start.index, {"id": start.id}, function)
        self._entries[start.index] = entry
        self._message["tool_calls"] = list(self._entries.values())
        self._step({"role": "assistant", "content": "", "tool_calls": [entry]})

    def continue_call(self, index: int, fragment: str) -> None:
        if self.options.arguments == "object":
            return  # all of it came with the start
        self._entries[index]["function"]["arguments"] += fragment
        start = self.starts[index]
        later: Json = optional_field("name", self.options.later_name, start.name)
        ids = optional_field("id", self.options.later_id, start.id)
        entry = self._entry(index, ids, {**later, "arguments": fragment})
        self._step({"role": "assistant", "content": "", "tool_calls": [entry]})

    def _entry(self, index: int, ids: Json, function: Json) -> Json:
        position: Json = {"index": index} if self.options.index == "kept" else {}
        return {**position, **ids, "type": "function", "function": function}

    def _step(self, increment: Json) -> None:
        self._steps.append(self._copy(self._message if self._cumulative else increment))

    def _copy(self, message: Json) -> Json:
        """Return a copy of `message` that does not change when its calls grow."""
        if "tool_calls" not in message:
            return dict(message)
        entries = [{**e, "function": dict(e["function"])} for e in message["tool_calls"]]
        return {**message, "tool_calls": entries}


write = writes_with(_Writer, WriterOptions)
