"""Create a response of urllib3, whose body the packages requests and botocore give to libraries.

It is a real response of urllib3, so it has all methods and raises urllib3's errors. Only `stream`
is replaced: on the network each read is one chunk, and `stream` yields a chunk when it arrives.
"""

import importlib
from collections.abc import Iterator
from functools import cache
from http.client import IncompleteRead
from io import RawIOBase
from typing import TYPE_CHECKING, Any

from harness.playback.transports import headers_to_send
from harness.wire.interaction import Ended, Interaction

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_PIECE_BYTES = 65_536


def text_headers(interaction: Interaction) -> dict[str, str]:
    """Return the headers as text; if several headers have one name, their values are joined."""
    found: dict[str, str] = {}
    for name, value in headers_to_send(interaction):
        key, text = name.decode(), value.decode()
        found[key] = f"{found[key]}, {text}" if key in found else text
    return found


def raw_body(interaction: Interaction, reads: Iterator[bytes]) -> Any:  # noqa: ANN401 - of a package that may not be installed
    """Return a response of urllib3 with the body `reads`."""
    return _response_class()(
        body=_Reads(reads, interaction.ended),
        headers=text_headers(interaction),
        status=interaction.status,
        preload_content=False,
        decode_content=False,
    )


@cache
def _response_class() -> Any:  # noqa: ANN401 - as above
    urllib3: Any = importlib.import_module("urllib3")
    return type(_Streaming.__name__, (_Streaming, urllib3.HTTPResponse), {})


class _Streaming:
    """The methods that replace those of urllib3's response."""

    _fp: "_Reads"

    def stream(
        self, amt: int | None = _PIECE_BYTES, decode_content: object = None
    ) -> Iterator[bytes]:
        """Yield the reads one by one; a read is split if it is longer than `amt` bytes."""
        del decode_content
        errors: Any = self
        with errors._error_catcher():  # noqa: SLF001 - it turns errors of the network into those of urllib3
            while piece := self._fp.next_piece(amt):
                yield piece
        self._fp.close()


class _Reads(RawIOBase):
    """The body as a file: one call returns at most one read, and then it ends as recorded."""

    def __init__(self, reads: Iterator[bytes], ended: Ended) -> None:
        self._reads = reads
        self._ended = ended
        self._rest = b""

    def readable(self) -> bool:
        return True

    def next_piece(self, most: int | None) -> bytes:
        """Return the rest of the last read, or else the next read; b"" at the end."""
        rest = self._rest or next(self._reads, b"")
        if not rest:
            self._fail_if_broken()
        end = len(rest) if most is None else most
        self._rest = rest[end:]
        return rest[:end]

    def read1(self, most: int = -1) -> bytes:
        return self.next_piece(most if most >= 0 else None)

    def readinto(self, buffer: "WriteableBuffer") -> int:
        view = memoryview(buffer).cast("B")
        piece = self.next_piece(len(view))
        view[: len(piece)] = piece
        return len(piece)

    def _fail_if_broken(self) -> None:
        if self._ended == "reset":
            raise ConnectionResetError("recorded: the connection was reset")
        if self._ended == "truncated":
            raise IncompleteRead(b"")
