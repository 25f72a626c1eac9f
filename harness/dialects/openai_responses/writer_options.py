"""The ways in which servers and gateways write the same Responses stream.

Each switch is a quirk of the catalogue; its first value is the API's own contract. Any
combination must read back to the same turn, which the round-trip test checks.
"""

from typing import Literal

import msgspec

from harness.dialects.kit.frames import LineEnd
from harness.dialects.kit.options import Options

_AT_END_OF_ITEM = frozenset(("done-only", "item-only", "object"))


class WriterOptions(Options, frozen=True):
    """How a stream is written.

    Fields:
        api: which of the two APIs names the events (`RESP-REALTIME-EVENTS`).
        arguments: which events hold the arguments (`RESP-NO-ARGUMENT-DELTAS`,
            `RESP-ARGUMENTS-IN-ADDED`, `ARGS-OBJECT`).
        texts: which events hold texts (`RESP-NO-TEXT-DELTAS`).
        item_ids: `RESP-ITEM-ID-ABSENT`, `RESP-ITEM-ID-CHANGES`; if the index is
            lost, the ids are kept.
        output_index: `RESP-OUTPUT-INDEX-LOST`.
        last_ids: of the calls in the terminal event (`RESP-CALL-ID-CHANGES`,
            `RESP-TWO-IDS-TWICE`).
        output: of the terminal event (`RESP-COMPLETED-OUTPUT-EMPTY`, `-NULL`); what only
            is there is written as by contract if it is not there.
        item_done: whether items have an event for their end (`RESP-NO-ITEM-DONE`).
        reasoning: as its summary, or as it is.
        sequence: `RESP-SEQUENCE-NEGATIVE`.
        obfuscation: deltas are padded to hide their length (`RESP-OBFUSCATION`).
        event_lines: whether events have their name next to the payload (`RESP-NO-EVENT-LINE`).
        done: whether `[DONE]` ends the stream (`RESP-DONE-SENTINEL`).
        failure: the event that reports an error.
        line_end: the framing (group A).
        model, response_id: what the response carries.
    """

    api: Literal["responses", "realtime"] = "responses"
    arguments: Literal[
        "fragments", "done-only", "item-only", "terminal-only", "with-start", "object"
    ] = "fragments"
    texts: Literal["deltas", "part-only", "item-only", "terminal-only"] = "deltas"
    item_ids: Literal["kept", "absent", "changing"] = "kept"
    output_index: Literal["kept", "absent", "zero"] = "kept"
    last_ids: Literal["kept", "other-call", "other-item", "both-other"] = "kept"
    output: Literal["items", "empty", "null", "absent"] = "items"
    item_done: bool = True
    reasoning: Literal["summary", "text"] = "summary"
    sequence: Literal["counted", "absent", "negative"] = "counted"
    obfuscation: bool = False
    event_lines: bool = True
    done: bool = False
    failure: Literal["response", "event", "nested-event"] = "response"
    line_end: LineEnd = "lf"
    model: str = "gpt-5-mini"
    response_id: str = "resp_1"


def possible_options(options: WriterOptions) -> WriterOptions:
    """Return `options` without those that would leave a stream without content.

    Without their index, items are distinguished by their ids; what no event contains is in
    deltas.
    """
    changes: dict[str, str] = {}
    if options.output_index != "kept":
        changes["item_ids"] = "kept"
    for switch, plain in (("arguments", "fragments"), ("texts", "deltas")):
        mode = getattr(options, switch)
        without_end = not options.item_done and mode in _AT_END_OF_ITEM
        if without_end or (mode == "terminal-only" and options.output != "items"):
            changes[switch] = plain
    return msgspec.structs.replace(options, **changes)
