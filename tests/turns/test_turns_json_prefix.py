"""The scanner: what a text is to one JSON value, checked against json.loads and itself."""

import json
from typing import Any, NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.turns.json_prefix import PrefixState, prefix_state, scan
from tests.tables import each_row

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
JSON_TEXTS = st.builds(
    json.dumps,
    VALUES,
    ensure_ascii=st.booleans(),
    indent=st.sampled_from([None, 0, 2]),
)
# Every character that can move the scanner to another state, and one that never may.
ALPHABET = '{}[]",:\\/ \n\t019-+.eEtrufalsn\x00'
NEARLY_JSON = st.text(st.sampled_from(ALPHABET), max_size=12)
OPEN = {PrefixState.PREFIX, PrefixState.COMPLETE}


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


def _is_json(text: str) -> bool:
    try:
        json.loads(text, parse_constant=_refuse)
    except ValueError:
        return False
    return True


@given(NEARLY_JSON | JSON_TEXTS | st.text())
def test_complete_means_that_strict_json_loads_it(text: str) -> None:
    assert (prefix_state(text) is PrefixState.COMPLETE) == _is_json(text)


@given(JSON_TEXTS, st.data())
def test_every_prefix_of_json_can_still_become_json(text: str, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(text)))
    state = prefix_state(text[:cut])
    if text[0] in '{["' and cut < len(text):
        assert state is PrefixState.PREFIX
    assert state in OPEN


@given(NEARLY_JSON)
def test_a_prefix_is_what_some_character_carries_on(text: str) -> None:
    carried_on = any(prefix_state(text + more) in OPEN for more in ALPHABET)
    state = prefix_state(text)
    assert carried_on == (state in OPEN)


@given(NEARLY_JSON | JSON_TEXTS, st.text(st.sampled_from(ALPHABET), min_size=1, max_size=3))
def test_what_is_lost_stays_lost(text: str, more: str) -> None:
    state = prefix_state(text)
    if state not in OPEN:
        assert prefix_state(text + more) is state


@given(JSON_TEXTS, JSON_TEXTS)
def test_the_end_of_the_first_value_is_known(first: str, second: str) -> None:
    seen = scan(f"{first} {second}")
    assert (seen.state, seen.end, seen.offset) == (
        PrefixState.TRAILING,
        len(first),
        len(first) + 1,
    )
    assert scan(f"{first} {second}", seen.offset).end == len(first) + 1 + len(second)


@given(st.text())
def test_offsets_stay_inside_the_text(text: str) -> None:
    seen = scan(text)
    assert -1 <= seen.end <= seen.offset <= len(text)


@each_row(
    ("text", "state"),
    [
        ("", PrefixState.PREFIX),
        (" \n", PrefixState.PREFIX),
        ('{"a":tr', PrefixState.PREFIX),
        ('{"a":-', PrefixState.PREFIX),
        ('{"a":1e', PrefixState.PREFIX),
        ('{"a":"\\u00e', PrefixState.PREFIX),
        ('{"a":"\\', PrefixState.PREFIX),
        (' {"a":1}\r\n', PrefixState.COMPLETE),
        ('"\u2028\ud83d"', PrefixState.COMPLETE),
        ('{"a":1}{', PrefixState.TRAILING),
        ("1 2", PrefixState.TRAILING),
        ("01", PrefixState.INVALID),
        ("1.x", PrefixState.INVALID),
        ("[1,]", PrefixState.INVALID),
        ('{"a":1,}', PrefixState.INVALID),
        ('{"a":NaN', PrefixState.INVALID),
        ("{'a'", PrefixState.INVALID),
        ('{"a" 1', PrefixState.INVALID),
        ('{"a":1]', PrefixState.INVALID),
        ('"\n', PrefixState.INVALID),
        ('"\\x', PrefixState.INVALID),
        ("\ufeff{}", PrefixState.INVALID),
        ("\u00a0{}", PrefixState.INVALID),
        ("[\u0661]", PrefixState.INVALID),
    ],
)
def test_examples(text: str, state: PrefixState) -> None:
    assert prefix_state(text) is state


@pytest.mark.parametrize(
    ("text", "offset", "expected"),
    [
        ('{"a":1,}', 7, "a key in double quotes"),
        ('{"a" 1}', 5, "':'"),
        ('{"a":"C:\\Users"}', 8, "string"),
        ('{"a":"x\ny"}', 7, "string"),
        ('{"a":[1 2]}', 8, "',' or ']'"),
    ],
)
def test_a_fault_has_its_place(text: str, offset: int, expected: str) -> None:
    seen = scan(text)
    assert seen.offset == offset
    assert expected in seen.expected


def test_a_million_brackets_do_not_recurse() -> None:
    brackets = 1_000_000
    assert scan("[" * brackets).depth == brackets
    assert prefix_state("[" * brackets + "}") is PrefixState.INVALID


@pytest.mark.parametrize("piece", ["\\n", "\\u00e9", " ", "好"])
def test_a_long_open_string_is_a_prefix(piece: str) -> None:
    assert prefix_state('"' + piece * 200_000) is PrefixState.PREFIX
