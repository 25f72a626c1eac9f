"""The ways in which servers write an Ollama stream; the first value of each is the contract.

Each switch is a deviation that was seen in a recorded stream or in a cited issue; ids are
those of the catalogue.
"""

from typing import Literal

from harness.dialects.kit.options import Options


class WriterOptions(Options, frozen=True):
    """How a stream is written.

    Fields:
        endpoint: `/api/chat`, or `/api/generate` with its own field for text.
        call_id: whether calls have ids; servers before 2025-10 sent none (`OLL-ARGS-OBJECT`).
        index: `function.index`: that of the call, left out if it is 0, or never there.
        arguments: an object as documented, or its text (`OLL-ARGS-TEXT`).
        calls: a line for each call, one line for all of them, or the last line of the
            stream (`OLL-CALLS-WITH-DONE`).
        done_reason: whether the last line says why it ended; the first servers did not.
        final_newline: whether the last line has its line end (`NDJSON-NO-FINAL-NEWLINE`).
        line_end: between the lines.
        model, second: what the lines carry; the second is that of `created_at`.
    """

    endpoint: Literal["chat", "generate"] = "chat"
    call_id: Literal["kept", "absent"] = "kept"
    index: Literal["kept", "without-zero", "absent"] = "kept"
    arguments: Literal["object", "text"] = "object"
    calls: Literal["line-each", "one-line", "with-done"] = "line-each"
    done_reason: bool = True
    final_newline: bool = True
    line_end: Literal["lf", "crlf"] = "lf"
    model: str = "qwen3:4b"
    second: str = "2026-01-05T10:00:00"
