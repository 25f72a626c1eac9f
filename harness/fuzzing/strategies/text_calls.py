"""Replies in which calls are spelled in text, as the writer of a text dialect spells them."""

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from harness.fuzzing.strategies.arguments import argument_texts
from harness.turns.text_calls.dialect import TextDialect
from harness.turns.text_calls.spelled import SpelledCall
from harness.turns.text_calls.table import TEXT_DIALECTS
from harness.turns.tools import Tool

_WORDS = ("<", "{", "[", "a", "中文", "🙂", "\n", "tool_call", '"', "|", ">")
# Behind the one it is no answer, behind the other an example.
_REASONING = ("<think", "</think")
_CODE = ("```", "~~~")


class Reply(msgspec.Struct, frozen=True):
    """A text and what it holds.

    Fields:
        text: all of it.
        calls: that it spells, in order.
        words: the text without them, in pieces: before each block, and after the last.
    """

    text: str
    calls: tuple[SpelledCall, ...]
    words: tuple[str, ...]


def texts_with_calls(
    text_dialect: str, tools: tuple[Tool, ...], *, most_blocks: int = 3
) -> SearchStrategy[Reply]:
    """Return replies in `text_dialect`, with words around its blocks of calls.

    The words spell no marker, so whoever offered `tools` must find just these calls. A dialect
    whose calls must be the whole reply has one block and no words.

    Args:
        text_dialect: such as `tagged-json`.
        tools: to be called, at least one.
        most_blocks: blocks at most.
    """
    return _replies(TEXT_DIALECTS[text_dialect], tools, most_blocks)


@st.composite
def _replies(draw: DrawFn, dialect: TextDialect, tools: tuple[Tool, ...], most: int) -> Reply:
    some = st.lists(_calls(tools), min_size=1, max_size=3)
    blocks = draw(st.lists(some, min_size=1, max_size=1 if dialect.whole else most))
    spoken = st.just("") if dialect.whole else prose(dialect)
    words = tuple(_apart(draw(spoken)) for _ in (*blocks, None))
    text = "".join(
        before + dialect.write(block) for before, block in zip(words[:-1], blocks, strict=True)
    )
    return Reply(text + words[-1], tuple(call for block in blocks for call in block), words)


def _apart(words: str) -> str:
    """Return words that no marker beside them takes for its own beginning or end."""
    return f"\n{words}\n" if words else ""


@st.composite
def _calls(draw: DrawFn, tools: tuple[Tool, ...]) -> SpelledCall:
    tool = draw(st.sampled_from(tools))
    # No model writes half a surrogate pair into its text, and no dialect has a spelling for one.
    texts = argument_texts(tool.parameters or {"type": "object"})
    return SpelledCall(tool.name, draw(texts.filter(lambda text: "\\ud" not in text)))


def prose(dialect: TextDialect, *, without: str = "") -> SearchStrategy[str]:
    """Return text that spells no marker of `dialect`, no code, and no character of `without`."""
    marks = (*dialect.openers, *dialect.trailers, *dialect.orphans, *dialect.noise)
    marks += (*dialect.markers, *without, *_REASONING, *_CODE)
    letters = st.characters(codec="utf-8")
    pieces = st.sampled_from(_WORDS) | st.text(letters, max_size=6)
    text = st.lists(pieces, max_size=6).map("".join)
    return text.filter(lambda said: not any(mark in said for mark in marks if mark))
