"""Turns to be written in a dialect and read back, and how they are read: cut every way."""

import msgspec

from harness.dialects.table import DIALECTS
from harness.turns.arguments import same_value
from harness.turns.deltas import (
    Delta,
)
from harness.turns.fold import fold
from harness.turns.turn import Turn
from harness.wire.framing import iter_frames
from tests.dialects.openai_chat_streams import assert_protocol
from tests.replay_every_way import replay_every_way


def read_deltas(dialect: str, body: bytes) -> tuple[Delta, ...]:
    """Return the deltas of `body`, the same for every chunking."""
    return replay_every_way(
        lambda reads: tuple(DIALECTS[dialect].read(iter_frames(reads), ())), body, tail=b""
    )


def read_turn(dialect: str, body: bytes) -> Turn:
    """Return the turn of `body`, cut every way."""
    deltas = read_deltas(dialect, body)
    assert_protocol(deltas)
    return fold(deltas)


def assert_same(turn: Turn, wanted: Turn, *, ids: bool = True) -> None:
    """Compare by what a call means; made-up ids need only be unique."""
    assert turn.parse_errors == ()
    assert [call.name for call in turn.tool_calls] == [call.name for call in wanted.tool_calls]
    for call, other in zip(turn.tool_calls, wanted.tool_calls, strict=True):
        assert same_value(call.arguments, other.arguments)
    found = [call.id for call in turn.tool_calls]
    assert all(found)
    assert len(set(found)) == len(found)
    if ids:
        assert found == [call.id for call in wanted.tool_calls]
    assert msgspec.structs.replace(turn, tool_calls=()) == msgspec.structs.replace(
        wanted, tool_calls=()
    )
