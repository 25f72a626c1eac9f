"""Import one `{LastEventID, Type, Data}` a line, the format of axonhub: events without framing.

They are framed again: an `event:` line if there is a type, and the data lines.
"""

from pathlib import PurePath

from harness.recording.importers.container import ContainerFile, body_interaction, container_file
from harness.recording.importers.event_list import parse_event
from harness.turns.json_values import as_text
from harness.wire.sse import encode

_KEPT = "event names and data; framing rebuilt; no request, headers, reads or times"


def read(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the one response in the lines, or None if a line is not such an event."""
    if not data.lstrip().startswith(b"{"):
        return None
    lines = [line for line in data.split(b"\n") if line.strip()]
    events = [event for line in lines if (event := _event(line)) is not None]
    if len(events) < len(lines):
        return None
    return container_file(path, [body_interaction(b"".join(events))], _KEPT)


def _event(line: bytes) -> bytes | None:
    value = parse_event(line)
    if value is None or not isinstance(value.get("Data"), str):
        return None
    return encode(value["Data"].encode("utf-8", "replace"), event=as_text(value.get("Type")))
