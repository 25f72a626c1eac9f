"""How a Llama stream on Bedrock is spelled; first values are the contract."""

from typing import Literal

import msgspec


class Spelling(msgspec.Struct, frozen=True):
    """How a stream is written.

    Fields:
        finish: in an event of its own, with an empty text, or in that of the last text.
        metrics: whether the last event has what Bedrock counted.
        model: in no event; for the address of the request.
    """

    finish: Literal["own-event", "with-text"] = "own-event"
    metrics: bool = True
    model: str = "any"
