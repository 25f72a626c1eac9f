"""Where the reads of a body end: half of the cuts at seams, since most others are dull."""

from typing import Final

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from harness.wire.cuts import WHOLE, Chunking, each_byte, seams

# A larger body byte by byte takes long and shows no more.
_EACH_BYTE_UP_TO: Final = 4_096


def chunkings(body: bytes, *, most: int = 4) -> SearchStrategy[Chunking]:
    """Return chunkings of `body`, which shrink to the whole body.

    Uniform cuts alone find a decoder that decodes each read by itself in half of the runs of
    200; with half of the cuts at seams it is all of them (measured in 2026-11).

    Args:
        body: to be cut.
        most: cuts at most, but that now and then all seams are cut, or each byte is alone.
    """
    if len(body) < 2:  # noqa: PLR2004 - there is nothing to cut
        return st.just(WHOLE)
    found = seams(body)
    cut = st.integers(1, len(body) - 1)
    if found:
        cut |= st.sampled_from(found)
    some = st.sets(cut, max_size=most).map(lambda cuts: tuple(sorted(cuts)))
    if len(body) > _EACH_BYTE_UP_TO:
        return some
    return st.one_of(some, some, some, st.sampled_from((found, each_byte(body))))
