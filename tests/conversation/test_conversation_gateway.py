"""The gateway: one way for each provider, broken replies mended once, and nothing run of them."""

import json

import pytest

from harness.conversation.gateway import DUMMY, gateway
from harness.conversation.history.check import history_problems
from harness.conversation.task import Limits
from harness.providers import Capabilities
from harness.turns.deltas import FinishReason
from tests.conversation.conversation_provider import (
    FAILING,
    MEMORY,
    WEATHER,
    Provider,
    said,
    weather,
)

UNKNOWN = Capabilities()
NATIVE = Capabilities(supports_tool_use=True)
TEXT_ONLY = Capabilities(supports_tool_use=False)
SERIAL = Capabilities(supports_tool_use=True, supports_parallel_tools=False)
CALL = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
FENCED = f"```json\n{CALL}\n```"
BROKEN = ("c1", WEATHER.name, '{"city": "Os')
DONE = said("Sunny.")
PROBED = said("", (("p1", DUMMY.name, '{"ok": true}'),))


@pytest.mark.parametrize(
    ("capabilities", "replies", "strategy", "probe"),
    [
        (NATIVE, (said("", (weather(),)), DONE), "tool_use", None),
        (TEXT_ONLY, (said(FENCED), DONE), "json_fallback", None),
        (UNKNOWN, (PROBED, said("", (weather(),)), DONE), "tool_use", (True, "")),
        (UNKNOWN, (said("I cannot."), said(FENCED), DONE), "json_fallback", (False, "")),
        # Spelled in text, a call shows nothing about the field for calls.
        (
            UNKNOWN,
            (said('<tool_call>{"name": "harness_probe", "arguments": {}}'), said(FENCED), DONE),
            "json_fallback",
            (False, ""),
        ),
        (
            UNKNOWN,
            ((400, b'{"error": {"message": "no tools", "code": "bad"}}'), said(FENCED), DONE),
            "json_fallback",
            (False, "bad: no tools"),
        ),
        (
            UNKNOWN,
            (said("", (("p1", DUMMY.name, "{}"),), None), said(FENCED), DONE),
            "json_fallback",
            (False, "interrupted: "),
        ),
    ],
)
def test_each_provider_is_asked_in_the_way_that_it_can_answer(
    capabilities: Capabilities,
    replies: tuple[bytes, ...],
    strategy: str,
    probe: tuple[bool, str] | None,
) -> None:
    provider = Provider(*replies)
    conversation = gateway.converse(provider.task(capabilities=capabilities))
    assert (conversation.ending, conversation.answer) == ("done", "Sunny.")
    assert provider.executed == [(WEATHER.name, {"city": "Oslo"})]
    metas = [turn.meta for turn in conversation.turns]
    assert {meta.strategy for meta in metas} == {strategy}
    assert {meta.deprecated for meta in metas} == {strategy == "json_fallback"}
    assert [meta.probe for meta in metas[1:]] == [None]
    if probe is None:
        assert metas[0].probe is None
        return
    assert metas[0].probe is not None
    assert metas[0].probe.ok is probe[0]
    assert metas[0].probe.error.startswith(probe[1])
    assert bool(metas[0].probe.error) == bool(probe[1])
    asked = provider.bodies[0]
    assert [tool["function"]["name"] for tool in asked["tools"]] == [DUMMY.name]
    assert asked["tool_choice"]["function"]["name"] == DUMMY.name
    assert not history_problems(asked["messages"], capabilities)
    assert DUMMY.name not in json.dumps(conversation.messages)


def test_no_probe_is_sent_where_there_are_no_tools() -> None:
    provider = Provider(DONE)
    task = provider.task(capabilities=UNKNOWN, tools=())
    conversation = gateway.converse(task)
    assert len(provider.bodies) == 1
    assert conversation.turns[0].meta.probe is None


def test_a_prompt_of_the_fallback_is_asked_for_without_a_probe() -> None:
    provider = Provider(DONE)
    task = provider.task(capabilities=UNKNOWN, prompt="json-fallback/v1")
    conversation = gateway.converse(task)
    assert conversation.turns[0].meta.strategy == "json_fallback"
    assert len(provider.bodies) == 1


@pytest.mark.parametrize(
    ("capabilities", "broken", "good", "mode"),
    [
        (NATIVE, said("", (BROKEN,)), said("", (weather(),)), "tool_use"),
        (NATIVE, said("", (("c", WEATHER.name, "杭州天气"),)), said("", (weather(),)), "tool_use"),
        (TEXT_ONLY, said(CALL[:-4]), said(FENCED), "json_fallback"),
        (TEXT_ONLY, said(f"```json\n{CALL[:-4]}\n```"), said(CALL), "json_fallback"),
        (TEXT_ONLY, said(f"{CALL[:-4]}", (), "length"), said(CALL), "json_fallback"),
        *(
            (TEXT_ONLY, said(text, (), finish), said(FENCED), "json_fallback")
            for text, finish in (
                ('```json\n{"arguments": {"city": "Os}, "name": "get_weather"}\n```', "stop"),
                ('```json\n{"arguments": {"city": "Os', "stop"),
                ("```json\n{'name': 'get_weather', 'arguments': {'city': 'Oslo'}}\n```", "stop"),
                ('For {"name": "Bo"}: {"name": "get_weather", "arguments": {"city": O}}', "stop"),
                ('```json\n{"name": "get_wea', "length"),
            )
        ),
        (
            TEXT_ONLY,
            said('{"name": "nope", "arguments": {}}'),
            said(f"I look.\n{FENCED}"),
            "json_fallback",
        ),
    ],
)
def test_a_broken_reply_is_mended_once(
    capabilities: Capabilities, broken: bytes, good: bytes, mode: str
) -> None:
    provider = Provider(broken, good, DONE)
    conversation = gateway.converse(provider.task(capabilities=capabilities))
    assert (conversation.ending, conversation.answer) == ("done", "Sunny.")
    assert provider.executed == [(WEATHER.name, {"city": "Oslo"})]
    assert [turn.meta.retries for turn in conversation.turns] == [1, 0, 0]
    reported = conversation.turns[0].meta.parse_errors
    assert [error.mode for error in reported] == [mode]
    assert reported[0].snippet
    correction = provider.messages(1)[-1]
    assert correction["role"] == "user"
    assert "No tool was executed" in correction["content"]
    finish = conversation.turns[0].turn.finish
    assert finish is not None
    assert finish.reason is not FinishReason.TOOL_CALLS


def test_the_call_of_a_tool_is_reported_before_any_other_name() -> None:
    provider = Provider(
        said('For {"name": "Bo"}: {"name": "get_weather", "arguments": {"city": O}}'), DONE
    )
    conversation = gateway.converse(provider.task(capabilities=TEXT_ONLY))
    (reported,) = conversation.turns[0].meta.parse_errors
    assert reported.name == WEATHER.name
    assert reported.snippet.startswith('{"name": "get_weather"')


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"name": "Bo", "age": 3}\n```',
        "The tools' name: get_weather.",
        '{"input": "x", "output": "y"}',
        '"name": "get_weather"',
    ],
)
def test_data_is_an_answer(text: str) -> None:
    conversation = gateway.converse(Provider(said(text)).task(capabilities=TEXT_ONLY))
    assert (conversation.ending, conversation.answer) == ("done", text)


@pytest.mark.parametrize("most", [0, 1, 3])
@pytest.mark.parametrize(
    ("capabilities", "broken"), [(NATIVE, said("", (BROKEN,))), (TEXT_ONLY, said(CALL[:-4]))]
)
def test_retries_are_bounded_and_what_did_not_run_is_visible(
    capabilities: Capabilities, broken: bytes, most: int
) -> None:
    provider = Provider(broken)
    task = provider.task(capabilities=capabilities, limits=Limits(retries=most))
    conversation = gateway.converse(task)
    assert len(provider.bodies) == most + 1
    assert conversation.ending == "limit"
    assert "parse error] get_weather: " in conversation.answer
    assert conversation.answer.endswith("No tool was executed.")
    assert not provider.executed
    corrections = [body["messages"][-1]["content"] for body in provider.bodies[1:]]
    assert len(set(corrections)) == len(corrections)


def test_what_cannot_be_parsed_becomes_text_and_its_siblings_run() -> None:
    provider = Provider(said("", (weather("c1"), ("c2", WEATHER.name, "Oslo please"))), DONE)
    conversation = gateway.converse(provider.task())
    assistant = provider.messages()[2]
    assert assistant["content"].startswith("[tool_use parse error] get_weather: ")
    assert [call["id"] for call in assistant["tool_calls"]] == ["c1"]
    assert provider.executed == [(WEATHER.name, {"city": "Oslo"})]
    assert conversation.turns[0].meta.retries == 0


def test_calls_are_run_one_at_a_time_where_the_provider_wants_it() -> None:
    provider = Provider(said("", (weather("a"), weather("b", "Bergen"))), DONE)
    conversation = gateway.converse(provider.task(capabilities=SERIAL))
    assert provider.executed == [(WEATHER.name, {"city": "Oslo"})]
    assert conversation.turns[0].executed == ("a",)
    assert [body["parallel_tool_calls"] for body in provider.bodies] == [False, False]
    assert provider.messages()[-1]["tool_call_id"] == "b"
    assert "only one call" in provider.messages()[-1]["content"]


def test_nothing_is_said_of_parallel_calls_without_tools() -> None:
    provider = Provider(DONE)
    gateway.converse(provider.task(capabilities=SERIAL, tools=()))
    assert "parallel_tool_calls" not in provider.bodies[0]


def test_input_that_does_not_fit_is_an_observation() -> None:
    provider = Provider(said("", (("c1", WEATHER.name, '{"town": 1}'),)), DONE)
    conversation = gateway.converse(provider.task())
    assert "do not fit" in provider.messages()[-1]["content"]
    assert conversation.turns[0].meta.parse_errors == ()
    assert (conversation.ending, provider.executed) == ("done", [])


def test_a_call_that_the_provider_refused_is_asked_for_again() -> None:
    refused = b'{"error": {"message": "Failed to call a function.", "code": "tool_use_failed"}}'
    provider = Provider((400, refused), said("", (weather(),)), DONE)
    conversation = gateway.converse(provider.task())
    assert conversation.ending == "done"
    assert "tool_use_failed" in provider.messages(1)[-1]["content"]
    assert [message["role"] for message in provider.messages(1)] == ["system", "user"]


@pytest.mark.parametrize(
    ("reply", "ending"),
    [
        (said(""), "empty"),
        (said("half", (weather(),), None), "interrupted"),
        (b"", "interrupted"),
        ((503, b"<html>overloaded</html>"), "error"),
        (ConnectionError("refused"), "error"),
    ],
)
@pytest.mark.parametrize("capabilities", [NATIVE, TEXT_ONLY])
def test_a_provider_that_fails_is_not_asked_again(
    capabilities: Capabilities, reply: bytes | tuple[int, bytes] | OSError, ending: str
) -> None:
    provider = Provider(reply)
    conversation = gateway.converse(provider.task(capabilities=capabilities))
    assert (conversation.ending, len(provider.bodies)) == (ending, 1)
    assert not provider.executed


def test_a_call_that_was_cut_short_is_asked_for_again_and_not_run() -> None:
    provider = Provider(said("", (weather(),), "length"), said("", (weather("c2"),)), DONE)
    conversation = gateway.converse(provider.task())
    assert [turn.executed for turn in conversation.turns] == [(), ("c2",), ()]
    assert conversation.turns[0].meta.retries == 1


def test_names_in_the_fallback_are_the_applications_own() -> None:
    provider = Provider(said('{"name": "memory.set", "arguments": {"a": 1}}'), DONE)
    gateway.converse(provider.task(capabilities=TEXT_ONLY))
    assert provider.executed == [(MEMORY.name, {"a": 1})]
    assert "### memory.set" in provider.messages(0)[0]["content"]


def test_the_fallback_speaks_the_language_of_the_prompt() -> None:
    provider = Provider(said(CALL[:-4]), said(CALL), DONE)
    task = provider.task(capabilities=TEXT_ONLY, prompt="native-tools-zh/v1")
    gateway.converse(task)
    assert "整个回复就是一个代码块" in provider.messages(0)[0]["content"]
    assert "未执行任何工具" in provider.messages(1)[-1]["content"]


def test_only_the_first_call_of_a_fallback_reply_runs() -> None:
    two = CALL + "\n" + CALL.replace("Oslo", "Bergen")
    provider = Provider(said(two), DONE)
    gateway.converse(provider.task(capabilities=TEXT_ONLY))
    assert provider.executed == [(WEATHER.name, {"city": "Oslo"})]
    assert "only one call" in provider.messages()[-1]["content"]


@pytest.mark.parametrize(
    "answer",
    ['It is {"city": "Oslo"}.', "```json\n{}\n```", 'Use {"name": "x"} there.', "get_weather said"],
)
def test_an_answer_that_holds_json_is_an_answer(answer: str) -> None:
    conversation = gateway.converse(Provider(said(answer)).task(capabilities=TEXT_ONLY))
    assert (conversation.ending, conversation.answer) == ("done", answer)


def test_a_tool_that_fails_is_told() -> None:
    call = f'{{"name": "{FAILING.name}", "arguments": {{}}}}'
    provider = Provider(said(call), DONE)
    gateway.converse(provider.task(capabilities=TEXT_ONLY))
    assert "it is broken" in provider.messages()[-1]["content"]
