"""Surrogates: halves that a cut parted are joined, lone ones can be encoded."""

from hypothesis import given
from hypothesis import strategies as st

from harness.turns.surrogates import join_surrogates

ANY_TEXT = st.text(st.characters())
HALVES = st.text(st.sampled_from("\ud83d\ude00\udc00\udbffa好\U0001f600\ufffd"))


def _halves(text: str) -> str:
    """Spell `text` as UTF-16 units, one character each."""
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(chr(high << 8 | low) for high, low in zip(units[::2], units[1::2], strict=True))


@given(st.text())
def test_text_without_halves_is_unchanged(text: str) -> None:
    assert join_surrogates(text) == text


@given(st.text())
def test_parted_pairs_become_one_character(text: str) -> None:
    assert join_surrogates(_halves(text)) == text


@given(HALVES | ANY_TEXT)
def test_the_result_can_be_encoded_and_stays(text: str) -> None:
    joined = join_surrogates(text)
    joined.encode()
    assert join_surrogates(joined) == joined


@given(st.text(), st.sampled_from("\ud83d\ude00"), st.text())
def test_a_lone_half_becomes_one_replacement_character(before: str, half: str, after: str) -> None:
    assert join_surrogates(before + half + after) == f"{before}\ufffd{after}"


def test_halves_in_the_wrong_order_are_two_lone_ones() -> None:
    assert join_surrogates("\ude00\ud83d") == "\ufffd\ufffd"
