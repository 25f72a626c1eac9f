"""Import recordings of other projects. Each file format (container) has its own reader."""

from pathlib import PurePath
from typing import Final

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
    httpmock_yaml,
    httprr,
    jsonl_events,
    mitmproxy,
    nock,
    postman,
    raw_body,
    req_llm,
    vcr,
    wiremock,
)
from harness.recording.importers.container import ContainerFile, Reader

# Tried in this order; the first reader that knows the container is used.
READERS: Final[dict[str, Reader]] = {
    "httprr": httprr.read,
    "curl-trace": curl_trace.read,
    "curl-output": curl_output.read,
    "mitmproxy": mitmproxy.read,
    "har": har.read,
    "postman": postman.read,
    "hoverfly": hoverfly.read,
    "nock": nock.read,
    "wiremock": wiremock.read,
    "vcr-ruby": vcr.read_ruby,
    "go-vcr": go_vcr.read,
    "vcr-yaml": vcr.read_vcrpy,
    "httpmock-yaml": httpmock_yaml.read,
    "http-json": http_json.read,
    "req_llm": req_llm.read,
    "gemini-cli": gemini_cli.read,
    "jsonl-events": jsonl_events.read,
    "chat-log": chat_log.read,
    "chunk-list": chunk_list.read,
    "raw-sse": raw_body.read_text,
    raw_body.CONTAINER: raw_body.read,
}
# A byte order mark is a part of a body, and not of the text of a container.
_OF_BODIES: Final = (raw_body.read_text, raw_body.read)


def read(path: PurePath, data: bytes) -> tuple[str, ContainerFile] | None:
    """Return the name of the file's format and its content; None if no reader knows the format.

    Raises:
        UnreadableError: a reader knows the format, but cannot read any entry.
    """
    text = data.removeprefix(BOM)
    for container, reader in READERS.items():
        found = reader(path, data if reader in _OF_BODIES else text)
        if found is not None:
            return container, found
    return None
