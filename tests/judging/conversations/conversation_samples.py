"""A small cassette, a script for it and agents as functions, for the tests of conversations."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from harness.conversation.agent import Agent
from harness.conversation.replies import next_request, read_turn
from harness.conversation.task import Task
from harness.judging.conversations.judge import judge_conversation
from harness.judging.conversations.script import (
    ConversationExpected,
    ConversationScript,
    ExpectedExecution,
    MockAnswer,
)
from harness.judging.judge import LoadedSubject
from harness.judging.scenario import Scenario
from harness.normalizers.reference import normalize
from harness.results.conversation import Conversation, Ending, TurnMeta, TurnRecord
from harness.results.result import Result
from harness.turns.messages import Message, assistant, system, tool_result, user
from harness.turns.turn import Turn
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction, Read, Request

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
    },
}
OSLO = '{"city": "Oslo"}'


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta or {}, "finish_reason": finish}
    payload = {"id": "r", "object": "chat.completion.chunk", "choices": [choice]}
    return b"data: " + json.dumps(payload).encode() + b"\n\n"


def calls(*arguments: str, finish: str = "tool_calls", ids: str = "call_") -> bytes:
    """Return a stream with one call of `get_weather` for each of `arguments`."""
    entries = (
        {
            "index": place,
            "id": f"{ids}{place}",
            "function": {"name": "get_weather", "arguments": text},
        }
        for place, text in enumerate(arguments)
    )
    said = b"".join(chunk({"tool_calls": [entry]}) for entry in entries)
    return said + chunk(None, finish) + b"data: [DONE]\n\n"


def says(text: str, finish: str = "stop") -> bytes:
    return chunk({"content": text}) + chunk(None, finish) + b"data: [DONE]\n\n"


def cut(body: bytes) -> bytes:
    """Return a stream without its end."""
    return body[: body.index(b'"finish_reason": "tool_calls"')].rpartition(b"data: ")[0]


def a_cassette(*bodies: bytes, origin: str = "emulated") -> Cassette:
    asked = json.dumps({"model": "m", "stream": True, "messages": [], "tools": [WEATHER]}).encode()
    request = Request("POST", "https://llm.example.com/v1/chat/completions", (), asked)
    interactions = tuple(Interaction(request, 200, (), body, (Read(len(body)),)) for body in bodies)
    return Cassette(
        "x/y",
        interactions,
        Origin(origin),  # type: ignore[arg-type]  # an OriginKind, spelled by the test
        provider="openai",
        model="m",
        prompt="native-tools/v1",
    )


def a_script(
    ending: Ending = "done",
    executed: Iterable[str] = (OSLO,),
    **more: Any,  # noqa: ANN401 - fields
) -> ConversationScript:
    expected = tuple(ExpectedExecution("get_weather", json.loads(text)) for text in executed)
    answers = more.pop("answers", (MockAnswer({"temperature": 4}),))
    fields = {key: more.pop(key) for key in ("limits", "capabilities") if key in more}
    return ConversationScript(
        questions=("What is the weather in Oslo?",),
        expect=ConversationExpected(ending=ending, executed=expected, **more),
        tools={"get_weather": answers},
        **fields,
    )


def loaded(cassette: Cassette, script: ConversationScript, **more: Any) -> LoadedSubject:  # noqa: ANN401 - fields
    return LoadedSubject(
        cassette, Scenario("a/b", "A title", cassette.id, conversation=script, **more)
    )


Converse = Callable[[Task], Conversation]


def judged(converse: Converse, cassette: Cassette, script: ConversationScript) -> Result:
    agent = Agent("sample", converse)
    return judge_conversation(loaded(cassette, script), agent, cuts="quick")[0]


# Most agents of these tests run calls and send nothing of it. The mutants show these rules.
_TOLD = {"CONV-NOT-RUN-TOLD", "CONV-RESULT-VALUE-LOST"}


def broken(converse: Converse, cassette: Cassette, script: ConversationScript) -> list[str]:
    """Return the rules that the agent breaks, each once, without those about what it tells."""
    found = {finding.rule for finding in judged(converse, cassette, script).findings}
    return sorted(found - _TOLD)


class Talk:
    """What a test's agent is made of; every step can be done wrong by the test."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.messages: list[Message] = [system("Be kind."), user(task.questions[0])]
        self.turns: list[TurnRecord] = []

    def ask(self, **options: Any) -> Turn:  # noqa: ANN401 - members of the body
        request = next_request(self.task, self.messages, self.task.tools, options)
        turn = read_turn(self.task, request, self.task.send(request), normalize)
        self.turns.append(TurnRecord(turn, TurnMeta(parse_errors=turn.parse_errors)))
        return turn

    def run(self, turn: Turn) -> None:
        """Run all calls of a turn, and store them with their results."""
        self.messages.append(assistant(turn.text or None, turn.tool_calls))
        done = []
        for call in turn.tool_calls:
            value = self.task.call_tool(call.name, json.loads(call.arguments))
            self.messages.append(tool_result(call.id, json.dumps(value)))
            done.append(call.id)
        record = self.turns[-1]
        self.turns[-1] = TurnRecord(record.turn, record.meta, tuple(done))

    def end(self, turn: Turn, ending: Ending = "done") -> Conversation:
        if turn.text:
            self.messages.append(assistant(turn.text))
        return Conversation(tuple(self.messages), tuple(self.turns), ending, turn.text)


def good(task: Task) -> Conversation:
    """Have a conversation as it should be had, one round of calls after the other."""
    talk = Talk(task)
    turn = talk.ask()
    while turn.tool_calls and turn.failure is None:
        talk.run(turn)
        turn = talk.ask()
    return talk.end(turn, "done" if turn.failure is None else "interrupted")


def edited(change: Callable[[Talk], None]) -> Converse:
    """Return the good agent, which changes its history before the second request."""

    def converse(task: Task) -> Conversation:
        talk = Talk(task)
        talk.run(talk.ask())
        change(talk)
        return talk.end(talk.ask())

    return converse
