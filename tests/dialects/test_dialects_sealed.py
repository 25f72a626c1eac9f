"""What only the provider can read: written, read, stored and sent back without a change."""

from typing import Any, Final

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.conversation.feedback import ToolResult
from harness.conversation.history.storing import HISTORY_POLICIES, HistoryPolicy, turn_messages
from harness.dialects.kit.build_request import RequestSpec
from harness.dialects.table import DIALECTS, message_form, oracle_reading
from harness.providers import Capabilities
from harness.turns.deltas import (
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    SealedDelta,
    TextDelta,
    call_deltas,
)
from harness.turns.fold import fold
from harness.turns.messages import calls_of, sealed_of, user
from harness.turns.turn import Turn
from tests.dialects.scripted_turns import read_deltas
from tests.tables import each_row

SEALING: Final = tuple(name for name, row in DIALECTS.items() if row.sealed_kind)
URI: Final = "https://api.example.com/v1/models/m:streamGenerateContent"
VALUES: Final = st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1)
TEXTS: Final = st.text("ab c.", min_size=1).filter(str.strip)


@st.composite
def sealed_turns(draw: st.DrawFn, dialect: str) -> tuple[Delta, ...]:
    """Draw a turn with calls; before each of them, reasoning with data and hidden data."""
    kind = DIALECTS[dialect].sealed_kind
    deltas: list[Delta] = []
    for index in range(draw(st.integers(1, 3))):
        if draw(st.booleans()):
            deltas += [ReasoningDelta(draw(TEXTS)), SealedDelta(kind, draw(VALUES))]
        if draw(st.booleans()):
            hidden = "redacted_thinking" if dialect == "anthropic" else kind
            deltas.append(SealedDelta(hidden, draw(VALUES)))
        if index == 0 and draw(st.booleans()):
            deltas.append(TextDelta(draw(TEXTS)))
            if dialect == "gemini":
                deltas.append(SealedDelta(kind, draw(VALUES), "text"))
        deltas += call_deltas(index, f"c{index}", "f", f'{{"n": {index}}}')
        if dialect == "gemini" and draw(st.booleans()):
            deltas.append(SealedDelta(kind, draw(VALUES), "call", index))
    # Without any, the options of the writer decide.
    assume(any(isinstance(each, SealedDelta) for each in deltas))
    return (*deltas, Finish(FinishReason.TOOL_CALLS, ""))


def read_back(dialect: str, deltas: tuple[Delta, ...]) -> Turn:
    """Return the turn of `deltas` after the dialect wrote and read them."""
    return fold(read_deltas(dialect, b"".join(DIALECTS[dialect].write(deltas))))


def request_messages(dialect: str, turn: Turn, policy: HistoryPolicy) -> list[Any]:
    """Return the messages of the request that follows `turn`, as they are parsed."""
    results = {call.id: ToolResult(call.id, call.name, "4") for call in turn.tool_calls}
    stored = turn_messages(policy, turn, results, 1, Capabilities())
    build = DIALECTS[dialect].build_request
    assert build is not None
    body = build(RequestSpec("m", URI, (user("?"), *stored)))
    return list(message_form(dialect).messages_of(body))


def entries(turn: Turn) -> list[tuple[str, str, str, int]]:
    """Return the sealed data of a turn with its places."""
    return [(it.kind, it.value, it.of, it.call) for it in turn.sealed]


def sent_entries(messages: list[Any]) -> list[tuple[str, str, str, int]]:
    """Return the sealed data of a request with its places in all messages."""
    found, calls = [], 0
    for message in messages:
        for each in sealed_of(message):
            place = each.get("of", "reasoning")
            found.append((each["kind"], each["value"], place, calls + each.get("call", 0)))
        calls += len(list(calls_of(message)))
    return found


@given(st.data())
@pytest.mark.parametrize("dialect", SEALING)
def test_sealed_data_is_read_as_it_was_written(dialect: str, data: st.DataObject) -> None:
    deltas = data.draw(sealed_turns(dialect))
    read, expected = read_back(dialect, deltas), fold(deltas)
    assert sorted(entries(read)) == sorted(entries(expected))
    texts = [it.text for it in read.sealed if it.of == "reasoning"]
    assert texts == [it.text for it in expected.sealed if it.of == "reasoning"]


@given(st.data())
@pytest.mark.parametrize("dialect", SEALING)
def test_the_oracle_reads_the_same_sealed_data(dialect: str, data: st.DataObject) -> None:
    deltas = data.draw(sealed_turns(dialect))
    reading = oracle_reading(DIALECTS[dialect].interaction(deltas))
    assert [(it.kind, it.value, it.of, it.call) for it in reading.sealed] == entries(
        read_back(dialect, deltas)
    )


@given(st.data())
@pytest.mark.parametrize("policy", HISTORY_POLICIES)
@pytest.mark.parametrize("dialect", SEALING)
def test_sealed_data_of_a_turn_is_in_the_next_request(
    dialect: str, policy: HistoryPolicy, data: st.DataObject
) -> None:
    turn = read_back(dialect, data.draw(sealed_turns(dialect)))
    messages = request_messages(dialect, turn, policy)
    assert sorted(sent_entries(messages)) == sorted(entries(turn))
    assert [it[:2] for it in sent_entries(messages) if it[2] == "reasoning"] == [
        it[:2] for it in entries(turn) if it[2] == "reasoning"
    ]


@each_row("dialect", SEALING)
def test_data_of_another_api_is_not_sent(dialect: str) -> None:
    turn = fold(
        (
            SealedDelta("of-another", "x"),
            *call_deltas(0, "c", "f", "{}"),
            Finish(FinishReason.TOOL_CALLS),
        )
    )
    assert sent_entries(request_messages(dialect, turn, "merged")) == []


def test_a_chat_request_has_no_member_for_sealed_data() -> None:
    message = {
        "role": "assistant",
        "content": "Hi",
        "sealed": [{"kind": "signature", "value": "x"}],
    }
    others = [row for name, row in DIALECTS.items() if name not in SEALING and row.build_request]
    assert len(others) > len(SEALING)
    for row in others:
        assert row.build_request is not None
        body = row.build_request(RequestSpec("m", URI, (user("?"), message)))
        assert b"sealed" not in msgspec.json.encode(body)
