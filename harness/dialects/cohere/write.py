"""Write deltas as the events of a Cohere stream of either version, controlled by options.

Source: https://docs.cohere.com/reference/chat-stream and /reference/chat-stream-v1,
/docs/streaming, /docs/tool-use-streaming and /v1/docs/streaming
"""

from abc import abstractmethod
from typing import ClassVar, Literal

from harness.dialects.kit.frames import DONE, json_lines, sse_events
from harness.dialects.kit.options import Options
from harness.dialects.kit.writer import (
    CallEnd,
    Json,
    Writer,
    exact_object_or_text,
    finish_words,
    token_counts,
    writes_with,
)
from harness.turns.deltas import Delta, FinishReason, StreamFailure, ToolCallStart
from harness.turns.exact_json import write_exactly


class WriterOptions(Options, frozen=True):
    """Sets how the writer of the dialect `cohere` writes a stream.

    The default of each option is what the API documents.

    Fields:
        version: the version of the API. Version 1 has no ids of calls.
        framing: server-sent events, or a line for each event.
        event_name: whether events have an `event` line in addition to their type.
        done: whether `[DONE]` follows the last event of v2.
        reasoning: v2 has plan and thinking; v1 has the plan alone, under another name.
        arguments: fragments after the start of a call, or all arguments in its start.
        tool_call_end: whether calls of v2 have their end event (`COH-TOOL-EVENTS`).
        citations: whether a citation is between the parts of the text.
        calls: how v1 sends calls: as fragments and a list, as the list alone, or as fragments.
        answer: whether the last event of v1 repeats the complete response (`COH-ANSWER-TWICE`).
        line_end: the end of lines in events, or of JSON lines.
        model, response_id: the model is that of the request; no event names it.
    """

    version: Literal["v2", "v1"] = "v2"
    framing: Literal["sse", "ndjson"] = "sse"
    event_name: bool = True
    done: bool = True
    reasoning: Literal["plan", "thinking"] = "plan"
    arguments: Literal["pieces", "with-start"] = "pieces"
    tool_call_end: bool = True
    citations: bool = False
    calls: Literal["both", "list", "pieces"] = "both"
    answer: bool = True
    line_end: Literal["lf", "crlf"] = "lf"
    model: str = "command-a-03-2025"
    response_id: str = "c0ffee00-0000-4000-8000-000000000001"


class _Writer(Writer[WriterOptions]):
    """Base of the writers of both versions: their framing, and an error as the last event."""

    FINISH_WORDS: ClassVar = finish_words(
        stop="COMPLETE",
        tool_calls="TOOL_CALL",
        length="MAX_TOKENS",
        content_filter="ERROR_TOXIC",
        other="OTHER",
    )

    def events(self) -> tuple[bytes, ...]:
        if self.deltas:
            self.values.append(self.start())
        self.take_all()
        options = self.options
        payloads = [write_exactly(value).encode() for value in self.values]
        if options.framing == "ndjson":
            return json_lines(payloads, options.line_end)
        names = [value.get("type") or value.get("event_type") or "" for value in self.values]
        if options.done and self.values and self.values[-1].get("type") == "message-end":
            payloads.append(DONE)
            names.append("")
        shown = names if options.event_name else ()
        return sse_events(payloads, shown, line_end=options.line_end)

    @abstractmethod
    def start(self) -> Json:
        """Return the JSON value of the first event."""

    @abstractmethod
    def end(self, word: str, error: str = "") -> Json:
        """Return the JSON value of the last event."""

    def finish(self, word: str) -> None:
        self.values.append(self.end(word))

    def fail(self, failure: StreamFailure) -> None:
        bare: Json = {"message": failure.message}
        is_bare = failure.code == "error"
        self.values.append(bare if is_bare else self.end(failure.code, failure.message))


class _WriterV1(_Writer):
    """Writes version 1 of the API, whose last events repeat what came before."""

    FINISH_WORDS: ClassVar = {**_Writer.FINISH_WORDS, FinishReason.TOOL_CALLS: "COMPLETE"}

    def begin(self) -> None:
        self._text = ""
        self._plan = ""

    def start(self) -> Json:
        about = {"event_type": "stream-start", "generation_id": self.options.response_id}
        return {"is_finished": False, **about}

    def text(self, text: str) -> None:
        self._text += text
        self._add("text-generation", text=text)

    def reasoning(self, text: str) -> None:
        self._plan += text
        self._add("tool-calls-chunk", text=text)

    def start_call(self, start: ToolCallStart) -> None:
        self._piece(start.index, name=start.name)

    def continue_call(self, index: int, fragment: str) -> None:
        self._piece(index, parameters=fragment)

    def finish(self, word: str) -> None:
        if self.starts and self.options.calls != "pieces":
            self._add("tool-calls-generation", text=self._plan, tool_calls=self._calls())
        super().finish(word)

    def _piece(self, index: int, **fields: str) -> None:
        if self.options.calls != "list":
            self._add("tool-calls-chunk", tool_call_delta={"index": index, **fields})

    def _add(self, kind: str, **fields: object) -> None:
        self.values.append({"is_finished": False, "event_type": kind, **fields})

    def _calls(self) -> list[Json]:
        return [
            {"name": start.name, "parameters": _parameters(self.arguments[index])}
            for index, start in self.starts.items()
        ]

    def end(self, word: str, error: str = "") -> Json:
        failed = {"error": error} if error else {}
        end = {"event_type": "stream-end", **failed, "finish_reason": word}
        return {"is_finished": True, **end, "response": self._response(word)}

    def _response(self, word: str) -> Json:
        tokens = token_counts(self.total, "input_tokens", "output_tokens")
        response: Json = {
            "response_id": f"r-{self.options.response_id}",
            "generation_id": self.options.response_id,
            "finish_reason": word,
            **({"meta": {"api_version": {"version": "1"}, "tokens": tokens}} if tokens else {}),
        }
        if not self.options.answer:
            return response
        calls = self.starts and self.options.calls != "pieces"
        calls_again = {"tool_calls": self._calls()} if calls else {}
        return {**response, "text": self._text or self._plan, **calls_again}


def _parameters(text: str) -> object:
    """Return the JSON object in `text` with exact digits; {} for "", or `text` if it is not one."""
    return exact_object_or_text(text) if text else {}


class _WriterV2(_Writer):
    """Writes version 2 of the API, in which each content block is closed before the next."""

    def begin(self) -> None:
        self._blocks = 0
        self._block = ""  # the kind of content that is open

    def start(self) -> Json:
        empty: Json = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": []}
        message = {**empty, "citations": []}
        start: Json = {"id": self.options.response_id, "type": "message-start"}
        return {**start, "delta": {"message": message}}

    # Content

    def reasoning(self, text: str) -> None:
        if self.options.reasoning == "thinking":
            self._content("thinking", text)
            return
        self._close_block()
        self.values.append({"type": "tool-plan-delta", "delta": {"message": {"tool_plan": text}}})

    def text(self, text: str) -> None:
        self._content("text", text)

    def _content(self, kind: str, text: str) -> None:
        if self._block != kind:
            self._close_block()
            self._block = kind
            self._add("content-start", self._blocks, content={"type": kind, kind: ""})
        self._add("content-delta", self._blocks, content={kind: text})
        if kind == "text" and self.options.citations:
            self._add("citation-start", self._blocks, citations=_citation(text))
            self.values.append({"type": "citation-end", "index": self._blocks})

    def _close_block(self) -> None:
        if self._block:
            self.values.append({"type": "content-end", "index": self._blocks})
            self._block = ""
            self._blocks += 1

    def _add(self, kind: str, index: int, **message: Json) -> None:
        self.values.append({"type": kind, "index": index, "delta": {"message": message}})

    # Calls

    def start_call(self, start: ToolCallStart) -> None:
        self._close_block()
        at_once = self.options.arguments == "with-start"
        arguments = self.arguments[start.index] if at_once else ""
        function = {"name": start.name, "arguments": arguments}
        call: Json = {"id": start.id, "type": "function", "function": function}
        self._add("tool-call-start", start.index, tool_calls=call)

    def continue_call(self, index: int, fragment: str) -> None:
        self._close_block()
        if self.options.arguments != "with-start":
            self._add("tool-call-delta", index, tool_calls={"function": {"arguments": fragment}})

    def end_call(self, end: CallEnd) -> None:
        self._close_block()
        if self.options.tool_call_end:
            self.values.append({"type": "tool-call-end", "index": end.index})

    # The end

    def end(self, word: str, error: str = "") -> Json:
        self._close_block()
        tokens = token_counts(self.total, "input_tokens", "output_tokens")
        counts = {"billed_units": tokens, "tokens": tokens, "cached_tokens": 0}
        usage = {"usage": counts} if tokens else {}
        failed = {"error": error} if error else {}
        return {"type": "message-end", "delta": {**failed, "finish_reason": word, **usage}}


def _citation(text: str) -> Json:
    return {"start": 0, "end": len(text), "text": text, "sources": [], "type": "TEXT_CONTENT"}


def _writer(deltas: tuple[Delta, ...], options: WriterOptions) -> _Writer:
    return (_WriterV1 if options.version == "v1" else _WriterV2)(deltas, options)


write = writes_with(_writer, WriterOptions)
