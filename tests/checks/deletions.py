"""Delete members of the objects of a stream, for tests and benchmarks of the wire contract."""

import msgspec

from harness.judging.contract.shape import event_of, iter_events, iter_parts
from harness.judging.contract.table import ContractTable
from harness.wire.aws import AWS_FIRST_BYTE
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction
from harness.wire.payload import json_or_none


def as_lines(interaction: Interaction, table: ContractTable) -> Interaction:
    """Return AWS messages as lines, the events as keys, because a message has checksums."""
    if not interaction.body.startswith(AWS_FIRST_BYTE):
        return interaction
    lines = [
        msgspec.json.encode({frame.event: json_or_none(frame.data)}) + b"\n"
        for frame in iter_frames([interaction.body])
        if frame.event in table.events
    ]
    return msgspec.structs.replace(interaction, body=b"".join(lines), headers=(), reads=())


def without_member(
    interaction: Interaction, table: ContractTable, kind: str, name: str, numbers: range
) -> Interaction:
    """Return the response without members of the objects of one kind with these numbers."""
    body, moved, count = interaction.body, 0, 0
    names = name.split()
    for frame in iter_frames([interaction.body]):
        value = json_or_none(frame.data)
        if not isinstance(value, dict):
            continue
        event = event_of(value, frame.event, frame.offset, table.grammar)
        is_edited = False
        for part in list(iter_parts(event, table.grammar)):
            if part.kind == kind and names[0] in part.value:
                if count in numbers:
                    for each in names:
                        part.value.pop(each, None)
                    is_edited = True
                count += 1
        if is_edited:
            edited = msgspec.json.encode(value)
            at = body.index(frame.data, frame.offset + moved)
            body = body[:at] + edited + body[at + len(frame.data) :]
            moved += len(edited) - len(frame.data)
    return msgspec.structs.replace(interaction, body=body, reads=())


def count_objects(interaction: Interaction, table: ContractTable, kind: str, name: str) -> int:
    """Return how many objects of one kind have the member."""
    return sum(
        part.kind == kind and name.split(maxsplit=1)[0] in part.value
        for event in iter_events(interaction, table.grammar)
        for part in iter_parts(event, table.grammar)
    )
