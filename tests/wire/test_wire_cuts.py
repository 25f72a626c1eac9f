"""Cuts: offsets strictly inside the body, and the reads that they make."""

from hypothesis import given
from hypothesis import strategies as st

from harness.wire.cuts import UNSPLIT, Chunking, each_byte, iter_single_cuts, seams, split
from harness.wire.interaction import Interaction, Read, Request
from tests.tables import each_row

bodies = (
    st.text('d\u00e9\u2028\U0001f600a:\\u12ad \r\n"', max_size=30).map(str.encode) | st.binary()
)


def _is_chunking(cuts: Chunking, body: bytes) -> bool:
    return list(cuts) == sorted(set(cuts)) and all(0 < cut < len(body) for cut in cuts)


@given(bodies)
def test_every_chunking_is_sorted_and_inside(body: bytes) -> None:
    for cuts in (UNSPLIT, each_byte(body), seams(body), *iter_single_cuts(body)):
        assert _is_chunking(cuts, body)


@given(st.binary(max_size=40), st.sets(st.integers(1, 39)))
def test_reads_join_to_the_body_and_end_at_the_cuts(body: bytes, wanted: set[int]) -> None:
    cuts = tuple(sorted(cut for cut in wanted if cut < len(body)))
    reads = list(split(body, cuts))
    assert b"".join(reads) == body
    assert all(reads)
    ends = [sum(map(len, reads[: at + 1])) for at in range(len(reads))]
    assert tuple(ends[:-1]) == cuts


@given(bodies)
def test_one_byte_each_and_one_cut_each(body: bytes) -> None:
    assert all(len(read) == 1 for read in split(body, each_byte(body)))
    singles = list(iter_single_cuts(body))
    assert len(singles) == max(0, len(body) - 1)
    assert all(len(list(split(body, cuts))) == 2 for cuts in singles)


def test_an_empty_body_gives_no_read() -> None:
    assert list(split(b"", UNSPLIT)) == []
    assert each_byte(b"") == seams(b"") == ()


@each_row(
    ("body", "cut"),
    [
        (b"data: x\r\n\r\n", 8),  # inside a CRLF
        (b"data: x\r\n\r\n", 9),  # between two line ends
        (b"data: x\n\ndata: y\n\n", 9),  # between two events
        (b"data: x\n\n", 4),  # before the colon
        (b"data: x\n\n", 5),  # after it
        ("data: \u00e9\n".encode(), 7),  # inside a character
        ("data: \U0001f600\n".encode(), 8),
        (b'data: "\\n"', 8),  # inside an escape
        (b'data: "\\u00e9"', 11),  # inside the digits of one
    ],
)
def test_seams_are_where_decoders_break(body: bytes, cut: int) -> None:
    assert cut in seams(body)


def test_dull_offsets_are_no_seams() -> None:
    assert seams(b"plain words only") == ()


@given(st.lists(st.integers(1, 9), max_size=6))
def test_recorded_cuts_are_where_the_reads_ended(sizes: list[int]) -> None:
    body = bytes(sum(sizes))
    reads = tuple(Read(size) for size in sizes)
    interaction = Interaction(Request(), 200, (), body, reads)
    cuts = interaction.recorded_cuts()
    assert _is_chunking(cuts, body)
    assert [len(read) for read in split(body, cuts)] == sizes


def test_a_header_is_found_in_any_case() -> None:
    headers = (("Content-Type", "text/event-stream"), ("content-type", "second"))
    interaction = Interaction(Request(), 200, headers, b"", ())
    assert interaction.header("CONTENT-TYPE") == "text/event-stream"
    assert interaction.header("retry-after") == ""
