"""The exact texts of the shipped agents, which no scenario demands of other agents."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from harness.conversation.discovery import load_agent
from harness.files.load import load_yaml_file
from harness.judging.conversations.expected_request import (
    ExpectedMessages,
    ExpectedRequest,
    ExpectedText,
)
from harness.judging.conversations.judge import judge_conversation
from harness.judging.conversations.script import ConversationExpected
from harness.runs.load import load_subject
from harness.runs.plan import subject_id
from tests.judging.judging_samples import bundled_subjects


class ExactTexts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The texts of one scenario; `requests` has them by the index of the request."""

    requests: dict[int, ExpectedRequest] = {}
    answer: ExpectedText | None = None
    history: ExpectedMessages | None = None


TEXTS: Any = load_yaml_file(Path(__file__).with_name("exact_texts.yaml"))


def exact(expected: ConversationExpected, texts: ExactTexts, requests: int) -> ConversationExpected:
    """Return `expected` with nothing about requests, answer and history but the given texts."""
    listed = tuple(texts.requests.get(index, ExpectedRequest()) for index in range(requests))
    return replace(expected, requests=listed, answer=texts.answer, history=texts.history)


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_shipped_agents_send_and_answer_these_texts(name: str) -> None:
    texts = msgspec.convert(TEXTS[name], ExactTexts)
    loaded = load_subject(next(it for it in bundled_subjects() if subject_id(it) == name))
    assert loaded.scenario is not None
    script = loaded.scenario.conversation
    assert script is not None
    count = script.expect.request_count or len(loaded.cassette.interactions)
    subject = replace(
        loaded,
        scenario=replace(
            loaded.scenario,
            conversation=replace(script, expect=exact(script.expect, texts, count)),
        ),
    )
    agent = load_agent("gateway" if name.startswith("gateway/") else "plain-loop")
    result, case = judge_conversation(subject, agent, cuts="whole")
    assert case is not None
    assert result.findings == ()
