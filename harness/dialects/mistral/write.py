"""Write deltas as the events of a Mistral chat stream, or as a complete response.

Calls are written complete, as the API does, unless the options ask for fragments.
Source: https://docs.mistral.ai/api/#tag/chat
"""

from typing import Any, Final, Literal

from harness.dialects.kit.frames import DONE, sse_events
from harness.dialects.kit.options import Options
from harness.dialects.kit.writer import (
    CREATED,
    Json,
    Writer,
    object_or_text,
    openai_usage,
    writes_with,
)
from harness.turns.deltas import StreamFailure, ToolCallStart
from harness.turns.exact_json import encode_json


class WriterOptions(Options, frozen=True):
    """Sets how the writer of the dialect `mistral` writes a stream.

    The default of each option is what the API documents.

    Fields:
        content: text as a string, or as a list of parts, as models that reason send it
            (`MIST-CONTENT-PARTS`).
        sources: parts that only point to sources are between those with text.
        closed: reasoning parts say that they are closed, though more of them follow.
        call_id: `null` is the text "null" (`MIST-ID-NULL`).
        index: `DELTA-INDEX-MISSING`, `DELTA-INDEX-ALL-ZERO`.
        call_type: `DELTA-TYPE-MISSING`.
        arguments: `object` is a JSON object instead of its text (`ARGS-OBJECT`).
        calls: all calls of a turn in one delta, each in a separate one, or in fragments, as some
            models send it (`MIST-CALL-FRAGMENTS`).
        later_id: the id in the fragments that follow the first one of a call (`MIST-ID-NULL`).
        finish: with the last delta, or in a separate chunk.
        done: whether `[DONE]` ends the stream (`SSE-DONE-MISSING`).
        padding: the key `p` of random length in each chunk.
        document: one complete completion instead of a stream (`JSON-FOR-STREAM`).
        model, response_id: their values in the chunks.
    """

    content: Literal["text", "parts"] = "text"
    sources: bool = False
    closed: bool = False
    call_id: Literal["kept", "absent", "null"] = "kept"
    index: Literal["kept", "absent", "zero"] = "kept"
    call_type: Literal["absent", "function", "null"] = "absent"
    arguments: Literal["text", "object"] = "text"
    calls: Literal["together", "apart", "fragments"] = "together"
    later_id: Literal["absent", "null"] = "absent"
    finish: Literal["with-last", "own-chunk"] = "with-last"
    done: bool = True
    padding: bool = False
    document: bool = False
    model: str = "mistral-small-latest"
    response_id: str = "cmpl-1"


_MOST_PADDING: Final = 7


class _Writer(Writer[WriterOptions]):
    """Writes one response; `_messages` are its deltas as messages of the API."""

    def begin(self) -> None:
        self._messages: list[Json] = []
        self._error: Json | None = None

    # The framing

    def events(self) -> tuple[bytes, ...]:
        self.take_all()
        return self._document() if self.options.document else self._stream()

    def _stream(self) -> tuple[bytes, ...]:
        chunks = [self._chunk({"role": "assistant", "content": ""})]
        chunks += [self._chunk(message) for message in self._messages]
        if self.word is not None:
            # The first chunk opens the stream and nothing else.
            if self.options.finish == "own-chunk" or not self._messages:
                chunks.append(self._chunk({"content": ""}))
            chunks[-1]["choices"][0]["finish_reason"] = self.word
        if self.usage is not None:
            chunks[-1]["usage"] = openai_usage(self.usage)
        if self.options.padding:
            for number, chunk in enumerate(chunks):
                chunk["p"] = "abcdefg"[: 1 + number % _MOST_PADDING]
        chunks += [self._error] if self._error else []
        payloads = [encode_json(chunk) for chunk in chunks]
        payloads += [DONE] if self.options.done and not self.failed else []
        return sse_events(payloads)

    def _document(self) -> tuple[bytes, ...]:
        if self._error is not None:
            return (encode_json(self._error),)
        message = {"role": "assistant", "content": self._content(), "tool_calls": None}
        calls = [entry for each in self._messages for entry in each.get("tool_calls", ())]
        if calls:
            message["tool_calls"] = calls
        choice = {"index": 0, "message": message, "finish_reason": self.word}
        fields: Json = {"choices": [choice]}
        if self.usage is not None:
            fields["usage"] = openai_usage(self.usage)
        return (encode_json({**self._envelope("chat.completion"), **fields}),)

    def _content(self) -> object:
        contents = [message["content"] for message in self._messages if "content" in message]
        if all(isinstance(content, str) for content in contents):
            return "".join(contents)
        return [part for content in contents for part in _as_parts(content)]

    def _envelope(self, kind: str) -> Json:
        options = self.options
        start = {"id": options.response_id, "object": kind, "created": CREATED}
        return {**start, "model": options.model}

    def _chunk(self, delta: Json) -> Json:
        choice = {"index": 0, "delta": delta, "finish_reason": None}
        return {**self._envelope("chat.completion.chunk"), "choices": [choice]}

    # The deltas

    @property
    def _in_fragments(self) -> bool:
        return self.options.calls == "fragments" and not self.options.document

    def text(self, text: str) -> None:
        if self.options.content == "text":
            self._messages.append({"content": text})
            return
        parts: list[Json] = [{"type": "text", "text": text}]
        if self.options.sources:
            parts.append({"type": "reference", "reference_ids": [len(self._messages)]})
        self._messages.append({"content": parts})

    def reasoning(self, text: str) -> None:
        """Write reasoning as a part of a list, even if the option `content` asks for strings."""
        part: Json = {"type": "thinking", "thinking": [{"type": "text", "text": text}]}
        if self.options.closed:
            part["closed"] = True
        self._messages.append({"content": [part]})

    def start_call(self, start: ToolCallStart) -> None:
        if self._in_fragments or self.options.calls == "apart":
            self._messages.append({"tool_calls": [self._entry(start)]})
        elif start.index == min(self.starts):
            self._messages.append({"tool_calls": [*map(self._entry, self.starts.values())]})

    def continue_call(self, index: int, fragment: str) -> None:
        if not self._in_fragments:
            return
        entry: Json = {"id": "null"} if self.options.later_id == "null" else {}
        entry["function"] = {"name": "", "arguments": fragment}
        self._messages.append({"tool_calls": [{**entry, **self._index(index)}]})

    def _entry(self, start: ToolCallStart) -> Json:
        options = self.options
        ids: dict[str, Json] = {"kept": {"id": start.id}, "null": {"id": "null"}}
        types: dict[str, Json] = {"function": {"type": "function"}, "null": {"type": None}}
        return {
            **ids.get(options.call_id, {}),
            **types.get(options.call_type, {}),
            "function": {"name": start.name, "arguments": self._arguments(start.index)},
            **self._index(start.index),
        }

    def _index(self, index: int) -> Json:
        if self.options.index == "absent":
            return {}
        return {"index": 0 if self.options.index == "zero" else index}

    def _arguments(self, index: int) -> object:
        text = "" if self._in_fragments else self.arguments[index]
        return object_or_text(text) if self.options.arguments == "object" else text

    def fail(self, failure: StreamFailure) -> None:
        start = {"object": "error", "message": failure.message, "type": failure.code}
        self._error = {**start, "param": None, "code": failure.code}


def _as_parts(content: object) -> list[Any]:
    return content if isinstance(content, list) else [{"type": "text", "text": content}]


write = writes_with(_Writer, WriterOptions)
