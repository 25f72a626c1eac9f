"""Reads to frames where the body may be no event stream at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import StreamError
from harness.wire import frames
from harness.wire.frames import Frame
from harness.wire.reads import synthetic_reads
from tests.replay_every_way import decode_frames
from tests.tables import each_row


@given(st.sampled_from([b"<", b"\x1f"]), st.binary(max_size=30), st.sampled_from([b"", b"\n \r\n"]))
def test_it_is_one_frame_without_the_blanks_around_it(
    first: bytes, rest: bytes, blanks: bytes
) -> None:
    body = (first + rest).rstrip(b" \t\r\n")
    assert decode_frames(blanks + body + blanks, tail=b"") == (Frame(body, "", len(blanks)),)


@given(st.binary(max_size=40))
def test_synthetic_reads_add_up_to_any_body(body: bytes) -> None:
    reads = synthetic_reads(body)
    assert sum(read.size for read in reads) == len(body)
    assert all(read.size for read in reads)


@each_row(
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
    assert [read.size for read in synthetic_reads(body)] == sizes


BOM = b"\xef\xbb\xbf"


@pytest.mark.parametrize(
    ("body", "data"),
    [
        (b'{"error": 1}', b'{"error": 1}'),
        (b'\n\n  {"a": 1}\r\n', b'{"a": 1}'),
        (b"<html>\n<p>data: x\n\n</html>", b"<html>\n<p>data: x\n\n</html>"),
        (BOM + b"{}", b"{}"),
        (b"\n" * 200 + b"{}", b"{}"),
    ],
)
def test_a_plain_body_is_one_frame(body: bytes, data: bytes) -> None:
    frames = decode_frames(body, tail=b"")
    assert frames == (Frame(data, "", body.index(data)),)


@pytest.mark.parametrize(
    ("body", "data"),
    [
        (b"data: {}\n\n", b"{}"),
        (b"\n\ndata: {}\n\n", b"{}"),
        (b": {\n\ndata: {}\n\n", b"{}"),
        (BOM + b"data: {}\n\n", b"{}"),
        (BOM + b"\r\n" * 40 + b"data: {}\n\n", b"{}"),
    ],
)
def test_an_event_stream_is_decoded(body: bytes, data: bytes) -> None:
    assert [frame.data for frame in decode_frames(body)] == [data]


def test_offsets_count_blanks_and_byte_order_mark() -> None:
    (frame,) = decode_frames(BOM + b"\r\n\r\ndata: {}\n\n")
    assert frame.offset == 7


@pytest.mark.parametrize("body", [b"", b"\n\n", BOM, b" " * 100, b": ping\n\nevent: x\n"])
def test_a_body_without_an_event_has_no_frame(body: bytes) -> None:
    assert decode_frames(body) == ()


@pytest.mark.parametrize("body", [b'{"half', "{\u00bb".encode(), b'{\n "a": 1,\n'])
def test_a_document_that_does_not_end_as_one_is_cut_short(body: bytes) -> None:
    assert decode_frames(body, tail=b"") == (Frame(body.strip(), complete=False),)


@pytest.mark.parametrize("body", [b"404 page not found", b"\n busy\n\n", b"\x1b\x03\x80\n\x99"])
def test_words_that_are_no_event_are_not_dropped(body: bytes) -> None:
    words = body.strip()
    assert decode_frames(body, tail=b"") == (Frame(words, "", body.index(words)),)


@given(st.text("\n\r\t {[<\ufeffdata: x}", max_size=30).map(str.encode) | st.binary(max_size=20))
def test_the_cuts_never_decide_what_a_body_is(body: bytes) -> None:
    assert decode_frames(body, tail=b"") is not None


def test_a_plain_body_over_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MAX_EVENT_BYTES", 8)

    def refused(body: bytes) -> str:
        with pytest.raises(StreamError) as caught:
            decode_frames(body, tail=b"")
        return str(caught.value)

    assert refused(b'\n{"a": 123}') == "byte 1: a line is larger than 8 bytes"
    assert refused(b"\n<html>....") == "byte 1: a plain body is larger than 8 bytes"
    assert decode_frames(b'{"a": 1}', tail=b"") == (Frame(b'{"a": 1}'),)
