"""The ways in which Anthropic, its clouds and compatible servers write the same messages stream.

Each switch is a quirk of the catalogue; its first value is the API's own contract. Any
combination must read back to the same turn, which the round-trip test checks.
"""

from typing import Literal

from harness.dialects.kit.frames import LineEnd
from harness.dialects.kit.options import Options


class WriterOptions(Options, frozen=True):
    """How a stream is written.

    Fields:
        input: how the input of a call comes: fragments after an empty one, fragments alone,
            one fragment, an object in place of text, complete in the start
            (`ANT-FULL-INPUT-IN-START`), or there and in fragments.
        start_input: the placeholder in the start of a call (`ANT-START-INPUT-PLUS-DELTA`).
        text_at: if the first piece of a text block is; `no-start` leaves out its start.
        index: of the blocks; `zero` and `absent` as some bridges number them.
        block_stop: whether blocks are closed.
        start_twice: whether the start of a call comes twice.
        signature: if the signature of a thinking block comes; `on-calls` as
            `ANT-SIGNATURE-MISPLACED`.
        server_tool: whether the provider runs its own tool before all else.
        ping: `ping` events (`ANT-UNKNOWN-EVENT`).
        unknown: events, blocks and deltas of types that no client knows (`ANT-UNKNOWN-EVENT`).
        complete: the message as a whole, within its start (`ANT-WHOLE-IN-START`) or as the one
            document that a request without a stream gets.
        finish: how often the stop reason comes, and what is there before.
        message_stop: whether the terminal event comes.
        metrics: what Bedrock adds to it.
        usage: which event has the counts.
        done: whether `[DONE]` follows, as gateways add it.
        event_line: whether events are named (`ANT-NO-EVENT-LINE`), or all alike (`chunk`).
        framing: what becomes of events when a tool or a proxy writes them down.
        line_end, space, bom, comment: the framing (group A).
        model, message_id: what the message carries.
    """

    input: Literal[
        "empty-first", "fragments", "one-fragment", "object", "in-start", "start-and-fragments"
    ] = "empty-first"
    start_input: Literal["empty", "absent", "null", "empty-text"] = "empty"
    text_at: Literal["delta", "start", "no-start"] = "delta"
    index: Literal["kept", "sparse", "zero", "absent"] = "kept"
    block_stop: bool = True
    start_twice: bool = False
    signature: Literal["own-delta", "in-start", "absent", "on-calls"] = "own-delta"
    server_tool: bool = False
    ping: Literal["after-start", "absent", "everywhere"] = "after-start"
    unknown: bool = False
    whole: Literal["no", "in-start", "document"] = "no"
    finish: Literal["once", "twice", "null-first"] = "once"
    message_stop: bool = True
    metrics: bool = False
    usage: Literal["split", "at-end", "twice"] = "split"
    done: bool = False
    event_line: Literal["type", "absent", "chunk"] = "type"
    framing: Literal["sse", "lines", "list"] = "sse"
    line_end: LineEnd = "lf"
    space: bool = True
    bom: bool = False
    comment: str = ""
    model: str = "claude-sonnet-4-5"
    message_id: str = "msg_1"
