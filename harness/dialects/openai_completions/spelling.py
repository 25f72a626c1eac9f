"""How an openai-completions stream is spelled; first values are the contract."""

from typing import Literal

import msgspec


class Spelling(msgspec.Struct, frozen=True):
    """How a stream is written.

    Fields:
        finish: where the finish reason stands: with an empty text, or with the last text.
        usage: with the chunk of its own that `stream_options` asks for, or with the finish.
        done: whether `[DONE]` ends the stream (`SSE-DONE-MISSING`).
        choice: the index of the choice; None leaves it out.
        logprobs: whether the member is there, null.
        space: after `data:` (`SSE-NO-SPACE`).
        crlf: whether lines end with CRLF (`SSE-CRLF`).
        model, response_id: what the chunks carry.
    """

    finish: Literal["own-chunk", "with-text"] = "own-chunk"
    usage: Literal["own-chunk", "with-finish"] = "own-chunk"
    done: bool = True
    choice: int | None = 0
    logprobs: bool = True
    space: bool = True
    crlf: bool = False
    model: str = "gpt-3.5-turbo-instruct"
    response_id: str = "cmpl-1"
