"""Import recordings of Gemini CLI: one `{"method": ..., "response": ...}` a line.

A `generateContentStream` contains the chunks of one stream as objects of the SDK, which are framed
as server-sent events again. Other methods are not streams. The reader returns them, so that the
importer counts them as skipped.
"""

from pathlib import PurePath
from typing import Final

from harness.recording.importers.container import ContainerFile, body_interaction, container_file
from harness.recording.importers.event_list import Members, elements, members
from harness.wire.interaction import Interaction, Request
from harness.wire.payload import NotJson, decode_json
from harness.wire.sse import encode

# Method of the SDK -> the verb at the end of the address that it calls.
_STREAM: Final = "generateContentStream"
_VERBS: Final = {_STREAM: "streamGenerateContent"}
_KEPT: Final = "events as objects of the SDK; framing rebuilt; no request, headers, reads or times"


def read(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return an interaction for each line, or None if a line has another format."""
    if not data.lstrip().startswith(b'{"method"'):
        return None
    lines = [line for line in data.split(b"\n") if line.strip()]
    try:
        return container_file(path, [_interaction(members(line.strip())) for line in lines], _KEPT)
    except (NotJson, KeyError):  # a line of another kind
        return None


def _interaction(call: Members) -> Interaction:
    method = decode_json(bytes(call["method"]))
    request = Request("POST", f":{_VERBS.get(str(method), method)}")
    answer = bytes(call["response"])
    if method == _STREAM:
        answer = b"".join(encode(bytes(chunk)) for chunk in elements(answer))
    return body_interaction(answer, request)
