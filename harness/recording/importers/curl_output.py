"""Import the output of `curl -i`: status line, headers and body of a response, without request.

With `--raw` the body contains its chunks, and each is a read. Of several responses in a row
(interim ones, redirects) the last is imported.
"""

from pathlib import PurePath
from typing import Final

from harness.recording.importers.container import ContainerFile, container_file
from harness.recording.importers.http_message import (
    Piece,
    chunk_ranges,
    header_of,
    parse_message,
    response_interaction,
    status_of,
)
from harness.wire.interaction import Headers, Request

_MAGIC: Final = b"HTTP/"
_MOST_RESPONSES = 50
_KEPT: Final = "response body and headers; no request"


def read(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return the response, or None if the data do not begin with a status line."""
    if not data.startswith(_MAGIC) or status_of(data[:20]) is None:
        return None
    line, headers, body = parse_message(data)
    for _ in range(_MOST_RESPONSES):
        if status_of(body[:20]) is None:
            break
        line, headers, body = parse_message(body)
    pieces = _pieces(headers, body)
    answer = response_interaction(
        Request(), status_of(line) or 0, headers, pieces, kept=len(pieces) > 1
    )
    reads = "chunks as reads, no times" if answer.reads_kept else "no reads, no times"
    return container_file(path, [answer], f"{_KEPT}; {reads}")


def _pieces(headers: Headers, body: bytes) -> list[Piece]:
    """Split `body` after each chunk of its transfer coding."""
    if "chunked" not in header_of(headers, "transfer-encoding").lower():
        return [(body, 0)]
    ends = [end for _, end in chunk_ranges(body) or ()]
    starts = [0, *ends]
    return [(body[start:end], 0) for start, end in zip(starts, [*ends, len(body)], strict=True)]
