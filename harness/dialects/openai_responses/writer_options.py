"""The ways in which servers and gateways spell the same Responses stream.

Each switch is a quirk of the catalogue; its first value is the API's own contract. Any
combination must read back to the same turn, which is what the round-trip property holds.
"""

from typing import Literal

import msgspec

from harness.dialects.kit.frames import LineEnd
from harness.dialects.kit.options import Options

_TOLD_AT_THE_END_OF_AN_ITEM = frozenset(("done-only", "item-only", "object"))


class WriterOptions(Options, frozen=True):
    """How a stream is written.

    Fields:
        api: which of the two APIs names the events (`RESP-REALTIME-EVENTS`).
        arguments: which events hold the arguments (`RESP-NO-ARGUMENT-DELTAS`,
            `RESP-ARGUMENTS-IN-ADDED`, `ARGS-OBJECT`).
        texts: which events hold texts (`RESP-NO-TEXT-DELTAS`).
        item_ids: `RESP-ITEM-ID-ABSENT`, `RESP-ITEM-ID-CHANGES`; where the index says
            nothing, the ids are kept.
        output_index: `RESP-OUTPUT-INDEX-LOST`.
        last_ids: of the calls in the terminal event (`RESP-CALL-ID-CHANGES`,
            `RESP-TWO-IDS-TWICE`).
        output: of the terminal event (`RESP-COMPLETED-OUTPUT-EMPTY`, `-NULL`); what only
            stands there is written as by contract where it is not there.
        item_done: whether items have an event for their end (`RESP-NO-ITEM-DONE`).
        reasoning: as its summary, or as it is.
        sequence: `RESP-SEQUENCE-NEGATIVE`.
        obfuscation: deltas are padded to hide their length (`RESP-OBFUSCATION`).
        event_lines: whether events have their name beside the payload (`RESP-NO-EVENT-LINE`).
        done: whether `[DONE]` ends the stream (`RESP-DONE-SENTINEL`).
        failure: the event that tells an error.
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


def possible_options(spelling: WriterOptions) -> WriterOptions:
    """Return `spelling` without what would leave a stream that says nothing.

    Without their index, items are told apart by their ids; what no event holds stands in
    deltas.
    """
    changes: dict[str, str] = {}
    if spelling.output_index != "kept":
        changes["item_ids"] = "kept"
    for switch, plain in (("arguments", "fragments"), ("texts", "deltas")):
        told = getattr(spelling, switch)
        without_end = not spelling.item_done and told in _TOLD_AT_THE_END_OF_AN_ITEM
        if without_end or (told == "terminal-only" and spelling.output != "items"):
            changes[switch] = plain
    return msgspec.structs.replace(spelling, **changes)
