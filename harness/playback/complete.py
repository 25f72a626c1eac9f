"""Write the turn of a stream as the one document that a request without a stream gets.

A gateway that waits for the whole response sends such a request, also if its own client asked for a
stream. The document has the meaning of the stream, and none of its format's quirks.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from harness.dialects.table import DIALECTS, tool_names
from harness.turns.deltas import Delta, StreamFailure
from harness.turns.fold import Folder
from harness.turns.turn import Turn
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction

Json: TypeAlias = dict[str, Any]


def complete_response(interaction: Interaction, body: bytes) -> bytes | None:
    """Return the document for the stream `body`.

    It is None if the turn failed, or if the harness writes no documents of the API.

    Args:
        interaction: the interaction, which names the dialect and the tools.
        body: the body of the response.
    """
    dialect = DIALECTS[interaction.dialect]
    deltas = tuple(dialect.read(iter_frames([body]), tuple(sorted(tool_names(interaction)))))
    write = _WRITERS.get(dialect.name)
    if write is None or any(isinstance(delta, StreamFailure) for delta in deltas):
        return None
    try:
        return write(deltas)
    except (ValueError, KeyError):  # the API cannot express a delta, or some call has no document
        return None


def _by_option(name: str, option: str, value: object) -> Callable[[tuple[Delta, ...]], bytes]:
    """Return a function that writes a document with an option of the dialect's writer."""

    def write(deltas: tuple[Delta, ...]) -> bytes:
        dialect = DIALECTS[name]
        return b"".join(dialect.write(deltas, dialect.writer_options(**{option: value})))

    return write


def _chat(deltas: tuple[Delta, ...]) -> bytes:
    turn = _turn(iter(deltas))
    calls = [
        {"id": it.id, "type": "function", "function": {"name": it.name, "arguments": it.arguments}}
        for it in turn.tool_calls
    ]
    message: Json = {"role": "assistant", "content": turn.text or None}
    message |= {"reasoning_content": turn.reasoning} if turn.reasoning else {}
    message |= {"tool_calls": calls} if calls else {}
    reason = turn.finish.raw if turn.finish else None
    value: Json = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1_760_000_000}
    value |= {"model": "replay"}
    value |= {"choices": [{"index": 0, "message": message, "finish_reason": reason}]}
    counts = [turn.usage.input_tokens or 0, turn.usage.output_tokens or 0] if turn.usage else [9, 9]
    names = ("prompt_tokens", "completion_tokens", "total_tokens")
    value |= {"usage": dict(zip(names, (*counts, sum(counts)), strict=True))}
    return json.dumps(value, ensure_ascii=False).encode()


def _turn(deltas: Iterator[Delta]) -> Turn:
    folder = Folder()
    folder.add(deltas)
    return folder.turn()


def _responses(deltas: tuple[Delta, ...]) -> bytes:
    last = DIALECTS["openai-responses"].write(deltas)[-1]
    response = json.loads(last.partition(b"data: ")[2])["response"]
    return json.dumps(response, ensure_ascii=False).encode()


_WRITERS: Final[Mapping[str, Callable[[tuple[Delta, ...]], bytes]]] = {
    "anthropic": _by_option("anthropic", "whole", "document"),
    "gemini": _by_option("gemini", "framing", "document"),
    "mistral": _chat,
    "openai-chat": _chat,
    "openai-responses": _responses,
}
