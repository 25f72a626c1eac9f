"""Import recordings of other projects. Each file format (container) has its own reader."""

import gzip
import zlib
from io import BytesIO
from pathlib import PurePath
from typing import Final

from harness.errors import UnreadableError
from harness.files.load import BOM
from harness.recording.importers import (
    chat_log,
    chunk_list,
    curl_output,
    curl_trace,
    gemini_cli,
    go_vcr,
    har,
    hoverfly,
    http_json,
    http_layouts,
    httpmock_yaml,
    httprr,
    jsonl_events,
    mitmproxy,
    nock,
    postman,
    raw_body,
    req_llm,
    seinfeld,
    session_lines,
    vcr,
    wiremock,
)
from harness.recording.importers.container import ContainerFile, Reader
from harness.wire.decompress import MAX_BODY_BYTES

# Tried in this order; the first reader that knows the container is used.
READERS: Final[dict[str, Reader]] = {
    "httprr": httprr.read,
    "curl-trace": curl_trace.read,
    "curl-output": curl_output.read,
    "mitmproxy": mitmproxy.read,
    "har": har.read,
    "seinfeld": seinfeld.read,
    "postman": postman.read,
    "http-layouts": http_layouts.read,
    "hoverfly": hoverfly.read,
    "nock": nock.read,
    "wiremock": wiremock.read,
    "vcr-ruby": vcr.read_ruby,
    "go-vcr": go_vcr.read,
    "vcr-yaml": vcr.read_vcrpy,
    "vcr-lists": vcr.read_lists,
    "httpmock-yaml": httpmock_yaml.read,
    "session-lines": session_lines.read,
    "http-json": http_json.read,
    "req_llm": req_llm.read,
    "gemini-cli": gemini_cli.read,
    "jsonl-events": jsonl_events.read,
    "chat-log": chat_log.read,
    "chunk-list": chunk_list.read,
    "raw-sse": raw_body.read_text,
    raw_body.CONTAINER: raw_body.read,
}
_GZIP: Final = b"\x1f\x8b"
# A byte order mark is a part of a body, and not of the text of a container.
_OF_BODIES: Final = (raw_body.read_text, raw_body.read)


def read(path: PurePath, data: bytes) -> tuple[str, ContainerFile] | None:
    """Return the name of the file's format and its content; None if no reader knows the format.

    Raises:
        UnreadableError: a reader knows the format, but cannot read any entry, or the file is
            damaged gzip, or expands to more than the limit.
    """
    if data.startswith(_GZIP):
        data = _unpacked(data, str(path))
        path = path.with_suffix("") if path.suffix == ".gz" else path
    text = data.removeprefix(BOM)
    for container, reader in READERS.items():
        found = reader(path, data if reader in _OF_BODIES else text)
        if found is not None:
            return container, found
    return None


def _unpacked(data: bytes, where: str) -> bytes:
    try:
        with gzip.GzipFile(fileobj=BytesIO(data)) as file:
            unpacked = file.read(MAX_BODY_BYTES + 1)
    except (EOFError, OSError, zlib.error) as error:
        raise UnreadableError(
            f"expected gzip: {error}", where=where, hint="Restore the file from its source."
        ) from None
    if len(unpacked) > MAX_BODY_BYTES:
        raise UnreadableError(
            f"expected at most {MAX_BODY_BYTES} bytes when expanded, found more", where=where
        )
    return unpacked
