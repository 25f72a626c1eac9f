"""A compressed body is cut where the network cut it, whatever the coding."""

import gzip
import zlib
from itertools import pairwise
from random import Random

import brotli  # type: ignore[import-untyped]  # brotli ships no types
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UnreadableError
from harness.recording.recorder.response import decode_pieces

TEXT = b"".join(b'data: {"n": %d}\n\n' % n for n in range(40))
PACK = {
    "gzip": lambda body: gzip.compress(body, mtime=0),
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.ZstdCompressor().compress,
}


@pytest.mark.parametrize("coding", PACK)
@given(cuts=st.sets(st.integers(1, 60), max_size=5))
def test_reads_add_up_to_the_text(coding: str, cuts: set[int]) -> None:
    body = PACK[coding](TEXT)
    ends = [0, *sorted(cut for cut in cuts if cut < len(body)), len(body)]
    pieces = [body[start:end] for start, end in pairwise(ends)]
    headers = (("Content-Encoding", coding), ("x", "1"))
    found, left, encoding = decode_pieces(pieces, headers, "here")
    assert b"".join(found) == TEXT
    assert len(found) == len(pieces)
    assert (left, encoding) == ((("x", "1"),), coding)


@pytest.mark.parametrize("size", [5_000, 1_000_000])
def test_reads_of_an_aborted_response_in_brotli_add_up_to_all_that_arrived(size: int) -> None:
    text = Random(1).randbytes(200_000)  # noqa: S311 - bytes that do not compress
    body = brotli.compress(text)[:-1]
    pieces = [body[start : start + size] for start in range(0, len(body), size)]
    found, _, _ = decode_pieces(pieces, (("content-encoding", "br"),), "here")
    assert b"".join(found) == text


def test_what_is_not_compressed_stays() -> None:
    assert decode_pieces([b"a", b"b"], (("x", "1"),), "here") == ([b"a", b"b"], (("x", "1"),), "")
    assert decode_pieces([], (("content-encoding", "gzip"),), "here")[0] == []


def test_several_codings_are_refused() -> None:
    body = gzip.compress(zlib.compress(TEXT), mtime=0)
    with pytest.raises(UnreadableError, match="one content encoding"):
        decode_pieces([body], (("content-encoding", "deflate, gzip"),), "here")
