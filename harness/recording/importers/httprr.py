"""Import traces of Go's httprr: two lengths, a request and a response, repeated."""

import re
from collections.abc import Iterator
from pathlib import PurePath
from typing import Final

from harness.errors import UnreadableError
from harness.recording.importers.container import ContainerFile, container_file
from harness.recording.importers.http_message import parse_message, response_interaction, status_of
from harness.wire.interaction import Interaction, Request

_MAGIC: Final = b"httprr trace v1\n"
_LENGTHS = re.compile(rb"([0-9]{1,12}) ([0-9]{1,12})\n")


def read(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the interactions of the trace."""
    if not data.startswith(_MAGIC):
        return None
    where = str(path)
    interactions = [_interaction(*pair, where) for pair in _pairs(data, where)]
    return container_file(path, interactions, "bodies and headers; no reads, no times")


def _pairs(data: bytes, where: str) -> Iterator[tuple[bytes, bytes]]:
    at = len(_MAGIC)
    while at < len(data):
        lengths = _LENGTHS.match(data, at)
        if lengths is None:
            raise _damaged("expected two lengths", at, where)
        middle = lengths.end() + int(lengths[1])
        end = middle + int(lengths[2])
        if end > len(data):
            raise _damaged(f"expected {end} bytes, found {len(data)}", at, where)
        yield data[lengths.end() : middle], data[middle:end]
        at = end


def _interaction(sent: bytes, answer: bytes, where: str) -> Interaction:
    request_line, request_headers, request_body = parse_message(sent)
    status_line, headers, body = parse_message(answer)
    status = status_of(status_line)
    if status is None:
        raise _damaged(f"expected a status line, found {status_line[:40]!r}", 0, where)
    method, _, rest = request_line.decode("latin-1").partition(" ")
    request = Request(method, rest.partition(" ")[0], request_headers, request_body)
    # Its chunks are those of the recorder and not of the network.
    return response_interaction(request, status, headers, [(body, 0)], kept=False)


def _damaged(what: str, at: int, where: str) -> UnreadableError:
    return UnreadableError(
        f"{what} at byte {at}", where=where, hint="Restore the trace from its source."
    )
