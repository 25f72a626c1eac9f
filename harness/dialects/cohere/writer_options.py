"""The ways in which Cohere writes a stream; the first value of each is the contract of v2.

Each switch is a difference of the two versions, or a deviation that was seen in a recorded
stream or in a cited issue; ids are those of the catalogue.
"""

from typing import Literal

from harness.dialects.kit.options import Options


class WriterOptions(Options, frozen=True):
    """How a stream is written.

    Fields:
        version: of the API. Version 1 has no ids of calls.
        framing: server-sent events, or a line for each event.
        event_name: whether events have an `event` line in addition to their type.
        done: whether `[DONE]` follows the last event of v2.
        reasoning: v2 has plan and thinking; v1 has the plan alone, under another name.
        arguments: pieces after the start of a call, or all of them in its start.
        tool_call_end: whether calls of v2 have their end event (`COH-TOOL-EVENTS`).
        citations: whether a citation is between the pieces of text.
        calls: of v1: pieces and a list, the list alone, the pieces alone.
        answer: whether the last event of v1 repeats the complete response (`COH-ANSWER-TWICE`).
        line_end: of events and lines.
        model, response_id: the model is that of the request; no event names it.
    """

    version: Literal["v2", "v1"] = "v2"
    framing: Literal["sse", "ndjson"] = "sse"
    event_name: bool = True
    done: bool = True
    reasoning: Literal["plan", "thinking"] = "plan"
    arguments: Literal["pieces", "with-start"] = "pieces"
    tool_call_end: bool = True
    citations: bool = False
    calls: Literal["both", "list", "pieces"] = "both"
    answer: bool = True
    line_end: Literal["lf", "crlf"] = "lf"
    model: str = "command-a-03-2025"
    response_id: str = "c0ffee00-0000-4000-8000-000000000001"
