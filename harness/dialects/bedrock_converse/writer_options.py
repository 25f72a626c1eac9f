"""How a ConverseStream response is written; first values are the contract."""

from typing import Literal

from harness.dialects.kit.options import Options


class WriterOptions(Options, frozen=True):
    """How a stream is written.

    Fields:
        framing: AWS messages, or the JSON lines that older recordings keep of them.
        padding: whether each event is padded, so that its length reveals nothing.
        tool_type: whether a call's block has the type for tools that the client runs (Nova does).
        input: of a call, as it came, in one fragment, or also with an empty one before
            (`BED-EMPTY-INPUT` if that is the only one).
        block_starts: which blocks have a start; text has none with most models.
        block_stops: whether blocks have an end.
        first_index: of the first block; reasoning that is not shown takes an index too.
        gaps: how many indexes stay unused between two blocks.
        metadata: whether usage has a separate event at the end.
        model: in no event; for the address of the request.
    """

    framing: Literal["messages", "lines"] = "messages"
    padding: bool = True
    tool_type: Literal["absent", "given"] = "absent"
    input: Literal["fragments", "whole", "empty-first"] = "fragments"
    block_starts: Literal["calls", "all"] = "calls"
    block_stops: bool = True
    first_index: int = 0
    gaps: int = 0
    metadata: bool = True
    model: str = "any"
