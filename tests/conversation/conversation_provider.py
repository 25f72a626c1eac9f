"""A provider and tools for tests of agents: replies in order, everything kept.

A body is made by `said`, which writes an openai-chat stream, or given as it is.
"""

import json
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from harness.conversation.task import Reply, Task, ToolFailed
from harness.dialects.table import DIALECTS
from harness.providers import Capabilities
from harness.turns.deltas import CUT_SHORT, Delta, Finish, FinishReason, StreamFailure
from harness.turns.turn import Tool
from harness.wire.framing import iter_frames
from harness.wire.interaction import Request

Call: TypeAlias = tuple[str, str, str]  # id, name, arguments

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
WEATHER = Tool("get_weather", "Weather of a city.", CITY)
MEMORY = Tool("memory.set", "Remembers.", {"type": "object"})
FAILING = Tool("always_fails", "Fails.", {"type": "object"})
TOOLS = (WEATHER, MEMORY, FAILING)

STOP, LENGTH, FILTER = FinishReason.STOP, FinishReason.LENGTH, FinishReason.CONTENT_FILTER
# The API's words for the ends of turns; Ollama has none for a filter.
_ENDS: Final[dict[str, dict[FinishReason, str]]] = {
    "anthropic": {STOP: "end_turn", LENGTH: "max_tokens", FILTER: "refusal"},
    "bedrock-converse": {STOP: "end_turn", LENGTH: "max_tokens", FILTER: "content_filtered"},
    "gemini": {STOP: "STOP", LENGTH: "MAX_TOKENS", FILTER: "SAFETY"},
    "ollama": {STOP: "stop", LENGTH: "length"},
    "openai-responses": {STOP: "stop", LENGTH: "length", FILTER: "content_filter"},
}
SPELLINGS: Final[dict[str, Any]] = {name: DIALECTS[name].writer_options() for name in _ENDS}


class Provider:
    """Answers requests with the given replies, the last one for ever.

    Args:
        replies: bodies; or a status and a body; or an error that the network raises.
        most: requests, after which an agent counts as endless.
    """

    def __init__(self, *replies: bytes | tuple[int, bytes] | OSError, most: int = 60) -> None:
        self.replies = list(replies)
        self.bodies: list[dict[str, Any]] = []
        self.executed: list[tuple[str, dict[str, Any]]] = []
        self._most = most

    def send(self, request: Request) -> Reply:
        assert len(self.bodies) < self._most, "the agent does not end"
        self.bodies.append(json.loads(request.body))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if isinstance(reply, OSError):
            raise reply
        status, body = reply if isinstance(reply, tuple) else (200, reply)
        return Reply(status, (("content-type", "text/event-stream"),), _reads(body))

    def call_tool(self, name: str, arguments: dict[str, Any]) -> object:
        if name not in {tool.name for tool in TOOLS}:
            raise KeyError(name)
        self.executed.append((name, arguments))
        if name == FAILING.name:
            raise ToolFailed("it is broken")
        return {"ran": name, **arguments}

    def task(self, *questions: str, **fields: Any) -> Task:  # noqa: ANN401 - any field of a task
        fields = {"capabilities": Capabilities(supports_tool_use=True), **fields}
        asked = questions or ("What is the weather in Oslo?",)
        fields = {"tools": TOOLS, "model": "m", **fields}
        return Task(asked, send=self.send, call_tool=self.call_tool, **fields)

    def messages(self, number: int = -1) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.bodies[number]["messages"]
        return found


def said(
    text: str = "", calls: tuple[Call, ...] = (), finish: str | None = "", *, reasoning: str = ""
) -> bytes:
    """Return a stream that says `text` and makes `calls`; None for `finish` breaks it off."""
    listed = [
        {"index": at, "id": call[0], "type": "function", "function": _function(call)}
        for at, call in enumerate(calls)
    ]
    delta = {"role": "assistant", "content": text, "reasoning_content": reasoning}
    chunks: list[dict[str, Any]] = [{"delta": delta | ({"tool_calls": listed} if listed else {})}]
    if finish is None:
        return b"".join(map(_event, chunks))
    finish = finish or ("tool_calls" if calls else "stop")
    chunks.append({"delta": {}, "finish_reason": finish})
    return b"".join(map(_event, chunks)) + b"data: [DONE]\n\n"


def as_dialect(body: bytes, dialect: str) -> bytes:
    """Return a stream of `said` as another API spells it; anything else as it is."""
    if not body.startswith(b'data: {"id": "x"') or not body.endswith(b"\n\n"):
        return body
    deltas = DIALECTS["openai-chat"].read(iter_frames([body]), ())
    spelled = tuple(_ended(delta, dialect) for delta in deltas)
    return b"".join(DIALECTS[dialect].write(spelled, SPELLINGS[dialect]))


def _ended(delta: Delta, dialect: str) -> Delta:
    """Return `delta`, the end of a turn under the API's own word; without one it breaks off."""
    if not isinstance(delta, Finish):
        return delta
    words = _ENDS[dialect]
    reason = delta.reason if delta.reason in CUT_SHORT else STOP
    return Finish(reason, words[reason]) if reason in words else StreamFailure("interrupted")


def weather(call_id: str = "c1", city: str = "Oslo") -> Call:
    return (call_id, WEATHER.name, json.dumps({"city": city}))


def _function(call: Call) -> dict[str, str]:
    return {"name": call[1], "arguments": call[2]}


def _event(choice: dict[str, Any]) -> bytes:
    chunk = {"id": "x", "object": "chat.completion.chunk", "choices": [{"index": 0, **choice}]}
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n".encode("utf-8", "surrogatepass")


def _reads(body: bytes) -> Iterator[bytes]:
    for start in range(0, len(body), 97):
        yield body[start : start + 97]
