"""The ways in which DashScope's native API writes a stream; first values are the contract.

Any combination must read back to the same turn, which the round-trip test checks.
"""

from typing import Literal

from harness.dialects.kit.options import Options


class WriterOptions(Options, frozen=True):
    """How a stream is written.

    Fields:
        output: what is new, or all so far in each event (`DASH-CUMULATIVE`).
        result_format: `text` has room for nothing but text, so a turn with calls or
            reasoning is written as a message all the same.
        content: text as a string, or as a list of parts, as the multimodal address sends it
            (`DASH-CONTENT-PARTS`).
        later_id, later_name: in the increments that follow the first one of a call
            (`DELTA-ID-EMPTY-LATER`, `DELTA-NAME-REPEATED`).
        index: of the calls; the plain response has none.
        arguments: `object` is a JSON object instead of its text (`ARGS-OBJECT`).
        open_finish: the finish reason while the model speaks (`DASH-FINISH-NULL-TEXT`).
        finish: in a separate event, or in the last one with content.
        usage: in each event, growing, or in the last one only.
        fields: the lines `id`, `event` and the comment with the status before each payload.
        document: one plain response instead of a stream (`JSON-FOR-STREAM`).
        model: unused, as no event names it.
        request_id: of all events.
    """

    output: Literal["increments", "snapshots"] = "increments"
    result_format: Literal["message", "text"] = "message"
    content: Literal["text", "parts"] = "text"
    later_id: Literal["empty", "absent", "repeated"] = "empty"
    later_name: Literal["absent", "empty", "repeated"] = "absent"
    index: Literal["kept", "absent"] = "kept"
    arguments: Literal["text", "object"] = "text"
    open_finish: Literal["text", "null", "absent"] = "text"
    finish: Literal["own-event", "with-last"] = "own-event"
    usage: Literal["each", "last"] = "each"
    fields: bool = True
    document: bool = False
    model: str = "qwen-plus"
    request_id: str = "request-1"
