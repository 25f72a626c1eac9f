"""How a generateContent stream is written; each switch is a quirk of real streams."""

from typing import Literal

from harness.dialects.kit.options import Options


class WriterOptions(Options, frozen=True):
    """The switches of `write`; the first value of each is the contract.

    Fields:
        framing: SSE as with `alt=sse`, or one JSON array as without it, or one object a line
            as clients log it; `document` is the complete response that was not streamed.
        line_end: of the SSE framing.
        names: `snake` is how Python clients write the members.
        wrapped: each event inside `response`, as Code Assist does.
        call_id: the API's id is optional (`GEM-NO-ID`).
        together: parallel calls in the parts of one event (`GEM-PARALLEL-SEPARATE-CHUNKS`
            if they are apart).
        arguments: `partial` is Vertex AI's streaming of them (`GEM-PARTIAL-ARGS`).
        call_end: how a call in parts ends: an empty part, or the last one with a value.
        signature: which calls have a `thoughtSignature` (`GEM-SIGNATURE-FIRST-ONLY`).
        finish: if the finish reason is (`GEM-FINISH-NO-PARTS`, `GEM-FINISH-NUMBER`);
            `absent` leaves it out.
        usage: running totals in each event, or only at the end.
        candidate: the index of the candidate; None leaves it out.
        model, response_id: what the events carry.
    """

    framing: Literal["sse", "array", "lines", "document"] = "sse"
    line_end: Literal["crlf", "lf", "cr"] = "crlf"
    names: Literal["camel", "snake"] = "camel"
    wrapped: bool = False
    call_id: Literal["own", "absent"] = "own"
    together: bool = False
    arguments: Literal["whole", "partial"] = "whole"
    call_end: Literal["empty", "with-value"] = "empty"
    signature: Literal["first", "all", "absent"] = "first"
    finish: Literal["own-event", "with-last", "no-parts", "no-content", "number", "absent"] = (
        "own-event"
    )
    usage: Literal["each", "last"] = "each"
    candidate: int | None = 0
    model: str = "gemini-2.5-flash"
    response_id: str = "r-1"
