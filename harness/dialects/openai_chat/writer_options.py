"""The ways in which real providers write the same openai-chat stream.

Each switch is a quirk of the catalogue; its first value is the API's own contract. Any
combination must read back to the same turn, which the round-trip test checks.
"""

from typing import Literal

from harness.dialects.kit.frames import LineEnd
from harness.dialects.kit.options import Options

RepeatedField = Literal["absent", "empty", "null", "repeated"]


class WriterOptions(Options, frozen=True):
    """How a stream is written.

    Fields:
        first_id: the id in the delta that opens a call (`DELTA-ID-MISSING`).
        later_id: the id in the deltas that follow (`DELTA-ID-EMPTY-LATER`, `-NULL-LATER`).
        later_name: the name there (`DELTA-NAME-REPEATED`, `-NULL-STRINGIFIED`).
        name_pieces: in how many deltas the name comes (`DELTA-NAME-FRAGMENTED`).
        index: `DELTA-INDEX-MISSING`, `-SPARSE`, `-ALL-ZERO`.
        call_type: `DELTA-TYPE-MISSING`, `-EMPTY-OR-NULL`.
        arguments: `ARGS-OBJECT`, `-CUMULATIVE`, `-REPEATED-AT-END`, `-EMPTYOBJ-THEN-REAL`,
            `-NULL`, `DELTA-ID-NAME-NO-ARGS`, `DELTA-FIRST-HAS-ARGS`.
        one_chunk: all calls, complete, in one delta list (`DELTA-MULTI-IN-CHUNK`).
        where: the field that holds the calls (`MESSAGE-NOT-DELTA`, `LEGACY-FUNCTION-CALL`,
            `DELTA-ADDITIONAL-KWARGS`).
        idle: the fields that a delta does not use (`TOOLCALLS-NULL`, `-EMPTY-ARRAY`).
        reasoning_field: `REASONING-FIELD-NAMES`.
        usage: `CHUNK-CHOICES-EMPTY`, `-NULL`, `-ABSENT`.
        finish: `FINISH-EMPTY-STRING`, `-DUPLICATE`, `-TOOLCALLS-THEN-STOP`, `-WITH-CALL`,
            `-STOP-TOO-EARLY`; `absent` leaves it out (with `done` still there).
        done: whether `[DONE]` ends the stream (`SSE-DONE-MISSING`).
        choice: the index of the choice; None leaves it out.
        role: which deltas name the role; most providers do it in the first, some in each.
        open_finish: the finish reason of chunks before the last.
        open_usage: the usage of chunks that have none.
        new_response_ids: a new id in each chunk (`RESPONSE-ID-PER-CHUNK`).
        line_end, space, bom, comment, event_name: the framing (group A).
        model, response_id: what the chunks carry.
    """

    first_id: RepeatedField = "repeated"
    later_id: Literal["absent", "empty", "null", "repeated", "changed"] = "absent"
    later_name: RepeatedField = "absent"
    name_pieces: int = 1
    index: Literal["kept", "absent", "null", "from-one", "negative", "zero"] = "kept"
    call_type: Literal["first", "absent", "null", "empty", "always"] = "first"
    arguments: Literal[
        "fragments",
        "with-start",
        "absent-first",
        "null-first",
        "object",
        "cumulative",
        "whole-again",
        "placeholder-first",
    ] = "fragments"
    one_chunk: bool = False
    where: Literal["delta", "message", "legacy", "additional-kwargs"] = "delta"
    idle: Literal["absent", "null", "empty"] = "absent"
    reasoning_field: Literal["reasoning_content", "reasoning"] = "reasoning_content"
    usage: Literal["own-chunk", "choices-null", "choices-absent", "with-finish"] = "own-chunk"
    finish: Literal[
        "own-chunk",
        "with-call",
        "empty-until-last",
        "twice",
        "then-stop",
        "stop-too-early",
        "absent",
    ] = "own-chunk"
    done: bool = True
    choice: int | None = 0
    role: Literal["absent", "first", "each"] = "absent"
    open_finish: Literal["null", "absent"] = "null"
    open_usage: Literal["absent", "null"] = "absent"
    new_response_ids: bool = False
    line_end: LineEnd = "lf"
    space: bool = True
    bom: bool = False
    comment: str = ""
    event_name: str = ""
    model: str = "gpt-4o-mini"
    response_id: str = "chatcmpl-1"
