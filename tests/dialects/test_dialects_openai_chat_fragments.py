"""Fragments of arguments: plain appending is never disturbed, and repetition is undone.

Two things must hold together. Fragments that append to one JSON text, or to the start of one,
give exactly that text. Fragments that repeat give the final text, or a fault where the same
fragments may just as well have been appended.
"""

import itertools
import json
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.dialects.openai_chat.fragments import Completeness, Fragments
from harness.turns.json_prefix import PrefixState, prefix_state
from tests.tables import each_row

# Keys and values that look like arguments themselves, so that fragments repeat by chance.
words = st.sampled_from(("a", "b", "", '{"a":', '{"a":1}', "{}", "\\", '"', "\u2028", "\U0001f600"))
values = st.recursive(
    words | st.integers(0, 3) | st.booleans() | st.none(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.just("a"), inner, max_size=1)
        | st.dictionaries(words, inner, max_size=3)
    ),
    max_leaves=8,
)
objects = st.dictionaries(st.just("a") | words, values, max_size=3)
nested = st.integers(1, 6).map(lambda depth: '{"a":' * depth + "1" + "}" * depth)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Draw the text of a JSON object, dense or with blanks."""
    if draw(st.booleans()):
        return draw(nested)
    separators = draw(st.sampled_from(((",", ":"), (", ", ": "), (" , ", " : "))))
    blanks = st.sampled_from(("", "", " ", "\n"))
    text = json.dumps(draw(objects), ensure_ascii=draw(st.booleans()), separators=separators)
    return draw(blanks) + text + draw(blanks)


def _pieces(text: str, cuts: Iterable[int]) -> list[str]:
    edges = [0, *sorted({cut for cut in cuts if 0 < cut < len(text)}), len(text)]
    return [text[start:end] for start, end in itertools.pairwise(edges) if start < end]


@st.composite
def appended(draw: st.DrawFn) -> list[str]:
    """Draw the fragments of a provider that appends."""
    text = draw(texts())
    period = draw(st.sampled_from((0, 0, len('{"a":'), 3, 1)))
    if period:
        return _pieces(text, range(period, len(text), period))
    return _pieces(text, draw(st.lists(st.integers(1, max(1, len(text))), max_size=6)))


def _taken(fragments: Sequence[str]) -> tuple[str, str, str]:
    """Return what was given on, the text, and the fault."""
    taken = Fragments()
    given_on = "".join([taken.take(fragment) for fragment in fragments]) + taken.close()
    return given_on, taken.text, taken.fault


def _appended(fragments: Sequence[str]) -> str:
    """Return the text of fragments that append; blanks before the first mean nothing."""
    return "".join(itertools.dropwhile(str.isspace, fragments))


@given(appended())
@example(['{"a":', '{"a":', '{"a":1}}}'])
@example(['{"a":', '{"a":', '{"a":1}', "}}"])
@example(['{"a":', '{"a":1}', "}"])
@example(['{"a":[', '{"a":[', '{"a":[]}]}', "]}"])
@example(["{}", "\n"])
@example([" ", "{", "}"])
@example(["{", "}"])
def test_fragments_of_an_object_give_exactly_its_text(fragments: list[str]) -> None:
    text = _appended(fragments)
    assert _taken(fragments) == (text, text, "")


@given(appended(), st.data())
@example(['{"a":', '{"a":1}'], None)
def test_a_truncated_object_is_never_made_whole(
    fragments: list[str], data: st.DataObject | None
) -> None:
    stop = len(fragments) if data is None else data.draw(st.integers(1, len(fragments)))
    kept = fragments[:stop]
    if data is not None:
        kept[-1] = kept[-1][: data.draw(st.integers(1, len(kept[-1])))]
    text = _appended(kept)
    given_on, final, _ = _taken(kept)
    assert given_on == final == text


@given(appended())
@example(['{"a":', "1}"])
@example(['{"ci', 'ty": "', 'Paris"}'])
@example(["{", '"a":1}'])
@example(["{", '"a":{', "}}"])
def test_cumulative_fragments_give_the_final_text(pieces: list[str]) -> None:
    text = "".join(pieces)
    ends = [len("".join(pieces[: at + 1])) for at in range(len(pieces))]
    prefixes = [text[:end] for end in ends if text[:end].strip()]
    given_on, final, fault = _taken(prefixes)
    assert given_on == final
    if prefix_state("".join(prefixes)) is PrefixState.PREFIX:
        assert fault
    else:
        assert (final.rstrip(), fault) == (text.rstrip(), "")


@given(texts(), st.lists(st.integers(1, 40), max_size=4), st.data())
def test_the_whole_once_more_is_dropped(text: str, cuts: list[int], data: st.DataObject) -> None:
    value = json.loads(text)
    spellings = (
        text.strip(),
        json.dumps(value, indent=1),
        json.dumps(value, separators=(",", ":")),
    )
    again = data.draw(st.sampled_from(spellings))
    given_on, final, fault = _taken([*_pieces(text, cuts), again])
    assert given_on == final
    assert (final.strip(), fault) == (text.strip(), "")


@each_row("blank", ["", " ", "\n"])
@each_row("placeholder", ["{}", "{ }", " {}"])
def test_a_placeholder_gives_way_to_an_object(placeholder: str, blank: str) -> None:
    fragments = [piece for piece in (placeholder, blank, '{"a":', "1}") if piece]
    assert _taken(fragments) == ('{"a":1}', '{"a":1}', "")
    assert _taken([placeholder])[1].strip() == placeholder.strip()
    assert _taken([placeholder, placeholder]) == (placeholder, placeholder, "")
    assert _taken([placeholder, "x"]) == (f"{placeholder}x", f"{placeholder}x", "")


@each_row(
    ("fragments", "text"),
    [
        (["a", "aa"], "aaa"),
        (["aa", "aa"], "aaaa"),
        (["1", "12"], "112"),
        (["[", "[[", "]]]"], "[[[]]]"),
        ([" ", "\n", "  {} "], "  {} "),
        (["\u00a0", "{}"], "\u00a0{}"),
        (["{", "'a': 1}"], "{'a': 1}"),
        (['{"a":1}', '{"b":2}'], '{"a":1}{"b":2}'),
        (['{"a":1}', "{"], '{"a":1}{'),
        (['{"a":1}', '{"a":2}', '{"a":1}'], '{"a":1}{"a":2}{"a":1}'),
        (['{"a"', '{"a"}'], '{"a"{"a"}'),
    ],
)
def test_what_no_provider_could_repeat_is_appended(fragments: list[str], text: str) -> None:
    assert _taken(fragments) == (text, text, "")


@pytest.mark.parametrize(
    "fragments",
    [
        ["{", "{", '"a":1}'],  # a model that writes two braces
        ["{", '{"', 'a":1}'],
        ['{"a', '{"a', '":1}'],
        ['{"a":1', '{"a":12', ',"b":2}'],
    ],
)
def test_repetition_that_breaks_off_is_a_fault(fragments: list[str]) -> None:
    given_on, text, fault = _taken(fragments)
    assert given_on == text
    assert "repeated" in fault


@pytest.mark.parametrize(
    "fragments", [['{"a":', '{"a":1}'], ['{"a":[', '{"a":[{"b":', '{"a":[{"b":2}]}']]
)
def test_two_readings_are_a_fault_and_never_a_guess(fragments: list[str]) -> None:
    given_on, text, fault = _taken(fragments)
    assert given_on == text == "".join(fragments)
    assert "cannot be known" in fault


def test_a_later_fragment_settles_what_was_in_doubt() -> None:
    assert _taken(['{"a":', '{"a":1', '{"a":12}']) == ('{"a":12}', '{"a":12}', "")
    assert _taken(['{"a":', '{"a":1', "}}"])[1] == '{"a":{"a":1}}'


@given(st.lists(st.text('{}[]":,\\a1 ', min_size=1, max_size=4), min_size=1, max_size=10))
def test_what_is_given_on_is_always_the_text(fragments: list[str]) -> None:
    given_on, text, _ = _taken(fragments)
    assert given_on == text


@given(st.lists(st.text('{}[]":,\\a1 ', min_size=1, max_size=4), min_size=1, max_size=10))
@example(['{"\\', "\\", '":1}'])
@example(['{"a":1}', " ", "}"])
@example(["1", "2"])
def test_completeness_of_a_growing_text(pieces: list[str]) -> None:
    growing = Completeness()
    for at in range(len(pieces)):
        text = "".join(pieces[: at + 1])
        assert growing.of(pieces[: at + 1]) is (prefix_state(text) is PrefixState.COMPLETE)


@each_row(
    ("first", "fragment"),
    [
        ('{"a":[{}', "{}"),
        ('{"a":[', "{"),
        ('{"a":[', '{"a":['),
        ("1", "1"),
        ('{"a":', '{"a":'),
        ("{", "{}"),
    ],
)
def test_many_fragments_take_time_in_line_with_their_number(first: str, fragment: str) -> None:
    """Quadratic time would keep this test for minutes."""
    taken = Fragments()
    for piece in [first] + [fragment] * 50_000:
        taken.take(piece)
        taken.complete()
    assert taken.close() is not None
