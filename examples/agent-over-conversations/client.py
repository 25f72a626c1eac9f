"""A small chat client: the stream of an OpenAI-compatible server -> one completion."""

import json
from collections.abc import Iterable, Iterator


class ServerError(Exception):
    """The server sent an error instead of an answer."""


class TruncatedError(Exception):
    """The stream ended before the server said why it stopped."""


def iter_events(reads: Iterable[bytes]) -> Iterator[str]:
    """Yield the data of each event; a read may end anywhere, also inside a character."""
    rest = b""
    for read in reads:
        *lines, rest = (rest + read).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                yield line.removeprefix(b"data:").strip().decode()


def read_completion(reads: Iterable[bytes]) -> dict:
    """Return the completion that the chunks of a response add up to.

    Raises:
        ServerError: the response contains an error.
        TruncatedError: it has no finish reason.
    """
    content, calls, finish = "", {}, None
    for data in iter_events(reads):
        if data == "[DONE]":
            break
        chunk = json.loads(data)
        if error := chunk.get("error"):
            raise ServerError(json.dumps(error))
        for choice in chunk["choices"][:1]:
            finish = choice.get("finish_reason") or finish
            content += choice["delta"].get("content") or ""
            for piece in choice["delta"].get("tool_calls") or ():
                add_piece(calls, piece)
    if finish is None:
        raise TruncatedError("the response has no finish reason")
    message = {"role": "assistant", "content": content, "tool_calls": list(calls.values())}
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}


def add_piece(calls: dict[int, dict], piece: dict) -> None:
    """Add a piece of a call; some servers send id and name again later, or empty."""
    empty = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
    call = calls.setdefault(piece["index"], empty)
    function, more = call["function"], piece["function"]
    call["id"] = call["id"] or piece.get("id") or ""
    function["name"] = function["name"] or more.get("name") or ""
    function["arguments"] += more.get("arguments") or ""
