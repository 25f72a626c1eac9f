"""A conversation is read back as it was written, other people's as far as it is known."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.conversation.history.check import history_problems
from harness.conversation.history.identifiers import distinct_ids, fit_ids
from harness.conversation.history.jsonl import (
    ConversationLabels,
    LoggedConversation,
    decode,
    encode,
    is_conversation,
)
from harness.conversation.history.storing import turn_messages
from harness.conversation.history.third_party import read_messages
from harness.errors import UnreadableError
from harness.providers import Capabilities, capabilities_of
from harness.results.conversation import Conversation, Ending, Probe, TurnMeta, TurnRecord
from harness.turns.deltas import Finish, FinishReason, ParseError, ToolCall
from harness.turns.messages import Message, assistant, system, user
from harness.turns.turn import Turn
from tests.conversation.conversation_histories import (
    ERRORS,
    POLICY_NAMES,
    STORINGS,
    TURNS,
    results_of,
)

METAS = st.builds(
    TurnMeta,
    strategy=st.sampled_from(["", "tool_use", "json_fallback"]),
    deprecated=st.booleans(),
    parse_errors=st.lists(ERRORS, max_size=2).map(tuple),
    probe=st.none() | st.builds(Probe, st.booleans(), st.sampled_from(["", "HTTP 500"])),
    retries=st.integers(0, 2),
)
ABOUTS = st.builds(ConversationLabels, model=st.sampled_from(["", "qwen-plus", "模型"]))


@st.composite
def logs(draw: st.DrawFn) -> LoggedConversation:
    """Return what some agent might have made of a task."""
    messages: list[Message] = [system("Be brief."), user("Why?\u2028\x85")]
    turns: list[TurnRecord] = []
    policy, storing = draw(POLICY_NAMES), draw(STORINGS)
    for turn in draw(st.lists(TURNS, max_size=5)):
        results = draw(results_of(turn))
        turns.append(TurnRecord(turn, draw(METAS), tuple(results)))
        if draw(st.booleans()):  # a turn that was asked for again leaves no message
            messages += turn_messages(policy, turn, results, len(turns), Capabilities(), storing)
    ending: Ending = draw(st.sampled_from(get_args(Ending)))
    said = Conversation(tuple(messages), tuple(turns), ending, draw(st.text(max_size=5)))
    return LoggedConversation(draw(ABOUTS), said)


@given(st.lists(logs(), min_size=1, max_size=3))
def test_conversations_are_read_back_as_they_were_written(logged: list[LoggedConversation]) -> None:
    data = b"".join(map(encode, logged))
    assert is_conversation(data)
    assert decode(data) == tuple(logged)


@given(st.lists(logs(), min_size=1, max_size=2), st.data())
def test_a_line_that_is_missing_is_found_out(
    logged: list[LoggedConversation], data: st.DataObject
) -> None:
    lines = b"".join(map(encode, logged)).splitlines(keepends=True)
    place = data.draw(st.integers(0, len(lines) - 1))
    with pytest.raises(UnreadableError):
        decode(b"".join(lines[:place] + lines[place + 1 :]))


CALL = ToolCall("c1", "weather", '{"city": "Oslo"}')
BROKEN = ParseError("tool_use", "found the end", '{"city": "Os', "c2", "weather")
FIRST = Turn(tool_calls=(CALL,), finish=Finish(FinishReason.TOOL_CALLS))
RETRIED = Turn(parse_errors=(BROKEN,), finish=Finish(FinishReason.TOOL_CALLS))
LAST = Turn("Clear.", finish=Finish(FinishReason.STOP))
LOGGED = LoggedConversation(
    ConversationLabels(
        "gateway", "dashscope", "qwen-plus", "native-tools/v1", "conversations/oslo"
    ),
    Conversation(
        (
            user("Weather?"),
            *turn_messages("merged", FIRST, {}, 1, Capabilities()),
            assistant("Clear."),
        ),
        (
            TurnRecord(FIRST, TurnMeta("tool_use", probe=Probe(ok=True)), ("c1",)),
            TurnRecord(RETRIED, TurnMeta("tool_use", (BROKEN,), retries=1)),
            TurnRecord(LAST, TurnMeta("tool_use")),
        ),
        "done",
        "Clear.",
    ),
)


def _lines(logged: LoggedConversation = LOGGED) -> list[dict[str, Any]]:
    return [json.loads(line) for line in encode(logged).splitlines()]


def test_the_meta_of_a_turn_stands_beside_its_message() -> None:
    header, question, call, result, retried, answer = _lines()
    assert (header["format"], header["version"], header["model"]) == (
        "harness-conversation",
        1,
        "qwen-plus",
    )
    assert "meta" not in question | result
    assert call["meta"]["executed"] == ["c1"]
    assert call["meta"]["probe"] == {"ok": True, "error": ""}
    assert list(retried) == ["meta"]
    assert retried["meta"]["retries"] == 1
    (error,) = retried["meta"]["parse_error"]
    assert (error["mode"], error["snippet"]) == ("tool_use", '{"city": "Os')
    assert answer["meta"]["strategy"] == "tool_use"


def test_the_meta_stands_beside_its_message_when_the_id_was_rewritten() -> None:
    said = LOGGED.conversation
    sent = fit_ids(said.messages, "[a-zA-Z0-9]{9}").messages
    rewritten = LoggedConversation(LOGGED.about, replace(said, messages=sent))
    call = _lines(rewritten)[2]
    assert call["tool_calls"][0]["id"] != "c1"
    assert call["meta"]["executed"] == ["c1"]
    assert decode(encode(rewritten)) == (rewritten,)


def _text(lines: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def _changed(number: int, **fields: Any) -> bytes:  # noqa: ANN401 - any JSON value
    lines = _lines()
    lines[number] |= fields
    return _text(lines)


@pytest.mark.parametrize(
    ("data", "where", "what"),
    [
        (b"", "a.jsonl", "expected a header"),
        (b"hello\n", "a.jsonl: line 1", "expected one JSON object, found b'hello'"),
        (_text(_lines()[1:]), "a.jsonl: line 1", "expected a header"),
        (_changed(0, version=2), "a.jsonl: line 1", "expected version 1 of the format, found 2"),
        (_changed(0, model=3), "a.jsonl: line 1", "model: expected a string, found an integer"),
        (_changed(0, extra=3), "a.jsonl: line 1", "unknown key 'extra'"),
        (_changed(0, ending="over"), "a.jsonl: line 1", "invalid enum value 'over'"),
        (_text(_lines()[:-1]), "a.jsonl: line 1", "expected 4 messages, as in the header"),
        (_text(_lines()[:4] + _lines()[5:]), "a.jsonl: line 1", "expected 3 turns"),
        (_changed(1, role=None), "a.jsonl: line 2", 'expected a message with a "role"'),
        (_changed(5, meta={}), "a.jsonl: line 6: meta", "the key 'turn' is missing"),
        (_changed(5, meta={"turn": {}, "a": 1}), "a.jsonl: line 6: meta", "unknown key 'a'"),
        (encode(LOGGED)[:-5], "a.jsonl: line 6", "expected one JSON object"),
    ],
)
def test_what_is_damaged_is_told_with_its_place(data: bytes, where: str, what: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        decode(data, "a.jsonl")
    assert caught.value.where == where
    assert what in caught.value.what


def test_our_own_lines_are_other_peoples_messages_too() -> None:
    lines = [line for line in _lines()[1:] if "role" in line]
    (read,) = read_messages(_text(lines)) or ()
    assert read.conversation.messages == LOGGED.conversation.messages
    first, last = read.conversation.turns
    assert (first.turn, first.executed, first.meta.strategy) == (FIRST, ("c1",), "tool_use")
    assert last.turn == LAST
    assert (read.conversation.ending, read.conversation.answer) == ("done", "Clear.")


def test_other_peoples_messages_are_taken_for_turns() -> None:
    call = {"id": "c9", "type": "function", "function": {"name": "f", "arguments": '{"a": 1'}}
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    error = {"mode": "tool_use", "error": "cut", "snippet": '{"a": 1'}
    metas: tuple[object, ...] = ({"parse_error": error, "strategy": "tool_use"}, {}, "hello")
    for meta in metas:
        messages = [user("Why?"), said | {"meta": meta}]
        whole = {"model": "m", "messages": messages}
        (read,) = read_messages(_text([whole])) or ()
        assert read.about.model == "m"
        assert (read.conversation.ending, read.conversation.answer) == ("interrupted", "")
        assert read.conversation.messages == (user("Why?"), said)
        (record,) = read.conversation.turns
        assert (record.turn.tool_calls, record.executed) == ((), ())
        assert [each.snippet for each in record.turn.parse_errors] == ['{"a": 1']
        assert [each.snippet for each in record.meta.parse_errors] == ['{"a": 1']


def test_parts_objects_and_custom_calls_are_read() -> None:
    calls = [
        {"id": "c1", "function": {"name": "f", "arguments": {"a": 1}}},
        {"id": "c2", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}},
    ]
    parts = [{"type": "text", "text": "Let "}, {"type": "image_url"}, {"text": "me."}]
    said = {"role": "assistant", "content": parts, "tool_calls": calls, "reasoning": "Hm."}
    (read,) = read_messages(_text([user("Why?"), said])) or ()
    assert read.conversation.turns[0].turn == Turn(
        "Let me.",
        "Hm.",
        (ToolCall("c1", "f", '{"a": 1}'), ToolCall("c2", "sql", "SELECT 1", "custom")),
        finish=Finish(FinishReason.TOOL_CALLS),
    )


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello",
        b'{"role": "assistant", "content": [], "type": "message"}',
        b'{"role": "user", "content": "a"}\n{"choices": []}',
        b'{"messages": []}',
        b'{"messages": [{"role": "user"}]}\n{"role": "user"}',
        encode(LOGGED),
    ],
)
def test_other_lines_are_left_to_others(data: bytes) -> None:
    assert read_messages(data) is None


JSON = st.recursive(
    st.none() | st.integers() | st.sampled_from(["", "c1", "{}", "tool_use"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "function", "name", "parse_error", "probe"]), inner
        )
    ),
    max_leaves=5,
)
KEYS = st.sampled_from(["content", "tool_calls", "tool_call_id", "meta", "reasoning"])


@given(
    st.lists(st.tuples(st.sampled_from(["assistant", "tool", "user"]), st.dictionaries(KEYS, JSON)))
)
def test_no_message_makes_reading_raise(bodies: list[tuple[str, dict[str, Any]]]) -> None:
    messages = [user("Why?"), *({"role": role, **fields} for role, fields in bodies)]
    (read,) = read_messages(_text(messages)) or ()
    assert len(read.conversation.messages) == len(messages)
    assert all(record.turn == distinct_ids(record.turn) for record in read.conversation.turns)
    assert decode(encode(read)) == (read,)


def test_the_example_of_the_reference_can_be_read() -> None:
    page = Path(__file__).parents[3] / "docs/reference/history.md"
    example = page.read_text(encoding="utf-8").partition("```json\n")[2].partition("```")[0]
    (logged,) = decode(example.encode())
    assert history_problems(logged.conversation.messages, capabilities_of("dashscope")) == ()
    assert [record.executed for record in logged.conversation.turns] == [("c1",), ()]
