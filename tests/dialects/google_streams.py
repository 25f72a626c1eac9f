"""Turns of Google's dialects, spelled by hand and drawn, read every way that a body is cut."""

import json
from typing import Any

from hypothesis import strategies as st

from harness.dialects.table import DIALECTS
from harness.turns.fold import fold
from harness.turns.turn import Turn
from tests.dialects.openai_chat_streams import assert_protocol
from tests.replay_every_way import read_every_way

Json = dict[str, Any]


def read_turn(dialect: str, body: bytes) -> Turn:
    """Return the turn of `body`, cut every way."""
    deltas = read_every_way(lambda frames: DIALECTS[dialect].read(frames, ()), body)
    assert_protocol(deltas)
    return fold(deltas)


def sse(*events: Json | str) -> bytes:
    """Spell events as their servers do."""
    payloads = [event if isinstance(event, str) else json.dumps(event) for event in events]
    return b"".join(f"data: {payload}\r\n\r\n".encode() for payload in payloads)


# What paths are made of

words = st.text(max_size=6) | st.sampled_from(
    ("\u2028", "\U0001f600", '"', "\\", "a.b", "$", "[0]", "'")
)
