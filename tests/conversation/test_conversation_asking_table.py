"""Requests in each dialect that agents ask in: the same history, spelled as the API wants it.

What the judge reads of a request is what the history said, whatever the history is; it reads
without the code that spelled it.
"""

import json
from collections.abc import Iterable
from itertools import groupby
from typing import Any, TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.conversation.history.check import history_problems
from harness.dialects.table import AGENT_DIALECTS, message_form
from harness.errors import UsageError
from harness.judging.conversations.evidence import parsed_capabilities
from harness.providers import Capabilities, capabilities_of
from harness.turns.messages import Message, calls_of, role_of, text_of, user
from tests.conversation.conversation_histories import POLICY_NAMES, histories
from tests.conversation.conversation_requests import HISTORY, body_of

DIALECTS = st.sampled_from(sorted(AGENT_DIALECTS))
Said: TypeAlias = tuple[str, str, tuple[object, ...]]


def spoken(messages: Iterable[object]) -> list[Said]:
    """Return role, text, and calls or the call that is answered; sides that go on are one.

    Ids are numbered, since not every API has them; arguments are compared as values.
    """
    numbers: dict[str, int] = {}
    said = [_said(message, numbers) for message in messages]
    sides = groupby(said, key=lambda each: each[0] if each[0] != "tool" else str(each))
    return [_joined(tuple(group)) for _, group in sides]


def _said(message: object, numbers: dict[str, int]) -> Said:
    role = role_of(message)
    if role == "tool":
        assert isinstance(message, dict)
        return role, text_of(message), (numbers.get(message["tool_call_id"]),)
    calls = tuple(calls_of(message))
    numbers |= {call[0]: len(numbers) + at for at, call in enumerate(calls)}
    said = tuple((numbers[call_id], name, json.loads(text)) for call_id, name, text in calls)
    return role, text_of(message) if text_of(message).strip() else "", said


def _joined(said: tuple[Said, ...]) -> Said:
    role = said[0][0]
    between = "\n\n" if role == "system" else ""
    texts = between.join(each[1] for each in said)
    return role, texts, tuple(part for each in said for part in each[2])


@given(st.data(), DIALECTS, POLICY_NAMES)
def test_what_is_read_of_a_request_is_what_the_history_said(
    data: st.DataObject, dialect: str, policy: str
) -> None:
    field = data.draw(st.sampled_from(["", "reasoning_content"]))
    capabilities = replace(capabilities_of("openai", ROWS[dialect].id_pattern), reasoning_field=field)
    history = data.draw(histories(capabilities, policy))
    found = message_form(dialect).messages_of(body_of(dialect, *history, field=field))
    assert spoken(found) == spoken(history)
    assert history_problems(found, parsed_capabilities(message_form(dialect), capabilities)) == ()


@pytest.mark.parametrize("dialect", sorted(AGENT_DIALECTS))
def test_every_dialect_says_the_same(dialect: str) -> None:
    body = body_of(dialect, *HISTORY)
    found = message_form(dialect).messages_of(body)
    assert list(map(role_of, found)) == ["user", "assistant", "tool", "assistant"]
    assert [text_of(each) for each in found] == ["?", "", "clear", "Clear."]
    ((call_id, name, arguments),) = calls_of(found[1])
    assert (name, json.loads(arguments)) == ("get_weather", {"city": "Oslo"})
    assert found[2]["tool_call_id"] == call_id  # type: ignore[index]  # an object
    assert message_form(dialect).tool_names(body) == ("get_weather",)


@pytest.mark.parametrize("dialect", sorted(AGENT_DIALECTS - {"cohere", "mistral", "ollama"}))
def test_what_a_history_breaks_is_seen_in_every_dialect(dialect: str) -> None:
    def quirks(*messages: Message) -> set[str]:
        found = message_form(dialect).messages_of(body_of(dialect, *messages))
        return {each.quirk for each in history_problems(found, Capabilities())}

    assert quirks(*HISTORY) == set()
    assert quirks(HISTORY[0], HISTORY[1], user("And?")) == {"HIST-MISSING-RESULT"}
    assert quirks(HISTORY[0], HISTORY[2]) == {"HIST-ORPHAN-RESULT"}
    middle = {"role": "system", "content": "Be brief."}
    assert quirks(*HISTORY, middle, user("And?")) == {"HIST-SYSTEM-MID"}
    assert quirks(*HISTORY[:3], *HISTORY[1:3]) == {"ID-REUSED-ACROSS-TURNS"}


@given(st.lists(st.sampled_from(HISTORY), max_size=4))
def test_cohere_gets_no_null(messages: list[dict[str, Any]]) -> None:
    body = body_of("cohere", *messages)
    assert all(None not in each.values() for each in body["messages"])
    assert len(body["messages"]) == len(messages)


def test_what_nobody_can_ask_in_is_refused_with_what_can() -> None:
    with pytest.raises(UsageError, match="dialect 'tgi'") as caught:
        body_of("tgi", *HISTORY)
    assert "anthropic, bedrock-converse" in caught.value.hint
