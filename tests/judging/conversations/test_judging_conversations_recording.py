"""Recordings of conversations: an agent sends its own recorded requests again."""

from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.conversation.agent import Agent
from harness.conversation.discovery import load_agent
from harness.conversation.prompts import PROMPTS, system_text
from harness.conversation.task import Limits
from harness.judging.conversations.judge import judge_conversation
from harness.judging.conversations.recording import NotReplayable, script_from_recording
from harness.judging.conversations.script import ConversationScript, ExpectedExecution
from harness.judging.conversations.session import Session, run_agent
from harness.judging.judge import LoadedSubject
from harness.judging.scenario import Scenario
from harness.results.outcome import Outcome
from harness.results.result import ConversationFacts, Result
from harness.turns.turn import Tool
from harness.wire.cassette import Cassette
from tests.conversation.conversation_provider import said, weather
from tests.conversation.conversation_replies import answering, calling, cut_short, failing
from tests.conversation.conversation_stage import stage
from tests.judging.conversations.conversation_recordings import (
    CALL,
    ROUND_TRIP,
    USER,
    asked,
    called,
    gave,
    recorded,
)
from tests.judging.judging_samples import shipped_conversations

PLAIN = load_agent("plain-loop")


def had(cassette: Cassette, agent: Agent = PLAIN) -> Result:
    """Let an agent have the conversation of a recording."""
    script = script_from_recording(cassette)
    assert isinstance(script, ConversationScript), script
    scenario = Scenario("cassette:a/b", "a/b", cassette.id, conversation=script)
    return judge_conversation(LoadedSubject(cassette, scenario), agent, cuts="quick")[0]


def facts(result: Result) -> ConversationFacts:
    assert result.conversation is not None
    return result.conversation


def recording_of(subject: LoadedSubject, agent: Agent) -> Cassette:
    """Return the cassette of a conversation with the requests that an agent really sent."""
    assert subject.scenario is not None
    assert subject.scenario.conversation is not None
    tools = subject.scenario.tools
    session = Session(subject.cassette, subject.scenario.conversation, tools)
    sent = [each for each in run_agent(agent, session).sent if each.index is not None]
    interactions = tuple(msgspec.structs.replace(it.answer, request=it.request) for it in sent)
    return msgspec.structs.replace(subject.cassette, interactions=interactions)


def _has_own_ways(subject: LoadedSubject) -> bool:
    """Whether a scenario declares of its provider what no recording tells."""
    script = subject.scenario.conversation if subject.scenario else None
    return script is None or bool(script.capabilities or script.provider)


@pytest.mark.parametrize("name", ["plain-loop", "gateway"])
def test_bundled_recordings_of_an_agent_are_replayed_unchanged(
    name: str,
) -> None:
    agent, outcomes = load_agent(name), Counter[str]()
    for subject in shipped_conversations():
        cassette = recording_of(subject, agent)
        script = script_from_recording(cassette)
        if isinstance(script, NotReplayable):
            outcomes[script.why] += 1
            continue
        result = had(cassette, agent)
        outcomes[result.outcome.value] += 1
        if result.outcome is Outcome.UNSUPPORTED:
            continue
        assert result.findings == (), subject.id
        counted = facts(result)
        assert counted.compared == len(cassette.interactions) - 1
        if not _has_own_ways(subject):
            assert counted.compared == counted.as_recorded, subject.id
    assert outcomes["pass"] >= 15, outcomes


@given(st.lists(calling() | answering() | cut_short() | failing(), min_size=2, max_size=5))
def test_any_recording_is_refused_or_replayed_unchanged(given_replies: list[Any]) -> None:
    replies = tuple(it.reply for it in given_replies if not isinstance(it.reply, OSError))
    if not replies:
        return
    cassette = recording_of(stage("any", replies, questions=("?", "??")), PLAIN)
    script = (
        script_from_recording(cassette)
        if cassette.interactions
        else NotReplayable("nothing was sent")
    )
    if isinstance(script, NotReplayable):
        return
    result = had(cassette)
    assert result.findings == ()
    if script.expect.executed is not None:  # nothing that was called is open
        assert facts(result).compared == facts(result).as_recorded


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=4,
)
MEMBERS = st.sampled_from(["role", "content", "tool_calls", "tool_call_id", "extra"])


@given(st.integers(0, 2), MEMBERS, VALUES, st.sampled_from(["openai-chat", "ollama", "cohere"]))
def test_any_message_is_refused_or_replayed(
    place: int, member: str, value: object, dialect: str
) -> None:
    messages = [dict(USER), called("c1"), gave("c1")]
    messages[place][member] = value
    exchanges = ((asked(*messages[:1]), CALL[1]), (asked(*messages), said("Clear.")))
    cassette = recorded(*exchanges, dialect=dialect)
    if isinstance(script_from_recording(cassette), ConversationScript):
        assert facts(had(cassette)).compared <= 1


def test_the_script_contains_what_the_requests_contain() -> None:
    script = script_from_recording(ROUND_TRIP)
    assert isinstance(script, ConversationScript)
    assert script.questions == ("Weather?",)
    assert script.expect.executed == (ExpectedExecution("get_weather", {"city": "Oslo"}),)
    assert script.tools["get_weather"][0].result == "clear"
    assert (script.expect.ending, script.expect.answer) == ("done", "Clear.")
    assert script.limits == Limits(rounds=2, identical_calls=1_000, retries=0)
    assert script.capabilities == {"supports_tool_use": True}


def test_a_round_trip_is_replayed() -> None:
    result = had(ROUND_TRIP)
    assert result.findings == ()
    assert (facts(result).success, facts(result).whole) == (True, True)
    assert (facts(result).compared, facts(result).as_recorded) == (1, 1)


def test_parallel_calls_show_the_capability() -> None:
    replied = said("", (weather("a"), weather("b")))
    both = asked(USER, called("a", "b"), gave("a"), gave("b", "cloudy"))
    cassette = recorded((asked(USER), replied), (both, said("Both.")))
    script = script_from_recording(cassette)
    assert isinstance(script, ConversationScript)
    assert script.capabilities["supports_parallel_tools"]
    assert facts(had(cassette)).as_recorded == 1


def test_a_recording_that_ends_with_calls_is_incomplete() -> None:
    result = had(recorded(CALL, (asked(USER, called("c1"), gave("c1")), said("", (weather("d"),)))))
    assert result.findings == ()
    assert (facts(result).ending, facts(result).whole) == ("limit", False)


def test_a_call_that_does_not_fit_its_tool_is_not_judged() -> None:
    unfit = ("c1", "get_weather", '{"town": "Oslo"}')
    entry = called("c1")
    entry["tool_calls"][0]["function"]["arguments"] = unfit[2]
    last = (asked(USER, entry, gave("c1")), said("Clear."))
    result = had(recorded((asked(USER), said("", (unfit,))), last))
    assert result.findings == ()
    assert (facts(result).compared, facts(result).as_recorded) == (1, 0)


DESCRIBING = {"role": "system", "content": system_text(PROMPTS["tag-tools/v1"], (Tool("search"),))}
REFUSED = {
    "it has one request only": recorded(CALL),
    "agents do not support the dialect tgi": recorded(CALL, CALL, dialect="tgi"),
    "its requests were not stored": recorded((b"", said("a")), (b"", said("b"))),
    "it began before the recording": recorded(
        (asked(USER, called("c0"), gave("c0")), said("a")), (asked(USER), said("b"))
    ),
    "its system text describes how to write calls, as each agent does in its own way": recorded(
        (asked(DESCRIBING, USER), said("a")),
        (asked(DESCRIBING, USER, {"role": "assistant", "content": "a"}, USER), said("b")),
    ),
    "its requests do not follow one another": recorded(CALL, CALL),
    "instructions came in the middle": recorded(
        CALL, (asked(USER, called("c1"), gave("c1"), {"role": "system"}), said("a"))
    ),
    "the user spoke between results and answer": recorded(
        CALL, (asked(USER, called("c1"), gave("c1"), USER), said("a"))
    ),
    "a request contains neither results nor one new question": recorded(
        CALL, (asked(USER, called("c1")), said("a"))
    ),
    "a message contains more than text": recorded(
        (asked(USER), said("a")),
        (asked(USER, {"role": "user", "content": [{"type": "image_url"}]}), said("b")),
    ),
    "a result answers no call of its turn": recorded(
        CALL, (asked(USER, called("c1"), gave("c9")), said("a"))
    ),
    "its client stored other calls than a reply contains": recorded(
        (asked(USER), said("a")), (asked(USER, called("c1"), gave("c1")), said("b"))
    ),
    "it ends with calls, or with possible calls": recorded(
        CALL,
        (asked(USER, called("c1"), gave("c1")), said("a")),
        (asked(USER, called("c1"), gave("c1"), USER), said("", (weather("d"),))),
    ),
}
CHOICE = "and clients may handle that in different ways"


@pytest.mark.parametrize("why", REFUSED)
def test_a_recording_that_cannot_be_replayed_is_refused_with_the_reason(why: str) -> None:
    assert script_from_recording(REFUSED[why]) == NotReplayable(why)


@pytest.mark.parametrize(
    ("reply", "what"),
    [
        (said("", (weather(),), None), "a reply is incomplete"),
        (said("", (("c1", "get_weather", "{"),)), "a reply contains a call that cannot be used"),
    ],
)
def test_a_recording_that_leaves_a_choice_is_refused(reply: bytes, what: str) -> None:
    cassette = recorded(
        (asked(USER), reply), (asked(USER, called("c1"), gave("c1")), said("Clear."))
    )
    assert script_from_recording(cassette) == NotReplayable(f"{what}, {CHOICE}")


MARKER = {"cache_control": {"type": "ephemeral"}}


def _marked(message: dict[str, Any]) -> dict[str, Any]:
    """Return a message with a marker of prompt caching on its text, which needs a block."""
    return message | {"content": [{"type": "text", "text": message["content"], **MARKER}]}


@pytest.mark.parametrize("marked", [(True, True), (True, False), (False, True)])
def test_requests_that_differ_in_a_moved_cache_marker_are_one_conversation(
    marked: tuple[bool, bool],
) -> None:
    first = _marked(USER) if marked[0] else USER
    result = _marked(gave("c1")) if marked[1] else gave("c1") | MARKER
    replies = said("", (weather(),)), said("Clear.")
    requests = asked(first), asked(USER, called("c1"), result)
    found = had(recorded(*zip(requests, replies, strict=True)))
    assert (found.outcome, found.findings) == (Outcome.PASS, ())


def test_requests_with_other_text_are_not_one_conversation() -> None:
    other = _marked(USER | {"content": "Weather??"})
    requests = asked(_marked(USER)), asked(other, called("c1"), gave("c1"))
    replies = said("", (weather(),)), said("Clear.")
    script = script_from_recording(recorded(*zip(requests, replies, strict=True)))
    assert script == NotReplayable("its requests do not follow one another")
