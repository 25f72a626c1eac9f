"""Texts and JSON values in which decoders break: what every other strategy here is made of."""

from typing import Any, Final, Literal

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

# Line ends that only some libraries know, characters beyond 16 bits, halves of them, escapes,
# what looks like another type or like markup, joined letters, another direction.
ODD_WORDS: Final = (
    "\u2028", "\u0085", "\x0b", "\n", "\r\n", "\t", "\0", "\x7f", "\ufeff", "\ufffd", "\u200d",
    "\U0001f600", "\U0001f468\u200d\U0001f469", "e\u0301", "\u202e", "北京", "\ud83d", "\ude00",
    '"', "'", "\\", "\\n", "\\u00e9", "\\\\", "/", "${x}", "%s",
    "null", "true", "1", "007", "1e5", "NaN", "-0", "9007199254740993", "[1]", '{"a": 1}', "[DONE]",
    "data: ", "```", "<tool_call>", "</tool_call>", "<think>", " ", "",
)  # fmt: skip
# Around what a double, 32 and 64 bits can hold.
ODD_INTEGERS: Final = (
    0, -1, 2**31, -(2**31) - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**63, 2**64, 10**30,
)  # fmt: skip
ODD_FLOATS: Final = (0.1, -0.0, 1e-7, 1.5, 1e22, 5e-324, 1.7976931348623157e308)


def words(*, surrogates: bool = True, most: int = 12) -> SearchStrategy[str]:
    """Return short texts, half of them odd ones.

    Args:
        surrogates: whether unpaired halves may be in them, which UTF-8 cannot hold.
        most: characters at most, of those that are not odd.
    """
    categories: tuple[Literal["Cs"], ...] = () if surrogates else ("Cs",)
    odd = [word for word in ODD_WORDS if surrogates or word.isascii() or not _halves(word)]
    return st.text(st.characters(exclude_categories=categories), max_size=most) | st.sampled_from(
        odd
    )


def integers(least: int | None = None, most: int | None = None) -> SearchStrategy[int]:
    """Return whole numbers from `least` to `most`, with those that lose digits in doubles."""
    odd = [
        number
        for number in ODD_INTEGERS
        if (least is None or number >= least) and (most is None or number <= most)
    ]
    every = st.integers(least, most)
    return every | st.sampled_from(odd) if odd else every


def numbers(least: float | None = None, most: float | None = None) -> SearchStrategy[float]:
    """Return floats that JSON can hold, from `least` to `most`."""
    odd = [
        number
        for number in ODD_FLOATS
        if (least is None or number >= least) and (most is None or number <= most)
    ]
    every = st.floats(least, most, allow_nan=False, allow_infinity=False)
    return every | st.sampled_from(odd) if odd else every


def json_values(*, surrogates: bool = True, leaves: int = 6) -> SearchStrategy[Any]:
    """Return JSON values of any shape.

    Args:
        surrogates: as for `words`; also of keys.
        leaves: so many at most.
    """
    some = words(surrogates=surrogates)
    scalars = st.none() | st.booleans() | integers() | numbers() | some
    return st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(some, inner, max_size=3),
        max_leaves=leaves,
    )


def json_objects(*, surrogates: bool = True, leaves: int = 6) -> SearchStrategy[dict[str, Any]]:
    """Return JSON objects of any shape, empty keys among them."""
    values = json_values(surrogates=surrogates, leaves=leaves)
    return st.dictionaries(words(surrogates=surrogates), values, max_size=3)


def _halves(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)
