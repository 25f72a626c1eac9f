"""Draw turns, their deltas, their bodies in a dialect, and chunkings of a body.

A turn is drawn as a `TurnScript`, in the order in which every API sends it. Content that only some
dialects can express (names, ids, reasoning after a call) is left to the tests of these dialects.
"""

import itertools
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final, Literal, TypeVar, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from harness.dialects.table import DIALECTS
from harness.fuzzing.strategies.arguments import Schema, argument_texts, words
from harness.turns.deltas import (
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    Usage,
    UsageDelta,
    call_deltas,
)
from harness.turns.exact_json import join_surrogates
from harness.turns.fold import fold
from harness.turns.turn import Tool, Turn
from harness.wire.cuts import UNSPLIT, Chunking, each_byte, seams

T = TypeVar("T")

# Each dialect has its own names for these.
FINISHES: Final = tuple(
    Finish(FinishReason(name)) for name in ("tool_calls", "stop", "length", "content_filter")
)
_ANY_TOOLS: Final = tuple(Tool(name) for name in ("get_weather", "get_time", "\u00e9"))
_MOST_TOKENS: Final = 2**40


def member_of(values: Sequence[T]) -> SearchStrategy[T]:
    """Return a strategy for one of many or large `values`, such as interactions.

    It draws an index. `sampled_from` would hash all values each time that it is called.
    """
    return st.integers(0, len(values) - 1).map(values.__getitem__)


class TurnScript(msgspec.Struct, frozen=True):
    """A drawn turn: text and reasoning, then calls (id, name, parts of arguments), then its end."""

    before: tuple[Delta, ...]
    calls: tuple[tuple[str, str, tuple[str, ...]], ...]
    usage: Usage | None
    finish: Finish

    def deltas(self) -> list[Delta]:
        """Return the deltas of the turn in the order in which an API sends them."""
        usage = [] if self.usage is None else [UsageDelta(self.usage)]
        calls = [
            delta
            for index, (call_id, name, pieces) in enumerate(self.calls)
            for delta in call_deltas(index, call_id, name, *pieces)
        ]
        return [*self.before, *calls, *usage, self.finish]


@cache
def call_ids() -> SearchStrategy[str]:
    """Return a strategy for ids of calls, short and unusual ones."""
    odd = ("call_1", "call_2", "0", "\u00e9")
    return st.sampled_from(odd) | words(surrogates=False, most=5).filter(bool)


@cache
def content_deltas() -> SearchStrategy[Delta]:
    """Return a strategy for deltas of text and of reasoning, not empty and valid in UTF-8."""
    texts = words(surrogates=False, most=8).filter(bool)
    return texts.map(TextDelta) | texts.map(ReasoningDelta)


@cache
def usages() -> SearchStrategy[Usage | None]:
    """Return a strategy for token counts, some of them missing; None if all are."""
    counts = st.none() | st.integers(0, _MOST_TOKENS)
    stated = st.builds(Usage, counts, counts)
    return st.none() | stated.map(lambda usage: None if usage == Usage() else usage)


@st.composite
def fragments(draw: DrawFn, schema: Schema = True, *, most: int = 5) -> tuple[str, ...]:  # noqa: FBT002 - a JSON Schema may be `true`
    """Draw the JSON text of arguments that fit `schema`, as up to `most` parts, or as none.

    Args:
        draw: the function of Hypothesis.
        schema: the JSON Schema of a tool's parameters.
        most: the largest number of parts.
    """
    if draw(st.integers(0, 4)) == 0:
        return ()
    # Half of a surrogate pair is valid in a JSON text only as its escape.
    text = join_surrogates(draw(argument_texts(schema)))
    return draw_pieces(draw, text, most)


def draw_pieces(draw: DrawFn, text: str, most: int) -> tuple[str, ...]:
    """Split `text` at drawn positions into up to `most` parts."""
    cuts = draw(st.lists(st.integers(1, max(1, len(text) - 1)), max_size=most - 1, unique=True))
    edges = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    return tuple(text[start:end] for start, end in itertools.pairwise(edges))


@st.composite
def turn_scripts(
    draw: DrawFn,
    finishes: tuple[Finish, ...] = FINISHES,
    *,
    tools: tuple[Tool, ...] = _ANY_TOOLS,
    most_calls: int = 3,
) -> TurnScript:
    """Draw a turn that calls some of `tools` and ends with one of `finishes`."""
    ids = draw(st.lists(call_ids(), max_size=most_calls, unique=True))
    called = [draw(st.sampled_from(tools)) for _ in ids]
    return TurnScript(
        tuple(draw(st.lists(content_deltas(), max_size=4))),
        tuple(
            (call_id, tool.name, draw(fragments(tool.parameters or True)))
            for call_id, tool in zip(ids, called, strict=True)
        ),
        draw(usages()),
        draw(st.sampled_from(finishes)),
    )


def deltas(
    finishes: tuple[Finish, ...] = FINISHES,
    *,
    tools: tuple[Tool, ...] = _ANY_TOOLS,
    most_calls: int = 3,
) -> SearchStrategy[tuple[Delta, ...]]:
    """Return a strategy for deltas of correct turns; the arguments are as in `turn_scripts`."""
    stated = turn_scripts(finishes, tools=tools, most_calls=most_calls)
    return stated.map(lambda script: tuple(script.deltas()))


def turns(
    finishes: tuple[Finish, ...] = FINISHES,
    *,
    tools: tuple[Tool, ...] = _ANY_TOOLS,
    most_calls: int = 3,
) -> SearchStrategy[Turn]:
    """Return a strategy for correct turns; the arguments are as in `turn_scripts`."""
    return deltas(finishes, tools=tools, most_calls=most_calls).map(fold)


# A larger body byte by byte takes long and reveals no more.
_EACH_BYTE_UP_TO: Final = 4_096


@cache
def option_values(dialect: str) -> tuple[tuple[str, object], ...]:
    """Return each (option, value) of a dialect's writer except the documented values."""
    kind = DIALECTS[dialect].writer_options
    contract = kind()
    return tuple(
        (name, value)
        for name, hint in get_type_hints(kind).items()
        for value in _values(hint)
        if value != getattr(contract, name)
    )


@cache
def writer_options(dialect: str, **free: tuple[object, ...]) -> SearchStrategy[Any]:
    """Return a strategy for the options of a dialect's writer, each drawn independently.

    Args:
        dialect: a name such as `openai-chat`.
        free: name of an option -> its values, for options that are text or numbers. Other such
            options keep their default.
    """
    kind = DIALECTS[dialect].writer_options
    contract = kind()
    options = {
        name: (getattr(contract, name), *free.get(name, _values(hint)))
        for name, hint in get_type_hints(kind).items()
    }
    return st.builds(
        kind,
        **{name: st.sampled_from(tuple(dict.fromkeys(each))) for name, each in options.items()},
    )


def _values(hint: object) -> tuple[object, ...]:
    """Return the possible values of an option; () if it is a text or a number."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    return (False, True) if hint is bool else ()


def bodies(
    dialect: str,
    turn: Turn,
    quirks: dict[str, object] | bool = False,  # noqa: FBT001, FBT002 - none, all, or which
) -> SearchStrategy[bytes]:
    """Return a strategy for bodies that encode `turn` in `dialect`.

    With some combinations of options, two turns have the same body (no index, no id, the same
    name), so a test that reads the body must know the options. Hypothesis finds no example if the
    dialect cannot encode the turn.

    Args:
        dialect: a name such as `openai-chat`.
        turn: the turn to encode, without its rejected calls and its failure.
        quirks: False for the documented encoding, True for any options, or the options to use,
            such as `{"line_end": "crlf"}`.
    """
    kind = DIALECTS[dialect].writer_options
    if isinstance(quirks, dict):
        options: SearchStrategy[Any] = st.just(kind(**quirks))
    else:
        options = writer_options(dialect) if quirks else st.just(kind())
    deltas = tuple(deltas_of_turn(turn))
    written = options.map(lambda chosen: _written_body(dialect, deltas, chosen))
    return written.filter(lambda body: body is not None)


def deltas_of_turn(turn: Turn) -> Iterator[Delta]:
    """Yield deltas that fold to `turn`, without its failure and its rejected calls."""
    if turn.reasoning:
        yield ReasoningDelta(turn.reasoning)
    if turn.text:
        yield TextDelta(turn.text)
    for index, call in enumerate(turn.tool_calls):
        arguments = (call.arguments,) if call.arguments else ()
        yield from call_deltas(index, call.id, call.name, *arguments, kind=call.kind)
    if turn.usage is not None:
        yield UsageDelta(turn.usage)
    yield turn.finish or Finish(FinishReason.STOP)


def _written_body(dialect: str, deltas: tuple[Delta, ...], options: Any) -> Any:  # noqa: ANN401 - bytes or None, of the dialect's own options
    try:
        return b"".join(DIALECTS[dialect].write(deltas, options))
    except ValueError:  # the API cannot encode it
        return None


def chunkings(body: bytes, *, most: int = 4) -> SearchStrategy[Chunking]:
    """Return a strategy for chunkings of `body`, which shrink to the unsplit body.

    A decoder that wrongly decodes each read by itself is found by half of the runs of 200 examples
    if all cuts are uniform, and by all of them if half of the cuts are at seams (measured in
    2026-11).

    Args:
        body: the body to cut.
        most: the largest number of cuts, but some chunkings cut all seams, or after each byte.
    """
    if len(body) < 2:  # noqa: PLR2004 - there is nothing to cut
        return st.just(UNSPLIT)
    found = seams(body)
    cut = st.integers(1, len(body) - 1)
    if found:
        cut |= st.sampled_from(found)
    some = st.sets(cut, max_size=most).map(lambda cuts: tuple(sorted(cuts)))
    if len(body) > _EACH_BYTE_UP_TO:
        return some
    return st.one_of(some, some, some, st.sampled_from((found, each_byte(body))))
