"""The plain loop: calls run in order, each gets a result, and every end is told apart."""

import json
from collections.abc import Iterable, Iterator

import msgspec
import pytest

from harness import shipped
from harness.conversation.agent import Agent
from harness.conversation.history.check import history_problems
from harness.conversation.plain_loop import action, dashscope, plain, plain_loop, tag
from harness.conversation.results import MOST_CHARACTERS
from harness.conversation.task import Limits, Reply
from harness.errors import UsageError
from harness.providers import Capabilities
from harness.turns.deltas import Delta, Finish, FinishReason, TextDelta
from harness.wire.cassette_file import load_cassette
from harness.wire.interaction import Interaction, Request
from tests.conversation.conversation_provider import (
    FAILING,
    MEMORY,
    WEATHER,
    Provider,
    as_dialect,
    said,
    weather,
)

CALL = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
ACTION = f'{{"reasoning": "why", "action": "tool_call", "tool_calls": [{CALL}]}}'
TRUNCATED = ("c1", "get_weather", '{"city": "Os')
DONE = said("Sunny.")


def test_a_question_is_answered_after_its_call_ran() -> None:
    provider = Provider(said("Let me see.", (weather(),)), DONE)
    conversation = plain.converse(provider.task())
    assert (conversation.ending, conversation.answer) == ("done", "Sunny.")
    assert provider.executed == [(WEATHER.name, {"city": "Oslo"})]
    assert [turn.executed for turn in conversation.turns] == [("c1",), ()]
    roles = [message["role"] for message in provider.messages()]
    assert roles == ["system", "user", "assistant", "tool"]
    assert provider.bodies[0]["tools"][0]["function"]["name"] == WEATHER.name
    assert "parallel_tool_calls" not in provider.bodies[0]


def test_each_question_is_asked_after_the_answer_to_the_one_before() -> None:
    provider = Provider(said("One."), said("Two."))
    conversation = plain.converse(provider.task("a?", "b?"))
    assert conversation.answer == "Two."
    assert [m["content"] for m in conversation.messages[1:]] == ["a?", "One.", "b?", "Two."]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (("c2", "nope", "{}"), "there is no tool 'nope'"),
        (("c2", WEATHER.name, '{"town": "Oslo"}'), "do not fit"),
        (("c2", WEATHER.name, "Oslo, please"), "could not be read"),
        (("c2", FAILING.name, "{}"), "it is broken"),
    ],
)
def test_a_call_that_cannot_run_gets_an_error_and_its_siblings_run(
    call: tuple[str, str, str], error: str
) -> None:
    provider = Provider(said("", (weather("c1"), call, weather("c3", "Bergen"))), DONE)
    conversation = plain.converse(provider.task())
    cities = [arguments["city"] for name, arguments in provider.executed if name == WEATHER.name]
    assert cities == ["Oslo", "Bergen"]
    results = {m["tool_call_id"]: m["content"] for m in provider.messages() if m["role"] == "tool"}
    assert results.keys() == {"c1", "c2", "c3"}
    assert error in results["c2"]
    assert "tool_error" not in results["c1"] + results["c3"]
    assert conversation.ending == "done"


def test_an_unknown_tool_is_answered_with_the_names_that_the_model_sees() -> None:
    provider = Provider(said("", (("c1", "nope", "{}"),)), DONE)
    plain.converse(provider.task())
    assert "get_weather, memory_set, always_fails" in provider.messages()[-1]["content"]


def test_a_normalizer_gets_an_iterator_also_if_the_reads_are_a_list() -> None:
    def normalize(interaction: Interaction, reads: Iterator[bytes]) -> Iterator[Delta]:
        del interaction
        yield TextDelta(next(reads).decode())
        yield Finish(FinishReason.STOP)

    task = msgspec.structs.replace(Provider(DONE).task(), send=lambda _: Reply(200, (), [b"Hi"]))
    assert plain_loop(normalize)(task).answer == "Hi"


@pytest.mark.parametrize(
    "name", ["local-shell", "shell", "apply-patch", "computer", "mcp-approval"]
)
def test_an_action_is_answered_with_an_error_in_a_form_that_the_api_accepts(name: str) -> None:
    path = shipped.bundled_folder("cassettes") / "openai"
    (file,) = path.glob(f"*/{name}.yaml")
    (interaction,) = load_cassette(file, path.parent).interactions
    provider = Provider(interaction.body, as_dialect(DONE, "openai-responses"))
    conversation = plain.converse(provider.task(dialect="openai-responses"))
    assert (provider.executed, conversation.ending) == ([], "done")
    *_, call, result = provider.bodies[1]["input"]
    assert (call["type"], result["type"]) == ("function_call", "function_call_output")
    assert call["call_id"] == result["call_id"] != ""
    assert isinstance(json.loads(call["arguments"]), dict)
    assert "there is no tool" in result["output"]


def test_the_same_call_runs_as_often_as_it_may_and_pairing_stays_intact() -> None:
    spellings = ('{"city": "Oslo"}', '{ "city":"Oslo" }', '{"city": "\\u004fslo"}')
    turns = [said("", ((f"c{at}", WEATHER.name, text),)) for at, text in enumerate(spellings)]
    provider = Provider(*turns)
    conversation = plain.converse(provider.task(limits=Limits(identical_calls=2)))
    assert conversation.ending == "limit"
    assert len(provider.executed) == 2
    assert "this call did not run" in conversation.messages[-1]["content"]
    assert not history_problems(conversation.messages, Capabilities())


def test_at_the_limit_of_rounds_nothing_more_runs_and_every_call_is_answered() -> None:
    provider = Provider(*(said("", (weather(f"c{at}", f"City {at}"),)) for at in range(5)))
    conversation = plain.converse(provider.task(limits=Limits(rounds=3)))
    assert conversation.ending == "limit"
    assert (len(provider.bodies), len(provider.executed)) == (3, 2)
    assert "this call did not run" in conversation.messages[-1]["content"]


@pytest.mark.parametrize(
    ("reply", "ending"),
    [
        (said(""), "empty"),
        (said("half", (weather(),), None), "interrupted"),
        (b"", "interrupted"),
        (said("half", (weather(),), "length"), "limit"),
        (said("half", (weather(),), "content_filter"), "error"),
        ((500, b"<html>no</html>"), "error"),
        ((200, b"<html>no</html>"), "error"),
        ((400, b'{"error": {"message": "no", "code": "bad"}}'), "error"),
        (b"\x00\xff\xfe garbage", "interrupted"),
        (b'{"candidates": [{"content": {"parts": [{"text": "hi"}]}}]}', "interrupted"),
        (ConnectionError("refused"), "error"),
    ],
)
def test_endings_are_told_apart_and_nothing_runs(
    reply: bytes | tuple[int, bytes] | OSError, ending: str
) -> None:
    provider = Provider(reply)
    conversation = plain.converse(provider.task())
    assert conversation.ending == ending
    assert not provider.executed
    assert len(provider.bodies) == 1
    assert conversation.turns[0].executed == ()


def test_what_a_broken_turn_said_is_not_stored_as_complete() -> None:
    conversation = plain.converse(Provider(said("half an ans", (), None)).task())
    assert conversation.messages[-1]["content"].startswith("half an ans\n\n[turn broke off")
    assert conversation.answer == "half an ans"


@pytest.mark.parametrize(
    ("error", "ending"), [(ValueError("foreign"), "error"), (OSError("reset"), "interrupted")]
)
def test_what_a_normalizer_or_the_network_raises_is_the_end_of_the_turn(
    error: Exception, ending: str
) -> None:
    def raises(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
        del interaction, reads
        yield TextDelta("before")
        raise error

    conversation = plain_loop(raises)(Provider(DONE).task())
    assert (conversation.ending, conversation.answer) == (ending, "before")


def test_errors_of_any_http_client_are_those_of_the_network() -> None:
    class ReadTimeoutOfAClient(Exception):  # noqa: N818 - as httpx names its own
        pass

    def reads() -> Iterator[bytes]:
        yield said("before", (), None)
        raise ReadTimeoutOfAClient("slow")

    def refuse(request: Request) -> Reply:
        raise ReadTimeoutOfAClient(request.uri)

    task = Provider(DONE).task()
    broken = plain.converse(msgspec.structs.replace(task, send=lambda _: Reply(200, (), reads())))
    assert (broken.ending, broken.answer) == ("interrupted", "before")
    failure = broken.turns[0].turn.failure
    assert failure is not None
    assert failure.message.endswith("ReadTimeoutOfAClient: slow")
    unreachable = plain.converse(msgspec.structs.replace(task, send=refuse))
    assert (unreachable.ending, len(unreachable.turns)) == ("error", 1)


def test_what_is_no_delta_is_the_end_of_the_turn() -> None:
    def yields(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
        del interaction, reads
        yield "no delta"  # type: ignore[misc]  # as a foreign normalizer may

    conversation = plain_loop(yields)(Provider(DONE).task())
    assert conversation.ending == "error"


def test_names_and_ids_are_fit_for_the_provider_and_mapped_back() -> None:
    capabilities = Capabilities(supports_tool_use=True, tool_id_pattern="[a-zA-Z0-9]{9}")
    provider = Provider(said("", (("call_1", "memory_set", '{"a": 1}'),)), DONE)
    conversation = plain.converse(provider.task(capabilities=capabilities))
    assert provider.executed == [(MEMORY.name, {"a": 1})]
    assert conversation.turns[0].turn.tool_calls[0].name == MEMORY.name
    assert conversation.turns[0].executed == ("call_1",)
    assert not history_problems(provider.messages(), capabilities)
    assert provider.messages()[-1]["tool_call_id"] != "call_1"


@pytest.mark.parametrize("prompt", ["native-tools/v1", "tag-tools/v1"])
def test_a_long_history_is_cut_and_keeps_the_question(prompt: str) -> None:
    rounds = [
        said("", (weather(f"c{at}", f"City {at}"),))
        if prompt == "native-tools/v1"
        else said(f'<tool_call>{{"name": "get_weather", "arguments": {{"city": "City {at}"}}}}')
        for at in range(4)
    ]
    provider = Provider(*rounds, DONE)
    conversation = plain.converse(provider.task(prompt=prompt, limits=Limits(messages=6)))
    assert (conversation.ending, len(provider.executed)) == ("done", 4)
    counts = [len(body["messages"]) for body in provider.bodies]
    assert counts == [2, 4, 6, 6, 6]
    cut = provider.messages()
    assert cut[1]["content"].startswith("[4 earlier messages were left out here.]\n\nWhat is")
    assert "City 3" in cut[-1]["content"]
    assert not history_problems(cut, Capabilities())


def test_results_are_bounded() -> None:
    provider = Provider(said("", (("c1", MEMORY.name, json.dumps({"x": "y" * 20_000})),)), DONE)
    plain.converse(provider.task())
    assert len(provider.messages()[-1]["content"]) <= MOST_CHARACTERS


@pytest.mark.parametrize(
    ("agent", "prompt", "reply", "shown"),
    [
        (tag, "tag-tools/v1", f"See. <tool_call>{CALL}</tool_call>", "<tool_call>\n" + CALL),
        (plain, "tag-tools-zh/v1", f"<tool_call>{CALL}", "<tool_call>\n" + CALL),
        (action, "action-protocol/v1", ACTION, ACTION),
        (
            plain,
            "react/v1",
            'Thought: why\nAction: get_weather\nAction Input: {"city": "Oslo"}',
            'Thought: why\nAction: get_weather\nAction Input: {"city": "Oslo"}',
        ),
    ],
)
def test_a_taught_prompt_gets_its_own_call_back_and_the_result_as_text(
    agent: Agent, prompt: str, reply: str, shown: str
) -> None:
    provider = Provider(said(reply), said("Sunny."))
    conversation = agent.converse(provider.task(prompt=prompt))
    assert provider.executed == [(WEATHER.name, {"city": "Oslo"})]
    assert "tools" not in provider.bodies[0]
    assistant, result = provider.messages()[-2:]
    assert shown in assistant["content"]
    assert result["role"] == "user"
    assert '<tool_result name="get_weather">' in result["content"]
    assert conversation.answer == "Sunny."
    assert prompt in agent.prompts


def test_a_taught_call_that_cannot_be_read_is_answered_in_words() -> None:
    provider = Provider(said(f"<tool_call>{CALL[:-4]}</tool_call>"), said("Sunny."))
    tag.converse(provider.task(prompt="tag-tools/v1"))
    assert not provider.executed
    assert "could not be read" in provider.messages()[-1]["content"]


def test_a_taught_prompt_tells_declared_names_and_no_other_is_reported_as_one() -> None:
    sent = '<tool_call>{"name": "memory_set", "arguments": {}}</tool_call>'
    provider = Provider(said(sent), said("Sunny."))
    conversation = plain.converse(provider.task(prompt="tag-tools/v1"))
    assert not provider.executed
    (reported,) = conversation.turns[0].meta.parse_errors
    assert (reported.name, MEMORY.name) == ("memory_set", "memory.set")
    cut = said('<tool_call>{"name": "memory.set", "arguments": {"a', (), "length")
    provider = Provider(cut)
    conversation = plain.converse(provider.task(prompt="tag-tools/v1"))
    assert "parse error] memory.set: " in conversation.messages[-1]["content"]


def test_the_same_broken_call_is_not_asked_for_for_ever() -> None:
    conversation = plain.converse(Provider(said("", (TRUNCATED,))).task())
    assert conversation.ending == "limit"
    assert len(conversation.turns) == 3


def test_dashscope_calls_whose_id_and_name_come_once_run() -> None:
    provider = Provider(said("", (weather(),)), DONE)
    task = provider.task(capabilities=Capabilities(content_beside_calls="empty"))
    assert dashscope.converse(task).ending == "done"
    assert provider.messages()[2]["content"] == ""


def test_ollama_gets_arguments_as_objects_and_whatever_number_they_hold() -> None:
    number = "7" * 4_000
    spelled = f'<tool_call>{{"name": "memory_set", "arguments": {{"n": {number}}}}}</tool_call>'
    provider = Provider(_ollama("", {"n": 1}), _ollama(spelled), _ollama("Kept."))
    conversation = plain.converse(provider.task(dialect="ollama"))
    assert conversation.ending == "done"
    assert [arguments["n"] for _, arguments in provider.executed] == [1, int(number)]
    first, second = (m for m in provider.messages() if m.get("tool_calls"))
    assert first["tool_calls"][0]["function"]["arguments"] == {"n": 1}
    assert second["tool_calls"][0]["function"]["arguments"] == {"n": int(number)}


@pytest.mark.parametrize("field", [{"prompt": "none"}, {"dialect": "none"}])
def test_what_the_user_must_mend_is_raised(field: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        plain.converse(Provider(DONE).task(**field))


def _ollama(text: str, arguments: dict[str, object] | None = None) -> bytes:
    message: dict[str, object] = {"role": "assistant", "content": text}
    if arguments is not None:
        message["tool_calls"] = [{"function": {"name": "memory_set", "arguments": arguments}}]
    line = {"message": message, "done": True, "done_reason": "stop"}
    return json.dumps(line).encode() + b"\n"
