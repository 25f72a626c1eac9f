"""The event-stream decoder against the WHATWG algorithm, written here a second time.

The examples follow the standard's text (HTML, 9.2.6) and the format cases of
web-platform-tests' `eventsource` folder, in our own words. Its case `format-mime-types` is
out of scope: the decoder sees bodies and no headers.
"""

import re
from typing import NamedTuple

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.wire.frames import Frame
from harness.wire.sse import encode
from tests.replay_every_way import decode_sse
from tests.tables import each_row


class Said(NamedTuple):
    """What a stream said: its events as (data, name), the last id, the retry time."""

    events: list[tuple[str, str]]
    last_id: str = ""
    retry: int | None = None


def plain(*data: str) -> Said:
    return Said([(text, "") for text in data])


def ours(body: bytes) -> Said:
    decoded = decode_sse(body)
    assert decoded.error == ""
    events = [
        (frame.data.decode("utf-8", "replace"), frame.event)
        for frame in decoded.frames
        if frame.complete
    ]
    return Said(events, decoded.last_event_id.decode("utf-8", "replace"), decoded.retry_ms)


def naive(body: bytes) -> Said:
    """Follow the standard to the letter, on the whole decoded text."""
    text = body.decode("utf-8", "replace").removeprefix("\ufeff")
    *lines, _unfinished = re.split(r"\r\n|\r|\n", text)
    events: list[tuple[str, str]] = []
    data, event, id_buffer, last_id = "", "", "", ""
    retry: int | None = None
    for line in lines:
        if line == "":
            last_id = id_buffer
            if data != "":
                events.append((data[:-1], event))
            data, event = "", ""
            continue
        if line[0] == ":":
            continue
        field, _, value = line.partition(":")
        value = value[1:] if value[:1] == " " else value
        match field:
            case "event":
                event = value
            case "data":
                data += value + "\n"
            case "id" if "\0" not in value:
                id_buffer = value
            case "retry" if re.fullmatch("[0-9]+", value):
                retry = int(value)
    return Said(events, last_id, retry)


BOM = b"\xef\xbb\xbf"

STANDARD = {
    "text: three data lines are one message": (
        b"data: YHOO\ndata: +2\ndata: 10\n\n",
        plain("YHOO\n+2\n10"),
    ),
    "text: a comment, an id, an id reset, and an event that the end discards": (
        b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event",
        Said([("first event", ""), ("second event", "")]),
    ),
    "text: empty data fields dispatch, the unfinished one does not": (
        b"data\n\ndata\ndata\n\ndata:",
        plain("", "\n"),
    ),
    "text: the space after the colon is optional": (
        b"data:test\n\ndata: test\n\n",
        plain("test", "test"),
    ),
    "text: named events": (
        b"event: add\ndata: 73857293\n\nevent: remove\ndata: 2153\n\n",
        Said([("73857293", "add"), ("2153", "remove")]),
    ),
}

PLATFORM_TESTS = {
    "event-data": (
        (
            b"data:msg\ndata:msg\n\n:\nfalsefield:msg\n\nfalsefield:msg\nData:data\n\ndata\n\n"
            b"data:end\n\n"
        ),
        plain("msg\nmsg", "", "end"),
    ),
    "format-bom": (BOM + b"data:1\n\ndata:2\n\n", plain("1", "2")),
    "format-bom, not at the start": (
        BOM + b"data:1\n\n" + BOM + b"data:2\n\ndata:3\n\n",
        plain("1", "3"),
    ),
    "format-bom-2": (BOM + BOM + b"data:1\n\ndata:2\n\ndata:3\n\n", plain("2", "3")),
    "format-comments": (
        b"data:1\n:\0\n:\ndata:2\n:" + b"x" * 300 + b"\rdata:3\n:data:fail\r:x\ndata:4\n\n",
        plain("1\n2\n3\n4"),
    ),
    "format-data-before-final-empty-line": (
        b"retry:1000\ndata:test1\n\nid:test\ndata:test2",
        Said([("test1", "")], "", 1000),
    ),
    "format-field-data": (b"data:\n\ndata\ndata\n\ndata:test\n\n", plain("", "\n", "test")),
    "format-field-event": (b"event:test\ndata:x\n\ndata:x\n\n", Said([("x", "test"), ("x", "")])),
    "format-field-event-empty": (b"event: \ndata:data\n\n", plain("data")),
    "format-field-event, without data": (b"event:test\n\ndata:x\n\n", plain("x")),
    "format-field-event, the last one counts": (
        b"event:one\nevent:two\ndata:x\n\n",
        Said([("x", "two")]),
    ),
    "format-field-id": (
        b"id: \xe2\x80\xa6\nretry:200\ndata:hello\n\n",
        Said([("hello", "")], "\u2026", 200),
    ),
    "format-field-id-2": (
        b"id: \xe2\x80\xa6\ndata:hello\n\ndata:hello\n\n",
        Said([("hello", "")] * 2, "\u2026"),
    ),
    "format-field-id-3": (
        b"id: \xe2\x80\xa6\ndata:hello\n\nid:\ndata:hello\n\n",
        Said([("hello", "")] * 2, ""),
    ),
    "format-field-id, alone": (b"id:7\n\n", Said([], "7")),
    "format-field-id, not yet dispatched": (b"id:7\n", Said([], "")),
    "format-field-id-null": (
        b"data:a\nid:one\n\ndata:b\nid:\0two\n\ndata:c\nid:th\0ree\n\n",
        Said([("a", ""), ("b", ""), ("c", "")], "one"),
    ),
    "format-field-parsing": (
        (
            b"data:\0\ndata:  2\rData:1\ndata\0:2\ndata:1\r\0data:4\nda-ta:3\rdata_5\ndata:3\rdata:"
            b"\r\n data:32\ndata:4\n\n"
        ),
        plain("\0\n 2\n1\n3\n\n4"),
    ),
    "format-field-retry": (b"retry:03000\ndata:x\n\n", Said([("x", "")], "", 3000)),
    "format-field-retry, many zeros": (
        b"retry:" + b"0" * 30 + b"7\ndata:x\n\n",
        Said([("x", "")], "", 7),
    ),
    "format-field-retry-bogus": (
        b"retry:3000\nretry:1000x\nretry:+5\nretry:-1\nretry:1.5\nretry: 2 \ndata:x\n\n",
        Said([("x", "")], "", 3000),
    ),
    "format-field-retry-bogus, other digits": (b"retry:\xd9\xa3\ndata:x\n\n", plain("x")),
    "format-field-retry-empty": (b"retry\nretry:\ndata:test\n\n", plain("test")),
    "format-field-unknown": (
        b"data:test\n data\ndata\nfoobar:xxx\njustsometext\n:thisisacommentyay\ndata:test\n\n",
        plain("test\n\ntest"),
    ),
    "format-leading-space": (
        b"data:\ttest\rdata: \ndata:test\n\n",
        plain("\ttest\n\ntest"),
    ),
    "format-leading-space, only one goes": (b"data:   x\n\n", plain("  x")),
    "format-newlines": (
        b"data:test\r\ndata\ndata:test\r\n\r",
        plain("test\n\ntest"),
    ),
    "format-newlines, CR then CR": (b"data:1\r\rdata:2\r\r", plain("1", "2")),
    "format-newlines, no other separator": (
        "data:a\u2028b\u0085c\x0bd\x0ce\n\n".encode(),
        plain("a\u2028b\u0085c\x0bd\x0ce"),
    ),
    "format-null-character": (b"data:\0\n\n\n\n", plain("\0")),
    "format-utf-8": (b"data:ok\xe2\x80\xa6\n\n", plain("ok\u2026")),
    "format-utf-8, bytes that are none": (b"data:\xe2\x80\ndata:\xff\n\n", plain("\ufffd\n\ufffd")),
}


CASES = STANDARD | PLATFORM_TESTS

# Grammar and bytes next to it: what a random body is made of.
PIECES = (
    *(b"data", b"data:", b"data: ", b"event:", b"id: ", b"id:", b"id", b"retry:", b":", b" "),
    *(b"\n", b"\r", b"\r\n", b"\n\n", b"\r\n\r\n", b"\n\r", BOM, b"\0", b"7", b"03", b"x", b"\t"),
    *("…".encode(), "\u2028".encode(), "\u0085".encode(), b"\xe2", b"\x80", b"\xff", b"\xef\xbb"),
)
bodies = st.lists(st.sampled_from(PIECES) | st.binary(max_size=3), max_size=24).map(b"".join)


@each_row(("body", "said"), CASES.values())
def test_cases_of_the_standard_and_of_the_platform_tests(body: bytes, said: Said) -> None:
    assert naive(body) == said
    assert ours(body) == said


@given(bodies)
@example(BOM[:2])
@example(BOM + b"\ndata:x\n\n")
@example(b"data:x\r\n\rretry:5")
def test_any_bytes_cut_anywhere_give_the_events_of_the_algorithm(body: bytes) -> None:
    assert ours(body) == naive(body)


@given(bodies)
def test_an_offset_is_where_the_payload_starts(body: bytes) -> None:
    ends = [0]
    for frame in decode_sse(body).frames:
        line = body[frame.offset :]
        assert line.startswith(b"data")
        assert frame.offset >= ends[-1]
        first = re.split(rb"[\r\n]", line, maxsplit=1)[0].partition(b":")[2].removeprefix(b" ")
        assert frame.data.split(b"\n")[0] == first
        ends.append(frame.offset + len(frame.data))


@each_row(
    ("body", "data", "event"),
    [
        (b"data: {}", b"{}", ""),
        (b"data: {}\n", b"{}", ""),
        (b"data: {}\r", b"{}", ""),
        (b"event: add\ndata: 1\ndata: 2", b"1\n2", "add"),
        (b"data: 1\nevent: ad", b"1", ""),  # half a name is no name
        (b"data: 1\n: comm", b"1", ""),
        (b"data", b"", ""),
        (b"data:", b"", ""),
    ],
)
def test_an_event_that_the_end_cuts_short_is_marked(body: bytes, data: bytes, event: str) -> None:
    whole = Frame(b"first", "", 0)
    (cut,) = decode_sse(body).frames
    assert cut == Frame(data, event, body.index(b"data"), complete=False)
    first, cut = decode_sse(b"data: first\n\n" + body).frames
    assert first == whole
    assert not cut.complete


@each_row("body", [b"dat", b"id: 7", b": comment", BOM, BOM[:2], b"event: x\n", b""])
def test_an_end_without_a_payload_is_no_event(body: bytes) -> None:
    assert decode_sse(body) == ((), b"", None, "")


@pytest.mark.parametrize("body", [b"retry: 50", b"id: 7", b"id: 7\n"])
def test_the_end_of_the_stream_makes_no_field_final(body: bytes) -> None:
    decoded = decode_sse(body)
    assert (decoded.last_event_id, decoded.retry_ms) == (b"", None)


def test_a_time_too_long_to_count_is_for_ever() -> None:
    assert decode_sse(b"retry: " + b"9" * 5000 + b"\n").retry_ms == 10**18


# Limits

OVER = [
    (b"data: 0123456789abcdef\n\n", 0),
    (b"data: 0123456789abcdef", 0),
    (b"data: 1\n\ndata: 0123456789abcdef\n\n", 9),
    (b"data: 1\n\nid: 5\r\n: a comment of one line\r\n", 16),
    (b"data:12345\ndata:12345\ndata:12345\n\n", 22),
    (b"\n" + b"x" * 17, 1),
    (BOM + b"x" * 17, 3),
]


@each_row(("body", "offset"), OVER)
def test_an_event_over_the_limit_is_an_error_with_its_offset(body: bytes, offset: int) -> None:
    decoded = decode_sse(body, limit=16, tail=b"")
    assert decoded.error == f"byte {offset}: one event is larger than 16 bytes"
    # What came before it was handed on, wherever the reads ended.
    assert [frame.data for frame in decoded.frames] == [b"1"] * body.startswith(b"data: 1\n")


@given(bodies, st.integers(4, 12))
def test_where_the_reads_end_does_not_move_the_limit(body: bytes, limit: int) -> None:
    assert decode_sse(body, limit=limit, tail=b"") is not None


def test_a_line_may_fill_the_limit() -> None:
    assert decode_sse(BOM + b"data: 0123456789\r\n\r\n", limit=16, tail=b"").error == ""


def test_comments_and_events_without_end_fit_into_a_small_limit() -> None:
    lines = b": keep-alive\n\nevent: ping\nid: 1\n\ndata: 1\n\n" * 500
    decoded = decode_sse(lines, limit=16, tail=b"")
    assert decoded.error == ""
    assert len(decoded.frames) == 500


def test_a_line_of_a_megabyte_comes_byte_by_byte() -> None:
    payload = b"x" * 1_000_000
    (frame,) = decode_sse(b"data: " + payload + b"\n\n").frames
    assert frame.data == payload


# The way back

payloads = st.lists(st.sampled_from(PIECES) | st.binary(max_size=3), max_size=8).map(b"".join)
names = st.text(st.characters(codec="utf-8", exclude_characters="\r\n\0"), max_size=4)


@given(
    data=st.lists(payloads, max_size=4),
    event=names,
    line_end=st.sampled_from((b"\n", b"\r", b"\r\n")),
    space=st.booleans(),
)
def test_what_is_encoded_is_decoded(
    data: list[bytes], event: str, line_end: bytes, *, space: bool
) -> None:
    event = event.lstrip(" ")
    body = b"".join(encode(d, event=event, line_end=line_end, space=space) for d in data)
    decoded = decode_sse(body)
    assert [frame.data for frame in decoded.frames] == [re.sub(rb"\r\n?", b"\n", d) for d in data]
    assert all(frame.event == event and frame.complete for frame in decoded.frames)
