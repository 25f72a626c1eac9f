"""Draw good and bad replies of a provider in a conversation, and replies with text calls.

Each reply states the calls that a client may execute. The generator knows them without a parser,
so a mock provider can check the most important rule with any agent.
"""

import json
from functools import cache
from typing import Any, Final, Literal, TypeAlias

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from harness.dialects.table import DIALECTS
from harness.fuzzing.strategies.arguments import argument_texts
from harness.fuzzing.strategies.malformed import malformed_arguments
from harness.text_calls import TEXT_DIALECTS, TextDialect, WrittenCall
from harness.turns.deltas import Delta, Finish, FinishReason, TextDelta, call_deltas
from harness.turns.turn import Tool

Kind: TypeAlias = Literal["calls", "text", "malformed", "truncated", "failing", "broken"]
KINDS: Final[tuple[Kind, ...]] = ("calls", "text", "malformed", "truncated", "failing", "broken")

# Bodies that are not a response of any API, or not a complete one.
NO_ANSWERS: Final = (
    b"",
    b"\x00\xff\xfe",
    b"data: {]\n\n",
    b"<html>busy</html>",
    b'{"candidates": [{"content": {"parts": [{"text": "hi"}]}}]}',
    b'data: {"choices": []}\n\n' * 50,
)
_STATUSES: Final = (400, 401, 429, 500, 503, 529)
# If arguments are an object, a writer makes one of all that may be read as one.
_NEVER_OBJECTS: Final = ("prose", "truncated", "fenced")
_TEXTS: Final = ("", " ", "Let me see.", "我来查一下。", "{", "</tool_call>", "\n\n")


class ProviderReply(msgspec.Struct, frozen=True):
    """One reply of a provider, and the calls in it that a client may execute.

    Fields:
        kind: the kind of reply, such as `text` or `failing`.
        may_run: the name and the arguments as JSON text of each call that may be executed.
    """

    kind: Kind
    status: int
    body: bytes
    may_run: tuple[tuple[str, str], ...] = ()


def conversations(
    tools: tuple[Tool, ...],
    *,
    dialect: str = "openai-chat",
    kinds: tuple[Kind, ...] = KINDS,
    most: int = 6,
) -> SearchStrategy[tuple[ProviderReply, ...]]:
    """Return a strategy for sequences of one to `most` replies, some of them repeated.

    Args:
        tools: the declared tools, at least one.
        dialect: the dialect in which the replies are written.
        kinds: the kinds of replies to draw from.
        most: the largest number of replies.
    """
    runs = st.tuples(replies(tools, dialect=dialect, kinds=kinds), st.integers(1, 3))
    some = st.lists(runs, min_size=1, max_size=most)
    return some.map(lambda each: tuple(reply for reply, times in each for _ in range(times))[:most])


@st.composite
def replies(
    draw: DrawFn,
    tools: tuple[Tool, ...],
    *,
    dialect: str = "openai-chat",
    kinds: tuple[Kind, ...] = KINDS,
) -> ProviderReply:
    """Draw one reply; the arguments are as in `conversations`."""
    kind = draw(st.sampled_from(kinds))
    match kind:
        case "text":
            text = draw(st.sampled_from(_TEXTS)) or "Done."
            return ProviderReply(
                kind, 200, _body(dialect, [TextDelta(text), Finish(FinishReason.STOP)])
            )
        case "failing":
            status = draw(st.sampled_from(_STATUSES))
            return ProviderReply(kind, status, draw(st.sampled_from((_error(status), b""))))
        case "broken":
            return ProviderReply(kind, 200, draw(st.sampled_from(NO_ANSWERS)))
        case _:
            return _calling(draw, kind, tools, dialect)


def _calling(draw: DrawFn, kind: Kind, tools: tuple[Tool, ...], dialect: str) -> ProviderReply:
    calls = draw(st.lists(_call(tools), min_size=1, max_size=3))
    kinds = _NEVER_OBJECTS if DIALECTS[dialect].arguments == "object" else ()
    bad = draw(malformed_arguments({}, *kinds)).text if kind == "malformed" else ""
    all_calls = [*calls, (calls[0][0], bad)] if bad else calls
    deltas: list[Delta] = [TextDelta(text) for text in (draw(st.sampled_from(_TEXTS)),) if text]
    for index, (name, text) in enumerate(all_calls):
        deltas += call_deltas(index, f"call_{index}", name, text)
    body = _body(dialect, [*deltas, Finish(FinishReason.TOOL_CALLS)])
    if kind == "truncated":
        # The end of the turn is in the last third, so that this is never complete.
        return ProviderReply(kind, 200, body[: draw(st.integers(0, len(body) // 2))])
    return ProviderReply(kind, 200, body, tuple(calls))


@st.composite
def _call(draw: DrawFn, tools: tuple[Tool, ...]) -> tuple[str, str]:
    tool = draw(st.sampled_from(tools))
    return tool.name, draw(argument_texts(tool.parameters or {"type": "object"}))


def _body(dialect: str, deltas: list[Delta]) -> bytes:
    return b"".join(DIALECTS[dialect].write(deltas))


def _error(status: int) -> bytes:
    error: dict[str, Any] = {"message": "no", "code": status}
    return json.dumps({"error": error}).encode()


_WORDS = ("<", "{", "[", "a", "中文", "🙂", "\n", "tool_call", '"', "|", ">")
# Text after the first is not part of the answer, text after the second is an example.
_REASONING = ("<think", "</think")
_CODE = ("```", "~~~")


class TextReply(msgspec.Struct, frozen=True):
    """A reply that is one text, and the text calls in it.

    Fields:
        text: the complete text.
        calls: the text calls, in order.
        words: the parts of the text without calls: before each block of calls, and after the last.
    """

    text: str
    calls: tuple[WrittenCall, ...]
    words: tuple[str, ...]


def texts_with_calls(
    text_dialect: str, tools: tuple[Tool, ...], *, most_blocks: int = 3
) -> SearchStrategy[TextReply]:
    """Return a strategy for replies in `text_dialect`, with text around the blocks of calls.

    The other text contains no marker, so a client that declared `tools` must find exactly these
    calls. If the calls of a dialect must be the entire reply, there is one block and no text.
    If they must end the reply, no text follows them.

    Args:
        text_dialect: a name such as `tagged-json`.
        tools: the tools to call, at least one.
        most_blocks: the largest number of blocks.
    """
    return _text_replies(TEXT_DIALECTS[text_dialect], tools, most_blocks)


@st.composite
def _text_replies(
    draw: DrawFn, dialect: TextDialect, tools: tuple[Tool, ...], most: int
) -> TextReply:
    some = st.lists(_text_calls(tools), min_size=1, max_size=3)
    blocks = draw(st.lists(some, min_size=1, max_size=1 if dialect.whole else most))
    nothing = st.just("")
    before = nothing if dialect.whole else prose(dialect)
    ends_reply = dialect.whole or set(dialect.openers) <= set(dialect.last)
    after = nothing if ends_reply else prose(dialect)
    words = tuple(_set_apart(draw(each)) for each in (before, *(after for _ in blocks)))
    text = "".join(
        said + dialect.write(block) for said, block in zip(words[:-1], blocks, strict=True)
    )
    return TextReply(text + words[-1], tuple(call for block in blocks for call in block), words)


def _set_apart(words: str) -> str:
    """Return `words` between line ends, which separate it from markers; "" stays empty."""
    return f"\n{words}\n" if words else ""


def _text_calls(tools: tuple[Tool, ...]) -> SearchStrategy[WrittenCall]:
    # No model writes half a surrogate pair into its text, and no dialect can encode one.
    usable = _call(tools).filter(lambda call: "\\ud" not in call[1])
    return usable.map(lambda call: WrittenCall(*call))


@cache
def prose(dialect: TextDialect, *, without: str = "") -> SearchStrategy[str]:
    """Return a strategy for text without markers of `dialect`, code, or characters of `without`."""
    marks = (*dialect.openers, *dialect.trailers, *dialect.orphans, *dialect.noise)
    marks += (*dialect.markers, *without, *_REASONING, *_CODE)
    letters = st.characters(exclude_categories=["Cs"])
    pieces = st.sampled_from(_WORDS) | st.text(letters, max_size=6)
    text = st.lists(pieces, max_size=6).map("".join)
    return text.filter(lambda text: not any(mark in text for mark in marks if mark))
