"""The ways in which real providers spell the same openai-chat stream.

Each switch is a quirk of the catalogue; its first value is the API's own contract. Any
combination must read back to the same turn, which is what the round-trip property holds.
"""

from typing import Final, Literal

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
        one_chunk: all calls, whole, in one delta list (`DELTA-MULTI-IN-CHUNK`).
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


PROFILES: Final[dict[str, WriterOptions]] = {
    # 6 of 6 without [DONE], 4 of 5 calls in one chunk.
    "cerebras": WriterOptions(
        arguments="with-start", reasoning_field="reasoning", done=False, role="first"
    ),
    # The seed story (id and name once, then ""), and 1 of 1 stream with a call: "" as the later
    # id, the type in each delta. https://help.aliyun.com/zh/model-studio/qwen-function-calling
    "dashscope": WriterOptions(
        later_id="empty", later_name="empty", call_type="always", idle="null"
    ),
    # 0 of 47 streams have a chunk of usage alone. https://api-docs.deepseek.com/api/create-chat-completion
    "deepseek": WriterOptions(usage="with-finish", role="first"),
    # 5 of 5 streams with a call: whole, no index, the finish reason beside it; 12 of 12 without
    # [DONE].
    "gpustack": WriterOptions(
        arguments="with-start", index="absent", finish="with-call", done=False
    ),
    # 18 of 18 streams with a call: each whole, in one chunk.
    "groq": WriterOptions(arguments="with-start", reasoning_field="reasoning", role="first"),
    # 8 of 8 streams with a call: whole; 9 of 17 name the role in each delta.
    "ollama": WriterOptions(arguments="with-start", reasoning_field="reasoning", role="each"),
    # 163 of 197 streams have the comment, 188 the role in each delta, 9 a chunk of usage alone.
    # https://openrouter.ai/docs/api-reference/streaming
    "openrouter": WriterOptions(
        comment=" OPENROUTER PROCESSING",
        reasoning_field="reasoning",
        role="each",
        usage="with-finish",
    ),
    # 2 of 2 streams with a call: null as the later id and name, the type in each delta.
    "venice": WriterOptions(later_id="null", later_name="null", call_type="always"),
    # Volcano Ark. https://www.volcengine.com/docs/82379/1449722: the role in each delta, a call
    # whole beside its finish reason, `[DONE]`; recorded chunks have `"usage": null` and no finish
    # reason before the last.
    "volcengine": WriterOptions(
        arguments="with-start",
        finish="with-call",
        role="each",
        open_finish="absent",
        open_usage="null",
        response_id="021760000000000000000000000000000000000000000000000",
    ),
    # 15 of 15 streams with a call: each whole, in one chunk.
    "xai": WriterOptions(arguments="with-start", role="first"),
    # 8 of 8 streams with a call: whole; 10 of 10 name the role in each delta.
    "zai": WriterOptions(arguments="with-start", role="each", usage="with-finish"),
}
