"""The session: mock tools answer as written, and everything that an agent does is recorded."""

import math
import signal
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.conversation.agent import Agent
from harness.conversation.plain_loop import plain_loop
from harness.conversation.task import Task, ToolFailed
from harness.judging.conversations.script import MockAnswer
from harness.judging.conversations.session import (
    NO_ANSWER,
    MockTools,
    Session,
    SessionLimits,
    run_agent,
)
from harness.normalizers.reference import normalize
from harness.results.conversation import Conversation
from harness.wire.interaction import Ended, Request
from tests.judging.conversations.conversation_samples import (
    OSLO,
    a_cassette,
    a_script,
    broken,
    calls,
    cut,
    good,
    says,
)
from tests.judging.judging_samples import DONE

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def answers(mocks: MockTools, *arguments: dict[str, Any]) -> list[object]:
    return [mocks.answer("t", each).result for each in arguments]


def test_a_list_answers_call_by_call_and_repeats_the_last() -> None:
    mocks = MockTools({"t": (MockAnswer(1), MockAnswer(2))})
    assert answers(mocks, {}, {"a": 1}, {}) == [1, 2, 2]


def test_answers_for_the_arguments_come_first() -> None:
    mocks = MockTools(
        {"t": (MockAnswer("any"), MockAnswer("a", arguments={"a": 1}), MockAnswer("last"))}
    )
    assert answers(mocks, {"a": 1}, {}, {"a": 1}, {"a": 1.0}, {}) == [
        "a",
        "any",
        "a",
        "last",
        "last",
    ]


def test_arguments_without_an_answer_fail() -> None:
    mocks = MockTools({"t": (MockAnswer("a", arguments={"a": 1}),)})
    assert mocks.answer("t", {"a": 2}).error == NO_ANSWER
    with pytest.raises(KeyError):
        mocks.answer("u", {})


@given(st.lists(JSON, min_size=1, max_size=4))
def test_results_are_copies_of_the_written_ones(values: list[Any]) -> None:
    script = a_script(answers=tuple(map(MockAnswer, values)))
    session = Session(a_cassette(says("x")), script)
    for value in values:
        found = session.task.call_tool("get_weather", {})
        assert found == value
        if isinstance(found, list):
            found.append("spoilt")  # its own copy
    assert session.record().executions[0].arguments == "{}"


@pytest.mark.parametrize("arguments", [None, {1: object()}, {"a": math.nan}, [[]], {"a": {1, 2}}])
def test_any_arguments_are_recorded(arguments: Any) -> None:  # noqa: ANN401 - whatever an agent passes
    session = Session(a_cassette(says("x")), a_script())
    session.task.call_tool("get_weather", arguments)
    assert len(session.record().executions) == 1


def test_requests_and_executions_are_recorded_with_their_turn() -> None:
    session = Session(a_cassette(calls(OSLO), says("x")), a_script())
    record = run_agent(Agent("good", good), session)
    assert [sent.index for sent in record.sent] == [0, 1]
    assert [(run.after, run.tool, run.arguments) for run in record.executions] == [
        (1, "get_weather", OSLO)
    ]
    assert record.unplayed == ()
    assert record.conversation is not None


def test_a_failure_and_an_unknown_tool_are_recorded_differently() -> None:
    session = Session(a_cassette(says("x")), a_script(answers=(MockAnswer(error="gone"),)))
    with pytest.raises(ToolFailed, match="gone"):
        session.task.call_tool("get_weather", {})
    with pytest.raises(KeyError):
        session.task.call_tool("other", {})
    failed, unknown = session.record().executions
    assert (failed.error, failed.known, unknown.known) == ("gone", True, False)


def test_an_object_that_is_not_a_request_is_refused() -> None:
    session = Session(a_cassette(says("x")), a_script())
    with pytest.raises(TypeError, match="expected a Request"):
        session.task.send("hello")  # type: ignore[arg-type]  # what an agent may do


def test_an_agent_that_waits_for_ever_is_stopped() -> None:
    def waiting(task: Task) -> Conversation:
        del task
        while True:
            pass

    limits = SessionLimits(seconds=0.2)
    record = run_agent(
        Agent("waiting", waiting), Session(a_cassette(says("x")), a_script()), limits
    )
    assert record.hung == "more than 0 seconds"


def test_an_agent_that_catches_everything_is_stopped() -> None:
    def stubborn(task: Task) -> Conversation:
        while True:
            with suppress(BaseException):
                task.send(Request())

    limits = SessionLimits(seconds=0.3)
    session = Session(a_cassette(says("x")), a_script(), limits=limits)
    record = run_agent(Agent("stubborn", stubborn), session, limits)
    assert record.hung
    assert len(record.sent) == 1 + 8 + limits.requests


def test_ctrl_c_passes_through() -> None:
    def interrupted(task: Task) -> Conversation:
        del task
        raise KeyboardInterrupt

    # A job of a shell in the background ignores Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            run_agent(Agent("x", interrupted), Session(a_cassette(says("x")), a_script()))
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_task_comes_from_cassette_and_script() -> None:
    script = a_script(capabilities={"supports_tool_use": False})
    task = Session(a_cassette(says("x")), script).task
    assert (task.provider, task.model, task.prompt) == ("openai", "m", "native-tools/v1")
    assert task.uri == "https://llm.example.com/v1/chat/completions"
    assert [tool.name for tool in task.tools] == ["get_weather"]
    assert task.capabilities.supports_tool_use is False
    assert task.capabilities.json_stability == "high"  # as declared of openai


@pytest.mark.parametrize("ended", ["reset", "truncated"])
@pytest.mark.parametrize("body", [cut(calls(OSLO)), calls(OSLO)[: -len(DONE)]])
def test_a_connection_that_broke_raises_after_the_last_read(body: bytes, ended: Ended) -> None:
    played = a_cassette(body)
    played = replace(played, interactions=(replace(played.interactions[0], ended=ended),))
    reply = Session(played, a_script()).send(Request())
    read: list[bytes] = []
    with pytest.raises(ConnectionError, match=ended):
        read += reply.reads
    assert b"".join(read) == body
    assert not broken(
        plain_loop(normalize), played, a_script("interrupted", (), parse_errors="any")
    )
