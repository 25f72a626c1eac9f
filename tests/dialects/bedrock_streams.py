"""Bedrock streams spelled by hand, and how they are read."""

import json
from typing import Any

from harness.dialects.table import DIALECTS
from harness.turns.deltas import Delta
from harness.turns.fold import fold
from harness.turns.turn import Turn
from harness.wire.aws import encode_event, encode_exception, wrap_chunk
from tests.dialects.openai_chat_streams import assert_protocol
from tests.replay_every_way import read_every_way

Json = dict[str, Any]


def read_deltas(dialect: str, body: bytes) -> tuple[Delta, ...]:
    """Return the deltas of `body`, cut every way."""
    said = read_every_way(lambda frames: DIALECTS[dialect].read(frames, ()), body, tail=b"")
    assert_protocol(said)
    return said


def read_turn(body: bytes, dialect: str = "bedrock-converse") -> Turn:
    return fold(read_deltas(dialect, body))


def messages(*events: tuple[str, object]) -> bytes:
    """Spell events of Converse; a name that ends in `Exception` is one."""
    return b"".join(
        (encode_exception if name.endswith("Exception") else encode_event)(dumped(value), name)
        for name, value in events
    )


def chunks(*values: object) -> bytes:
    """Spell events of an invoke stream."""
    return b"".join(encode_event(wrap_chunk(dumped(value)), "chunk") for value in values)


def dumped(value: object) -> bytes:
    return json.dumps(value).encode()


START = ("messageStart", {"role": "assistant"})


def opened(name: object, call_id: object = "t1", index: object = 0, **more: object) -> Any:  # noqa: ANN401 - an event
    use = {"toolUseId": call_id, "name": name, **more}
    return "contentBlockStart", {"contentBlockIndex": index, "start": {"toolUse": use}}


def piece(text: object, index: object = 0) -> tuple[str, Json]:
    return delta({"toolUse": {"input": text}}, index)


def delta(value: object, index: object = 0) -> tuple[str, Json]:
    return "contentBlockDelta", {"contentBlockIndex": index, "delta": value}


def closed(index: int = 0) -> tuple[str, Json]:
    return "contentBlockStop", {"contentBlockIndex": index}


def stop(word: object = "tool_use") -> tuple[str, Json]:
    return "messageStop", {"stopReason": word}


def counted(given: object, made: object) -> tuple[str, Json]:
    return "metadata", {"usage": {"inputTokens": given, "outputTokens": made}}
