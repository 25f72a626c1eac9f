"""One helper for all text dialects: what is written in one comes out the same, however it is cut.

Any calls of the offered tools, with any text around that spells none of the dialect's
markers, in pieces of any size: the same calls in the same order, and the text intact.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import msgspec
from hypothesis import strategies as st

from harness.fuzzing.strategies.replies import prose
from harness.text_calls import TextDialect, TextPolicy, WrittenCall, read_text_calls
from harness.turns.deltas import Delta, Finish, FinishReason, ReasoningDelta, TextDelta
from harness.turns.fold import fold
from harness.turns.turn import Tool, Turn

_SPACE = st.sampled_from(["", " ", "\n", "\n\n"])
_NAMES = ("get_weather", "search", "schema.list_tables", "get_time", "f")
_KEYS = ("city", "query", "n", "ok", "nothing", "items", "options")

TOOLS = tuple(
    Tool(
        name,
        "",
        {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "query": {"type": "string"},
                "n": {"type": "integer"},
                "ok": {"type": "boolean"},
                "nothing": {"type": "null"},
                "items": {"type": "array"},
                "options": {"type": "object"},
            },
        },
    )
    for name in _NAMES
)

_STRINGS = st.text(st.characters(codec="utf-8"), max_size=20)
_SCALARS = st.none() | st.booleans() | st.integers() | _STRINGS
_JSON = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_STRINGS, inner, max_size=3),
    max_leaves=5,
)
_BY_KEY: dict[str, st.SearchStrategy[Any]] = {
    "city": _STRINGS,
    "query": _STRINGS,
    "n": st.integers(),
    "ok": st.booleans(),
    "nothing": st.none(),
    "items": st.lists(_JSON, max_size=3),
    "options": st.dictionaries(_STRINGS, _JSON, max_size=3),
}


@cache
def arguments(**by_key: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Return arguments that fit `TOOLS`; `by_key` narrows what a dialect cannot spell."""
    return st.fixed_dictionaries({}, optional=_BY_KEY | by_key)


@cache
def calls(
    values: st.SearchStrategy[dict[str, Any]] | None = None, *, at_least: int = 0, at_most: int = 3
) -> st.SearchStrategy[list[WrittenCall]]:
    """Return lists of calls of `TOOLS`."""
    one = st.builds(
        lambda name, value: WrittenCall(name, json.dumps(value, ensure_ascii=False)),
        st.sampled_from(_NAMES),
        arguments() if values is None else values,
    )
    return st.lists(one, min_size=at_least, max_size=at_most)


class Piece(msgspec.Struct, frozen=True):
    """Calls written in one go, and the text before them."""

    text: str
    calls: tuple[WrittenCall, ...]


@cache
def conversations(
    dialect: TextDialect,
    values: st.SearchStrategy[dict[str, Any]] | None = None,
    *,
    without: str = "",
    at_most: int = 3,
) -> st.SearchStrategy[tuple[list[Piece], str]]:
    """Return blocks of calls with text before each, and the text after the last.

    A `whole` dialect has one block and no text.
    """
    some = calls(values, at_least=1, at_most=at_most).map(tuple)
    if dialect.whole:
        return st.tuples(st.lists(st.builds(Piece, st.just(""), some), max_size=1), st.just(""))
    piece = st.builds(Piece, prose(dialect, without=without), some)
    return st.tuples(st.lists(piece, max_size=3), prose(dialect, without=without))


def read(  # noqa: PLR0913 - a text, and what changes how it is read
    text: str,
    dialects: Iterable[str],
    size: int,
    tools: Sequence[Tool] = TOOLS,
    *,
    reasoning: str = "",
    policy: Callable[[TextPolicy], TextPolicy] = lambda policy: policy,
) -> Turn:
    """Return the turn that `text` makes, streamed in pieces of `size` characters."""
    deltas: list[Delta] = [
        ReasoningDelta(reasoning[at : at + size]) for at in range(0, len(reasoning), size)
    ]
    deltas += [TextDelta(text[at : at + size]) for at in range(0, len(text), size)]
    deltas.append(Finish(FinishReason.STOP, "stop"))
    return fold(read_text_calls(deltas, tools, policy(TextPolicy(frozenset(dialects)))))


def without_examples(policy: TextPolicy) -> TextPolicy:
    """Return the policy for which no context makes a call an example."""
    return msgspec.structs.replace(policy, code="calls", quoted="calls")


def check_round_trip(dialect: TextDialect, said: tuple[list[Piece], str], size: int) -> None:
    """Assert that what `dialect` writes comes out as it went in."""
    pieces, tail = said
    text = "".join(piece.text + dialect.write(piece.calls) for piece in pieces) + tail
    turn = read(text, [dialect.name], size, policy=without_examples)
    assert turn.parse_errors == ()
    wanted = [call for piece in pieces for call in piece.calls]
    got = [(call.name, json.loads(call.arguments or "{}")) for call in turn.tool_calls]
    assert got == [(call.name, json.loads(call.arguments or "{}")) for call in wanted]
    text = "".join(piece.text for piece in pieces) + tail
    # Line ends around the last calls belong to the markup, or to a token that ends their section.
    dropped = text.removeprefix(turn.text)
    assert text == turn.text + dropped
    assert not dropped.strip("\r\n")
    ends = any(dialect.write(piece.calls).endswith(dialect.noise) for piece in pieces[-1:])
    assert not dropped or ((dialect.line_ends or ends) and not tail.strip("\r\n"))
    assert turn.finish is not None
    assert turn.finish.reason is (FinishReason.TOOL_CALLS if wanted else FinishReason.STOP)


SIZES = st.integers(1, 40)
