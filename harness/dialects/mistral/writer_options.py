"""The ways in which Mistral's API really writes a stream; first values are the contract.

Any combination must read back to the same turn, which the round-trip test checks.
"""

from typing import Literal

from harness.dialects.kit.options import Options


class WriterOptions(Options, frozen=True):
    """How a stream is written.

    Fields:
        content: text as a string, or as a list of parts, as models that reason send it
            (`MIST-CONTENT-PARTS`).
        sources: parts that only point to sources are between those with text.
        closed: reasoning parts say that they are closed, though more of them follow.
        call_id: `null` is the text "null" (`MIST-ID-NULL`).
        index: `DELTA-INDEX-MISSING`, `DELTA-INDEX-ALL-ZERO`.
        call_type: `DELTA-TYPE-MISSING`.
        arguments: `object` is a JSON object instead of its text (`ARGS-OBJECT`).
        calls: all of a turn in one delta, each in its own, or in fragments, as some models
            send it (`MIST-CALL-FRAGMENTS`).
        later_id: in the fragments that follow the first one of a call (`MIST-ID-NULL`).
        finish: with the last delta, or in a separate chunk.
        done: whether `[DONE]` ends the stream (`SSE-DONE-MISSING`).
        padding: the key `p` of random length in each chunk.
        document: one complete completion instead of a stream (`JSON-FOR-STREAM`).
        model, response_id: what the chunks carry.
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
