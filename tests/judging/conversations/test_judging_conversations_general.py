"""Rules that compare bytes with bytes accuse no agent of its layout, its summary or its server."""

import json

import pytest
from msgspec.structs import replace

from harness.conversation.agent import Agent
from harness.conversation.mutants import MUTANTS
from harness.conversation.plain_loop import plain
from harness.conversation.task import Reply, Task
from harness.judging.conversations.judge import judge_conversation
from harness.judging.conversations.script import ConversationScript
from harness.judging.rules import conversation_prompts, conversation_told
from harness.results.conversation import Conversation
from harness.turns.turn import Tool
from harness.wire.interaction import Request
from tests.conversation.conversation_provider import SPELLINGS, said, weather
from tests.conversation.conversation_stage import OSLO, stage
from tests.judging.conversations.conversation_samples import a_cassette, a_script, loaded, says

FORGETS = MUTANTS["earlier-turns-forgotten"]
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "unit": {"type": "string"}},
    "required": ["city"],
}
WEATHER = Tool("get_weather", "Tell the weather in a city.", SCHEMA)
TOLD = (
    "* required:\n  - city (string)\n* optional:\n  - unit (string)",
    "- city: string\n- unit?: string",
)


def rules(agent: Agent, script: ConversationScript) -> set[str]:
    subject = loaded(a_cassette(says("Fine."), says("Later.")), script)
    result, _ = judge_conversation(subject, agent)
    return {finding.rule for finding in result.findings}


def two_questions() -> ConversationScript:
    return replace(a_script(executed=(), answer="Later."), questions=("How?", "When?"))


def with_member(agent: Agent, member: str) -> Agent:
    """Return the agent with one more member in the body of each request."""

    def converse(task: Task) -> Conversation:
        def send(request: Request) -> Reply:
            body = json.loads(request.body) | {member: "resp_1"}
            return task.send(replace(request, body=json.dumps(body).encode()))

        return agent.converse(replace(task, send=send))

    return replace(agent, converse=converse)


def test_an_agent_that_forgets_is_accused_unless_a_summary_or_the_server_remembers() -> None:
    script = two_questions()
    assert rules(plain, script) == set()
    assert rules(FORGETS, script) == {"CONV-EARLIER-LOST"}
    summary = replace(FORGETS, policies={**FORGETS.policies, "truncation": "summary"})
    assert rules(summary, script) == set()
    assert rules(with_member(FORGETS, "previous_response_id"), script) == set()


@pytest.mark.parametrize("dialect", ["openai-chat", *SPELLINGS])
def test_each_api_shows_which_agent_forgets(dialect: str) -> None:
    replies = (said("", (weather("a"),)), said("Fine."), said("Later."))
    questions = ("How is it?", "And when?")
    subject = stage("two", replies, "done", "Later.", (OSLO,), questions=questions, dialect=dialect)
    for agent, expected in ((plain, set()), (FORGETS, {"CONV-EARLIER-LOST"})):
        result, _ = judge_conversation(subject, agent, cuts="whole")
        assert {finding.rule for finding in result.findings} == expected


@pytest.mark.parametrize(
    ("text", "is_alike"),
    [
        ("get_weather\n- city: string\n- unit: string", True),
        ("get_weather\n- city: string\n- unit: string\nRequired: city", False),
        *((f"get_weather\n{text}", False) for text in TOLD),
        (json.dumps(SCHEMA, indent=1), False),
    ],
)
def test_a_description_tells_required_from_optional_in_any_layout(
    text: str, *, is_alike: bool
) -> None:
    found = list(conversation_prompts._iter_alike((WEATHER,), text))
    assert found == ([("city", "unit")] if is_alike else [])


def test_numbers_of_the_result_are_no_notice_of_what_is_missing() -> None:
    text = '{"places": ["Bergen", "Molde", "Narvik", "Bodø"], "heights": [3, 4]}'
    value = json.loads(text, parse_int=conversation_told._Number)
    tells = conversation_told._tells_rest
    assert not tells(value, "1. Bergen\n2. Molde\nheights: 3, 4")
    assert not tells(value, "2 of 4 ships are late")
    assert not tells(value, '{"places": ["Bergen", "Molde"], "heights": [3, 4]}')
    assert tells(value, "1. Bergen\n2. Molde\n2 of 4 places are left out")
