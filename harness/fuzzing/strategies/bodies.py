"""The body of a turn, as the writer of a dialect encodes it, and where its reads end."""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, Literal, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from harness.dialects.table import DIALECTS
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
    UsageDelta,
)
from harness.turns.turn import Turn
from harness.wire.cuts import UNSPLIT, Chunking, each_byte, seams

# A larger body byte by byte takes long and reveals no more.
_EACH_BYTE_UP_TO: Final = 4_096


@lru_cache
def option_values(dialect: str) -> tuple[tuple[str, object], ...]:
    """Return each (option, value) of a dialect's writer that is not the contract's."""
    kind = DIALECTS[dialect].writer_options
    contract = kind()
    return tuple(
        (name, value)
        for name, hint in get_type_hints(kind).items()
        for value in _values(hint)
        if value != getattr(contract, name)
    )


def writer_options(dialect: str, **free: tuple[object, ...]) -> SearchStrategy[Any]:
    """Return a strategy for the options of a dialect's writer, each drawn independently.

    Args:
        dialect: such as `openai-chat`.
        free: the values to draw of options that are text or numbers; without, such an option
            keeps the value of the contract.
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
    """Return the values of an option if they are a closed set, else nothing."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    return (False, True) if hint is bool else ()


def bodies(
    dialect: str,
    turn: Turn,
    quirks: dict[str, object] | bool = False,  # noqa: FBT001, FBT002 - none, all, or which
) -> SearchStrategy[bytes]:
    """Return bodies that encode `turn` in `dialect`.

    Combinations of options may make two turns equal (no index, no id, the same name), so a test
    that reads them back must know the options. A turn that the dialect cannot encode has no
    body.

    Args:
        dialect: such as `openai-chat`.
        turn: to encode, without its rejected calls and its failure.
        quirks: False for the contract's encoding, True for any options, or the options to use,
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
        yield ToolCallStart(index, call.id, call.name, call.kind)
        if call.arguments:
            yield ArgumentsDelta(index, call.arguments)
        yield ToolCallEnd(index)
    if turn.usage is not None:
        yield UsageDelta(turn.usage)
    yield turn.finish or Finish(FinishReason.STOP)


def _written_body(dialect: str, deltas: tuple[Delta, ...], options: Any) -> Any:  # noqa: ANN401 - bytes or None, of the dialect's own options
    try:
        return b"".join(DIALECTS[dialect].write(deltas, options))
    except ValueError:  # the API cannot encode it
        return None


def chunkings(body: bytes, *, most: int = 4) -> SearchStrategy[Chunking]:
    """Return chunkings of `body`, which shrink to the whole body.

    Uniform cuts alone find a decoder that decodes each read by itself in half of the runs of
    200; with half of the cuts at seams it is all of them (measured in 2026-11).

    Args:
        body: to be cut.
        most: cuts at most, but that now and then all seams are cut, or each byte is alone.
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
