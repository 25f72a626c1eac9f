"""Fixtures of req_llm: one JSON object whose `chunks` are the reads of the network.

The one container that keeps where the network cut the stream; some keep the times too.
"""

from collections.abc import Iterator
from pathlib import PurePath

import msgspec

from harness.recording.importers.container import Found, found, from_base64, in_reads
from harness.wire.fields import mapping, refuse, sequence, text
from harness.wire.interaction import Headers, Interaction, Request
from harness.wire.payload import NotJson, decode_json

_KEYS = {"request", "response"}


def read(path: PurePath, data: bytes) -> Found | None:
    """Return the one interaction of the fixture; none where it was not streamed."""
    if not data.lstrip().startswith(b"{"):
        return None
    try:
        value = decode_json(data)
    except NotJson:
        return None
    if not isinstance(value, dict) or not value.keys() >= _KEYS:
        return None
    if not _is_fixture(value["response"]) and "chunks" not in value:
        return None
    chunks = sequence(value.get("chunks") or [], f"{path}: chunks")
    timed = any(isinstance(chunk, dict) and "t_us" in chunk for chunk in chunks)
    kept = "bodies, headers and reads" + ("; times" if timed else "; no times")
    return found(path, [_interaction(value, chunks, str(path))] if chunks else [], kept)


def _is_fixture(response: object) -> bool:
    """Tell a fixture whose answer was no stream from the line of a log, which has its body."""
    return isinstance(response, dict) and "status" in response and "body" not in response


def _interaction(value: dict[str, object], chunks: list[object], where: str) -> Interaction:
    response = mapping(value.get("response"), f"{where}: response")
    status = response.get("status")
    if not isinstance(status, int):
        refuse("a status code", status, f"{where}: response.status")
    body, reads = in_reads(_chunks(chunks, f"{where}: chunks"))
    headers = _headers(response.get("headers"), f"{where}: response.headers")
    return Interaction(_request(value, where), status, headers, body, reads)


def _chunks(chunks: list[object], where: str) -> Iterator[tuple[bytes, int]]:
    """Yield each chunk with its delay; `t_us` counts microseconds from the start."""
    before = 0
    for n, item in enumerate(chunks):
        place = f"{where}[{n}]"
        chunk = mapping(item, place)
        time = chunk.get("t_us")
        now = time if isinstance(time, int) and time > before else before
        yield from_base64(text(chunk.get("b64"), place), place), (now - before) // 1000
        before = now


def _request(value: dict[str, object], where: str) -> Request:
    place = f"{where}: request"
    request = mapping(value.get("request"), place)
    return Request(
        method=text(request.get("method"), f"{place}.method").upper() or "POST",
        uri=text(request.get("url"), f"{place}.url"),
        headers=_headers(request.get("headers"), f"{place}.headers"),
        body=_body(request, place),
    )


def _body(request: dict[str, object], where: str) -> bytes:
    body = request.get("body")
    if isinstance(body, dict) and isinstance(body.get("b64"), str):
        return from_base64(body["b64"], f"{where}.body")
    if isinstance(body, dict):
        request = {**request, **body}
    plain = request.get("canonical_json")
    if isinstance(plain, str):
        return plain.encode("utf-8", "replace")
    return b"" if plain is None else msgspec.json.encode(plain)


def _headers(value: object, where: str) -> Headers:
    return tuple(
        (name, str(item))
        for name, items in mapping(value, where).items()
        for item in (items if isinstance(items, list) else [items])
    )
