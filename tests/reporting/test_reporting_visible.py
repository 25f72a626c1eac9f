"""What is shown of hostile text: everything is there, nothing is unseen."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from harness.reporting.visible import Piece, byte_pieces, code_of, pieces, plain

_ANY = st.text(st.characters(exclude_categories=()))
_UNSEEN = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"}


@given(_ANY)
def test_no_unseen_character_is_ever_shown(text: str) -> None:
    shown = "".join(piece.text for piece in pieces(text)) + plain(text)
    assert not {unicodedata.category(char) for char in shown} & _UNSEEN


@given(_ANY)
def test_every_character_is_shown_once_and_in_order(text: str) -> None:
    expected = "".join(code_of(char) or char for char in text)
    assert "".join(piece.text for piece in pieces(text)) == expected


@given(st.binary(max_size=60), st.sets(st.integers(1, 59)))
def test_each_cut_inside_the_bytes_is_one_tick_at_its_place(body: bytes, cuts: set[int]) -> None:
    inside = tuple(sorted(cut for cut in cuts if cut < len(body)))
    found = byte_pieces(body, 0, len(body), inside)
    assert [piece.text for piece in found if piece.kind == "tick"] == [str(cut) for cut in inside]


def test_a_character_that_a_cut_divides_shows_as_its_bytes() -> None:
    body = "杭".encode()
    assert byte_pieces(body, 0, 3, (1,)) == (
        Piece("code", "\\xE6"),
        Piece("tick", "1"),
        Piece("code", "\\x9D"),
        Piece("code", "\\xAD"),
    )


def test_names_of_what_is_unseen() -> None:
    shown = [piece.text for piece in pieces("\r\n\x1b\u2028\u202e\x7f\x85\ufeff\u00a0")]
    assert shown == ["␍", "␊", "␛", "U+2028", "U+202E", "␡", "U+0085", "U+FEFF", "U+00A0"]


def test_long_text_is_cut_and_says_how_much() -> None:
    found = pieces("x" * 1_000_000, limit=100)
    assert found[1] == Piece("gap", "999,900 characters left out")
    assert sum(len(piece.text) for piece in found) < 200
    assert len(plain("x" * 1_000_000)) < 400


def test_a_long_stretch_of_bytes_is_cut_and_says_how_much() -> None:
    found = byte_pieces(b"x" * 1_000_000, 0, 1_000_000, limit=100)
    assert found[1] == Piece("gap", "999,900 bytes left out")


def test_plain_text_stays_on_one_line_and_sends_nothing_to_a_terminal() -> None:
    assert plain("a\x1b[31m\n\u202eb") == "a\\x1B[31m\\x0AU+202Eb"
