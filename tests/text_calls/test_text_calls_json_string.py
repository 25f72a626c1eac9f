"""JSON strings that are still arriving: the same characters wherever they are cut."""

import json

from hypothesis import given
from hypothesis import strategies as st

from harness.text_calls.json_scan import JsonString
from harness.turns.exact_json import join_surrogates


def decoded(spelled: str, size: int) -> tuple[str, JsonString]:
    string, said = JsonString(), ""
    for start in range(0, len(spelled), size):
        piece = spelled[start : start + size]
        at = 0
        while at < len(piece) and not (string.ended or string.broken):
            more, at = string.feed(piece, at)
            said += more
    return said, string


@given(st.text(max_size=30), st.booleans(), st.integers(1, 9))
def test_any_text_comes_out_as_it_went_in(text: str, ascii_only: bool, size: int) -> None:  # noqa: FBT001 - drawn
    said, string = decoded(json.dumps(text, ensure_ascii=ascii_only)[1:] + ", x", size)
    assert said == text
    assert string.ended


@given(st.lists(st.sampled_from(["\\ud83d", "\\ude00", "x", "\\n", "\\u00e9"])), st.integers(1, 7))
def test_lone_halves_of_pairs_are_replaced(parts: list[str], size: int) -> None:
    spelled = "".join(parts) + '"'
    said, _ = decoded(spelled, size)
    assert said == join_surrogates(json.loads(f'"{spelled}'))


@given(st.text('\\ux9"dn', max_size=12), st.integers(1, 5))
def test_it_is_the_same_wherever_it_is_cut(spelled: str, size: int) -> None:
    whole, one = decoded(spelled, 100)
    pieces, other = decoded(spelled, size)
    assert (whole, one.ended, one.broken, one.held) == (
        pieces,
        other.ended,
        other.broken,
        other.held,
    )


def test_an_escape_that_json_has_not_breaks_it() -> None:
    said, string = decoded('ab\\u12x"', 1)
    assert (said, string.broken, string.held) == ("ab", True, "\\u12")


def test_control_characters_are_taken_as_they_are() -> None:
    assert decoded('a\nb"', 1)[0] == "a\nb"
