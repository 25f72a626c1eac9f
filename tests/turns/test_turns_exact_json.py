"""Arguments that come as an object keep every key and digit."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.turns.arguments import same_value
from harness.turns.exact_json import decode_exactly, join_surrogates, write_exactly
from tests.dialects.openai_chat_streams import calls, entry, read_turn, sse

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


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


def _spelt(arguments: str) -> bytes:
    """Spell a call with `arguments` put into the chunk as it is."""
    return calls(entry("@", id="c1", name="get_weather")).replace(b'"@"', arguments.encode())


@given(st.dictionaries(st.text() | st.just("arguments"), VALUES, max_size=4))
def test_the_text_means_the_object(value: dict[str, object]) -> None:
    spelt = json.dumps(value)
    assert same_value(write_exactly(decode_exactly(spelt.encode())), spelt)


def test_a_parameter_called_arguments_stays_an_object() -> None:
    spelt = '{"arguments": {"arguments": [1]}}'
    assert [each.arguments for each in read_turn(_spelt(spelt)).tool_calls] == [spelt]


@pytest.mark.parametrize(
    "arguments",
    [
        '{"x": 0.12345678901234567891234}',
        '{"n": 12345678901234567890123}',
        '{"a": [1.50, {"b": 2e3}]}',
    ],
)
def test_numbers_keep_their_digits(arguments: str) -> None:
    assert [each.arguments for each in read_turn(_spelt(arguments)).tool_calls] == [arguments]


@pytest.mark.parametrize("arguments", ['{"path": "/a", "path": "/b"}', '{"x": 1e400}'])
def test_what_would_be_altered_is_not_run(arguments: str) -> None:
    found = read_turn(_spelt(arguments))
    assert (found.tool_calls, len(found.parse_errors)) == ((), 1)
    assert found.parse_errors[0].snippet == arguments


def test_an_integer_too_long_for_python_is_a_loud_failure() -> None:
    found = read_turn(_spelt('{"n": %s}' % ("9" * 5000)))
    assert found.failure is not None
    assert (found.failure.code, found.tool_calls) == ("bad_event", ())


def test_other_fields_are_read_as_ever() -> None:
    body = _spelt("{}").replace(
        b"data: [DONE]", sse({"choices": [], "usage": {"prompt_tokens": 3}}) + b"data: [DONE]"
    )
    usage = read_turn(body).usage
    assert usage is not None
    assert usage.input_tokens == 3
