"""How a text-generation-inference stream is spelled; first values are the contract."""

from typing import Literal

import msgspec


class Spelling(msgspec.Struct, frozen=True):
    """How a stream is written.

    Fields:
        last: the last token is a special one of its own, or the last one of the text
            (`stop_sequence` and `length` end so).
        details: whether the last event says why the model stopped; null where nobody asked.
        index: whether tokens are numbered (older servers do not).
        space: after `data:`; the first servers wrote none (`SSE-NO-SPACE`).
        special_text: of the special token that ends the text.
        model: in no event; for the address of the request.
    """

    last: Literal["special", "text"] = "special"
    details: Literal["given", "null"] = "given"
    index: bool = True
    space: bool = False
    special_text: str = "</s>"
    model: str = "any"
