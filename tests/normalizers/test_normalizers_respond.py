"""The tools that a model was offered: in fields of the request, and in words of the prompt."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from msgspec.structs import replace

from harness.dialects.table import known_tools, offered_tools
from harness.judging.judge import LoadedSubject, judge_subject
from harness.judging.replaying import replay
from harness.normalizers.discovery import load_normalizer
from harness.normalizers.protocol import Normalizer
from harness.turns.deltas import Delta, Finish, FinishReason
from harness.turns.turn import Tool
from harness.wire.interaction import Interaction, Request
from tests.judging.judging_samples import DONE, a_cassette, an_interaction, call, chunk

SEARCH = {"name": "search", "description": "Searches.", "parameters": {"type": "object"}}
OTHER = {"name": "writing", "description": "another one of this name", "parameters": {}}


def taught(*tools: dict[str, Any], body: bytes = b"") -> Interaction:
    return replace(an_interaction(body), tools=tools)


def test_those_of_the_request_come_first_and_count() -> None:
    (writing,) = offered_tools(an_interaction())
    search = Tool("search", "Searches.", {"type": "object"})
    assert offered_tools(taught(SEARCH, OTHER)) == (writing, search)


def test_what_is_no_tool_is_left_out() -> None:
    (writing,) = offered_tools(an_interaction())
    assert offered_tools(taught({}, {"name": 3}, {"name": "a", "parameters": []})) == (writing,)


def test_a_replay_hands_them_to_the_normalizer() -> None:
    seen: list[tuple[dict[str, Any], ...]] = []

    def normalize(interaction: Interaction, _reads: Iterable[bytes]) -> Iterator[Delta]:
        seen.append(interaction.tools)
        yield Finish(FinishReason.STOP, "stop")

    replay(Normalizer("sample", normalize), taught(SEARCH), ())
    assert seen == [(SEARCH,)]


def test_a_turn_is_a_success_by_them_too() -> None:
    body = call("{}", id="c1", name="search") + chunk(None, "tool_calls") + DONE
    for interaction, success in ((taught(SEARCH, body=body), True), (an_interaction(body), False)):
        subject = LoadedSubject(a_cassette(interaction))
        (facts,) = judge_subject(subject, load_normalizer("reference"), cuts="quick")[0].turns
        assert facts.success is success


def test_of_a_request_that_was_not_kept_they_are_all_that_is_known() -> None:
    body = call("{}", id="c1", name="reading") + chunk(None, "tool_calls") + DONE
    lost = an_interaction(body, tools=None)
    for interaction, success in ((lost, True), (replace(lost, tools=(SEARCH,)), False)):
        subject = LoadedSubject(a_cassette(interaction))
        (facts,) = judge_subject(subject, load_normalizer("reference"), cuts="quick")[0].turns
        assert facts.success is success


@pytest.mark.parametrize(
    ("dialect", "body", "is_known"),
    [
        ("openai-chat", b"", False),
        ("openai-chat", b"no JSON", False),
        ("openai-chat", b'{"messages": []}', True),
        ("openai-chat", b'{"messages": [], "tools": []}', True),
        ("openai-chat", b'{"messages": [], "tools": null}', False),
        ("gemini", b'{"contents": [], "cachedContent": "cachedContents/1"}', False),
        ("openai-responses", b'{"input": "Hi", "prompt": {"id": "pmpt_1"}}', False),
        ("openai-completions", b'{"prompt": "Hi"}', True),
    ],
)
def test_tools_are_known_if_the_request_shows_all_of_them(
    dialect: str,
    body: bytes,
    is_known: bool,  # noqa: FBT001 - drawn
) -> None:
    sent = Interaction(Request("POST", "", (), body), 200, (), b"", (), dialect=dialect)
    assert known_tools(sent) == (() if is_known else None)
    described = replace(sent, tools=(SEARCH,))
    assert known_tools(described) == offered_tools(described) != ()
