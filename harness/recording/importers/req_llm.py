"""Import fixtures of req_llm: one JSON object whose `chunks` are the network reads.

Only this container stores how the network split the stream; some fixtures store times, too.
"""

from collections.abc import Iterator
from pathlib import PurePath

import msgspec

from harness.files.typed import expect_list, expect_mapping, expect_text, refuse_type
from harness.recording.importers.container import (
    ContainerFile,
    container_file,
    decode_base64,
    join_reads,
)
from harness.recording.importers.event_list import parse_event
from harness.recording.importers.http_fields import header_fields
from harness.wire.interaction import Interaction, Request

_KEYS = {"request", "response"}


def read(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the interaction of the fixture; an empty cassette if it was not streamed."""
    value = parse_event(data) if data.lstrip().startswith(b"{") else None
    if value is None or not value.keys() >= _KEYS:
        return None
    if not _is_fixture(value["response"]) and "chunks" not in value:
        return None
    chunks = expect_list(value.get("chunks") or [], f"{path}: chunks")
    timed = any(isinstance(chunk, dict) and "t_us" in chunk for chunk in chunks)
    kept = "bodies, headers and reads" + ("; times" if timed else "; no times")
    return container_file(path, [_interaction(value, chunks, str(path))] if chunks else [], kept)


def _is_fixture(response: object) -> bool:
    """Whether `response` is a fixture of req_llm without a stream, and not an entry of a log."""
    return isinstance(response, dict) and "status" in response and "body" not in response


def _interaction(value: dict[str, object], chunks: list[object], where: str) -> Interaction:
    response = expect_mapping(value.get("response"), f"{where}: response")
    status = response.get("status")
    if not isinstance(status, int):
        refuse_type("a status code", status, f"{where}: response.status")
    body, reads = join_reads(_chunks(chunks, f"{where}: chunks"))
    headers = header_fields(response.get("headers"), f"{where}: response.headers")
    return Interaction(_request(value, where), status, headers, body, reads)


def _chunks(chunks: list[object], where: str) -> Iterator[tuple[bytes, int]]:
    """Yield each chunk with its delay; `t_us` counts microseconds from the start."""
    before = 0
    for n, item in enumerate(chunks):
        location = f"{where}[{n}]"
        chunk = expect_mapping(item, location)
        time = chunk.get("t_us")
        now = time if isinstance(time, int) and time > before else before
        yield (
            decode_base64(expect_text(chunk.get("b64"), location), location),
            (now - before) // 1000,
        )
        before = now


def _request(value: dict[str, object], where: str) -> Request:
    location = f"{where}: request"
    request = expect_mapping(value.get("request"), location)
    return Request(
        method=expect_text(request.get("method"), f"{location}.method").upper() or "POST",
        uri=expect_text(request.get("url"), f"{location}.url"),
        headers=header_fields(request.get("headers"), f"{location}.headers"),
        body=_body(request, location),
    )


def _body(request: dict[str, object], where: str) -> bytes:
    body = request.get("body")
    if isinstance(body, dict) and isinstance(body.get("b64"), str):
        return decode_base64(body["b64"], f"{where}.body")
    if isinstance(body, dict):
        request = {**request, **body}
    plain = request.get("canonical_json")
    if isinstance(plain, str):
        return plain.encode("utf-8", "replace")
    return b"" if plain is None else msgspec.json.encode(plain)
