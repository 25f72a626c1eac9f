"""A body that is no stream is one frame, whatever it holds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.wire.frames import Frame
from harness.wire.reads import synthetic
from tests.replay_every_way import decode_frames


@given(st.sampled_from([b"<", b"\x1f"]), st.binary(max_size=30), st.sampled_from([b"", b"\n \r\n"]))
def test_it_is_one_frame_without_the_blanks_around_it(
    first: bytes, rest: bytes, blanks: bytes
) -> None:
    body = (first + rest).rstrip(b" \t\r\n")
    assert decode_frames(blanks + body + blanks, tail=b"") == (Frame(body, "", len(blanks)),)


@given(st.binary(max_size=40))
def test_synthetic_reads_add_up_to_any_body(body: bytes) -> None:
    reads = synthetic(body)
    assert sum(read.size for read in reads) == len(body)
    assert all(read.size for read in reads)


@pytest.mark.parametrize(
    ("body", "sizes"),
    [
        (b"", []),
        (b"data: 1\n\ndata: 2\n\n", [9, 9]),
        (b"data: 1\r\n\r\ndata: 2", [11, 7]),
        (b'[{"a":1}\n,\n{"b":2}]\n', [8, 10, 2]),
        (b'{"a":1}\n{"b":2}\n', [8, 8]),
        (b"<html>\n\n</html>", [8, 7]),
    ],
)
def test_synthetic_reads_end_where_frames_end(body: bytes, sizes: list[int]) -> None:
    assert [read.size for read in synthetic(body)] == sizes
