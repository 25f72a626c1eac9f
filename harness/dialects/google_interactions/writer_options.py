"""How an Interactions stream is written; each switch is a quirk of real streams."""

from typing import Literal

from harness.dialects.kit.options import Options


class WriterOptions(Options, frozen=True):
    """The switches of `write`; the first value of each is the contract.

    Fields:
        version: `steps`, or `contents` as the first version of the API has it.
        arguments: of a call as fragments of text, or complete at its start.
        framing: named server-sent events, or one object a line as clients log it; `document`
            is the interaction that was not streamed.
        done: whether `[DONE]` ends the stream.
        status: `absent` leaves out the last event, with the state of the interaction.
        line_end: of the server-sent events.
        model, interaction_id: what the events carry.
    """

    version: Literal["steps", "contents"] = "steps"
    arguments: Literal["fragments", "at-start"] = "fragments"
    framing: Literal["sse", "lines", "document"] = "sse"
    done: bool = True
    status: Literal["completed", "absent"] = "completed"
    line_end: Literal["lf", "crlf"] = "lf"
    model: str = "gemini-3-flash-preview"
    interaction_id: str = "v1_1"
