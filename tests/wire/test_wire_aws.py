"""AWS event-stream messages: framed alike however they are cut, damage told, never raised."""

import struct
from uuid import UUID
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.wire import aws
from harness.wire.aws import (
    HeaderError,
    borders,
    encode_event,
    encode_exception,
    encode_message,
    unwrap_chunk,
    wrap_chunk,
)
from harness.wire.cuts import seams
from harness.wire.frames import Frame
from harness.wire.reads import synthetic_reads
from tests.replay_every_way import decode_frames
from tests.tables import each_row

START = encode_event(b'{"role":"assistant"}', "messageStart")
STOP = encode_event(b'{"stopReason":"end_turn"}', "messageStop")
# Checked against messages that AWS sent: lengths, prelude checksum, message checksum.
EMPTY = bytes.fromhex("00000010 00000000 05c248eb 7d98c8ff")

events = st.tuples(st.sampled_from(["contentBlockDelta", "metadata", ""]), st.binary(max_size=40))


def decode(body: bytes) -> tuple[Frame, ...]:
    return decode_frames(body, tail=b"")


def failed(body: bytes) -> str:
    """Return what the one bad frame at the end of `body` says."""
    frame = decode(body)[-1]
    assert (frame.failure, frame.complete, frame.event) == ("bad_event", False, "")
    return frame.data.decode()


def with_checksums(block: bytes, payload: bytes = b"", headers_size: int | None = None) -> bytes:
    sizes = struct.pack(">II", 16 + len(block) + len(payload), headers_size or len(block))
    message = sizes + struct.pack(">I", crc32(sizes)) + block + payload
    return message + struct.pack(">I", crc32(message))


@given(st.lists(events, min_size=1, max_size=3))
def test_messages_come_back_with_name_payload_and_offset(said: list[tuple[str, bytes]]) -> None:
    messages = [encode_event(payload, event) for event, payload in said]
    body = b"".join(messages)
    frames = decode(body)
    assert [(frame.event, frame.data) for frame in frames] == said
    assert all(frame.complete and not frame.failure for frame in frames)
    assert all(body[f.offset : f.offset + len(f.data)] == f.data for f in frames)
    assert [read.size for read in synthetic_reads(body)] == [len(message) for message in messages]


def test_the_smallest_message_has_no_headers_and_no_payload() -> None:
    assert encode_message(b"", {}) == EMPTY
    assert decode(EMPTY) == (Frame(b"", "", 12),)


@given(st.integers(1, len(STOP) - 1))
def test_a_message_cut_short_is_handed_on_as_incomplete(size: int) -> None:
    first, cut = decode(START + STOP[:size])
    assert first.complete
    assert cut == Frame(STOP[:size], "", len(START), complete=False)


@given(st.integers(0, len(START) - 1), st.integers(1, 255))
def test_no_changed_byte_goes_unseen(at: int, change: int) -> None:
    damaged = bytearray(START)
    damaged[at] ^= change
    frames = decode(START + bytes(damaged) + STOP)
    assert frames[0].complete
    assert len(frames) == 2
    assert frames[1].failure == "bad_event"


def test_damage_is_told_with_place_and_checksums() -> None:
    body = START + STOP[:-1] + b"\0"
    assert failed(body) == (
        f"byte {len(START)}: expected a message with checksum {crc32(STOP[:-4]) & ~0xFF:08x}, "
        f"found {crc32(STOP[:-4]):08x}"
    )
    assert failed(b"\0" * 12) == "byte 0: expected a prelude with checksum 00000000, found 6522df69"


@each_row(
    "sizes",
    [(0, 0), (15, 0), (16, 1), (0xFFFF_FFFF, 0), (25 << 20, 9), (200 << 10, 129 << 10)],
)
def test_an_impossible_length_is_refused_before_the_message_is_there(
    sizes: tuple[int, int],
) -> None:
    packed = struct.pack(">II", *sizes)
    body = START + packed + struct.pack(">I", crc32(packed)) + b"more bytes"
    assert failed(body) == (
        f"byte {len(START)}: expected a message, found one of {sizes[0]} bytes "
        f"with {sizes[1]} of headers"
    )


@given(st.binary(max_size=60))
def test_any_bytes_after_a_message_are_framed_or_told(tail: bytes) -> None:
    first, *_rest = decode(START + tail)
    assert first.data == b'{"role":"assistant"}'


@given(st.binary(max_size=40))
def test_any_headers_are_read_or_refused(block: bytes) -> None:
    frames = decode(with_checksums(block, b"{}"))
    assert len(frames) == 1
    try:
        aws.parse_headers(block)
    except HeaderError:
        assert frames[0].failure == "bad_event"
    else:
        assert frames[0].data


ALL_TYPES = (
    b"\1a\0",
    b"\1b\1",
    b"\1c\2\xff",
    b"\1d\3\x01\x00",
    b"\1e\4\xff\xff\xff\xfe",
    b"\1f\5\0\0\0\0\0\0\1\0",
    b"\1g\6\0\2\0\xff",
    b"\1h\7\0\2\xc3\xa9",
    b"\1i\x08\0\0\0\0\0\0\0\1",
    b"\1j\x09" + bytes(range(16)),
)


def test_all_ten_types_of_header_are_read() -> None:
    assert dict(aws.parse_headers(b"".join(ALL_TYPES))) == {
        "a": True,
        "b": False,
        "c": -1,
        "d": 256,
        "e": -2,
        "f": 256,
        "g": b"\0\xff",
        "h": "\u00e9",
        "i": 1,
        "j": UUID(bytes=bytes(range(16))),
    }


@each_row("header", ALL_TYPES)
def test_a_block_is_never_read_past_its_end(header: bytes) -> None:
    for size in range(1, len(header)):
        with pytest.raises(HeaderError, match=r"^expected "):
            aws.parse_headers(b"\1z\0" + header[:size])


@each_row(
    ("block", "why"),
    [
        (b"\1a\0\1a\1", "header 'a' occurs twice"),
        (b"\1a\x0a", "header 'a' has type 10, expected 0 to 9"),
        (b"\5ab", "expected 5 bytes of a header name, found 2"),
        (b"\1a", "expected 1 bytes of a header type, found 0"),
        (b"\1a\7\0", "expected 2 bytes of the length of header 'a', found 1"),
        (b"\1a\7\0\3ab", "expected 3 bytes of header 'a', found 2"),
    ],
)
def test_damaged_headers_are_told(block: bytes, why: str) -> None:
    assert failed(with_checksums(block)) == f"byte 0: {why}"


def test_a_name_that_is_no_text_is_no_name() -> None:
    (frame,) = decode(with_checksums(b"\x0b:event-type\0", b"{}"))
    assert frame == Frame(b"{}", "", 25)


def test_an_exception_is_a_failure_with_its_type() -> None:
    body = START + encode_exception(b'{"message":"Too many requests"}', "throttlingException")
    (_, frame) = decode(body)
    assert (frame.failure, frame.event, frame.complete) == (
        "throttlingException",
        "throttlingException",
        False,
    )
    assert frame.data == b'{"message":"Too many requests"}'


def test_an_error_has_its_words_in_its_headers() -> None:
    headers = {
        ":message-type": "error",
        ":error-code": "InternalError",
        ":error-message": "An internal server error occurred",
    }
    (frame,) = decode(encode_message(b"", headers))
    assert frame.failure == "InternalError"
    assert frame.data == b"An internal server error occurred"
    (nameless,) = decode(encode_message(b"{}", {":message-type": "exception"}))
    assert nameless.failure == "exception"


@given(st.binary(max_size=40), st.text("abcXYZ0", max_size=9))
def test_a_chunk_is_the_event_in_it(event: bytes, padding: str) -> None:
    body = encode_event(wrap_chunk(event, padding), "chunk")
    (frame,) = decode(body)
    assert (frame.data, frame.event) == (event, "")
    assert body[frame.offset :].startswith(b'{"bytes":"')


@each_row(
    "payload",
    [
        b"",
        b"{}",
        b"[]",
        b'{"bytes":1}',
        b'{"bytes":"a"}',
        b'{"bytes":"\xc3\xa9"}',
        b'{"bytes":"a==="}',
    ],
)
def test_what_is_no_envelope_stays_as_it_came(payload: bytes) -> None:
    assert unwrap_chunk(payload) is None
    (frame,) = decode(encode_event(payload, "chunk"))
    assert (frame.data, frame.event) == (payload, "chunk")


def test_seams_are_where_the_parts_of_a_message_meet() -> None:
    found = set(seams(START + STOP))
    block = START.index(b'{"role"')
    assert {4, 8, 12, block, len(START) - 4, len(START), len(START) + 12} <= found


@given(st.binary(max_size=40))
def test_borders_lie_within_any_body(tail: bytes) -> None:
    for body in (b"\0" + tail, START + tail, START[:20] + tail):
        found = [offset for message in borders(body) for offset in message]
        assert all(0 <= offset <= len(body) for offset in found)
        assert sum(read.size for read in synthetic_reads(body)) == len(body)
