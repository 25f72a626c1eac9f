"""A talk -> the cassette of its replies and the scenario that says what an agent makes of them."""

import json
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from harness.conversation.agent import Agent
from harness.dialects.oracles import oracle_reading
from harness.dialects.table import DIALECTS
from harness.fuzzing.conversations.plans import (
    FAILING,
    RESULTS,
    UNKNOWN,
    ConversationPlan,
    PlannedCall,
    PlannedTurn,
)
from harness.judging.conversations.script import ConversationFile, script_from_file
from harness.judging.judge import LoadedSubject
from harness.judging.scenario import Scenario
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
)
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction, Request
from harness.wire.reads import synthetic_reads

_TOOLS: Final = (*RESULTS, FAILING)
_FAILED: Final = "no network"
_RETRIED: Final = "once"
_IDENTICAL: Final = 2
_ACTION: Final = "action-protocol/v1"
_AGAIN: Final = PlannedCall("note", {"again": True})


class GeneratedScenario(msgspec.Struct, frozen=True):
    """A talk made ready.

    Fields:
        conversation: the value of the key `conversation` of a scenario file.
        policies: of the agent, on which what is expected rests.
    """

    cassette: Cassette
    conversation: dict[str, Any]
    policies: dict[str, str]

    def loaded(self, name: str = "talk") -> LoadedSubject:
        """Return it as a run loads it from files."""
        file = msgspec.convert(self.conversation, ConversationFile)
        scenario = Scenario(
            name, name, name, conversation=script_from_file(file, name), policies=self.policies
        )
        return LoadedSubject(msgspec.structs.replace(self.cassette, id=name), scenario)


def build_scenario(talk: ConversationPlan, agent: Agent) -> GeneratedScenario:
    """Return what `agent` is to be judged by."""
    replies = tuple(_replies(talk, agent))
    cassette = Cassette("talk", replies, Origin("emulated", by="harness fuzz"))
    probes = bool(talk.probed)
    return GeneratedScenario(
        cassette,
        _conversation(talk, agent),
        {"probe": "undeclared"} if probes or not talk.takes_tools else {},
    )


# What the provider says


def _replies(talk: ConversationPlan, agent: Agent) -> Iterator[Interaction]:
    if talk.probed and agent.policies.get("probe") == "undeclared":
        yield _probe(talk)
    number = 0
    for place, rounds in enumerate(talk.questions):
        for each in rounds:
            yield _reply(talk, _turn_deltas(talk, each, number))
            number += len(each.calls)
        last = place == len(talk.questions) - 1
        if last and talk.again:
            for _ in range(_IDENTICAL + 1):
                yield _reply(talk, _turn_deltas(talk, PlannedTurn((_AGAIN,)), number))
                number += 1
        elif last and talk.stopped:
            yield _reply(talk, _turn_deltas(talk, PlannedTurn((_AGAIN,)), number))
        elif not last or talk.end == "whole":
            yield _reply(talk, [TextDelta(_answer_text(talk, place)), Finish(FinishReason.STOP)])
        elif talk.end == "cut":
            yield _cut(_reply(talk, _cut_turn(talk, number)))
        else:
            yield _reply(talk, [Finish(FinishReason.STOP)])


def _cut_turn(talk: ConversationPlan, number: int) -> list[Delta]:
    if talk.taught:
        said = (TextDelta(_in_prompt_format(talk, "So far so")[:-2]), TextDelta(" good"))
        return [*said, Finish(FinishReason.STOP)]
    called = _turn_deltas(talk, PlannedTurn((PlannedCall(),)), number)
    return [TextDelta("So far "), *called[:-1], Finish(FinishReason.TOOL_CALLS)]


def _answer_text(talk: ConversationPlan, place: int) -> str:
    return _in_prompt_format(talk, _answer(talk, place))


def _in_prompt_format(talk: ConversationPlan, answer: str) -> str:
    """Return the answer as the prompt asks for it."""
    said = {"reasoning": "", "action": "finish", "content": answer}
    return _json_text(said) if talk.prompt == _ACTION else answer


def _answer(talk: ConversationPlan, place: int) -> str:
    return f"{talk.answer} ({place + 1})"


def _turn_deltas(talk: ConversationPlan, each: PlannedTurn, number: int) -> list[Delta]:
    said: list[Delta] = [ReasoningDelta(talk.reasoning)] if talk.reasoning else []
    text = _text_with_calls(talk, each) if talk.taught else each.text
    said += [TextDelta(text)] if text else []
    if talk.taught:
        return [*said, Finish(FinishReason.STOP)]
    first = 0 if talk.same_ids else number
    for index, call in enumerate(each.calls):
        said += [
            ToolCallStart(index, f"call_{first + index}", call.tool.replace(".", "_")),
            ArgumentsDelta(index, call.broken or _json_text(call.arguments)),
            ToolCallEnd(index),
        ]
    return [*said, Finish(FinishReason.TOOL_CALLS)]


def _json_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _text_with_calls(talk: ConversationPlan, each: PlannedTurn) -> str:
    """Return a turn with calls as the prompt asks for it."""
    calls = [{"name": call.tool, "arguments": call.arguments} for call in each.calls]
    if talk.prompt == _ACTION:
        return _json_text({"reasoning": each.text, "action": "tool_call", "tool_calls": calls})
    return each.text + "".join(f"<tool_call>\n{_json_text(call)}\n</tool_call>\n" for call in calls)


def _reply(talk: ConversationPlan, deltas: list[Delta]) -> Interaction:
    dialect = DIALECTS[talk.dialect]
    return _interaction(talk, b"".join(dialect.write(deltas)), dialect.content_type)


def _interaction(
    talk: ConversationPlan, body: bytes, content_type: str = "application/json", status: int = 200
) -> Interaction:
    tools = [_declared(name) for name in _TOOLS]
    asked = {"model": "any", "stream": True, "messages": []}
    request = Request(body=json.dumps(asked if talk.taught else asked | {"tools": tools}).encode())
    return Interaction(
        request,
        status,
        (("content-type", content_type),),
        body,
        synthetic_reads(body),
        reads_kept=False,
        dialect=talk.dialect,
        tools=tuple(tool["function"] for tool in tools) if talk.taught else (),
    )


def _declared(name: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {}}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


def _probe(talk: ConversationPlan) -> Interaction:
    match talk.probed:
        case "ok":
            call = ToolCallStart(0, "call_p", "harness_probe")
            end = (ToolCallEnd(0), Finish(FinishReason.TOOL_CALLS))
            return _reply(talk, [call, ArgumentsDelta(0, "{}"), *end])
        case "no":
            return _reply(talk, [TextDelta("I cannot."), Finish(FinishReason.STOP)])
        case _:
            return _interaction(talk, b'{"error": {"message": "down"}}', status=500)


def _cut(reply: Interaction) -> Interaction:
    """Return `reply` without its last frames, so that it does not come to its end."""
    sizes = [read.size for read in reply.reads]
    while sizes:
        sizes.pop()
        body = reply.body[: sum(sizes)]
        cut = msgspec.structs.replace(reply, body=body, reads=synthetic_reads(body))
        if not oracle_reading(cut).ended:
            return cut
    return reply


# What must come of it


def _conversation(talk: ConversationPlan, agent: Agent) -> dict[str, Any]:
    count = len(talk.questions)
    said: dict[str, Any] = {
        "questions": [f"Question {number + 1}?" for number in range(count)],
        "tools": {name: {"result": value} for name, value in RESULTS.items()}
        | {FAILING: {"error": _FAILED}},
        "prompt": talk.prompt,
        "capabilities": talk.capabilities | _tool_capability(talk),
        "expect": _expect(talk, agent),
    }
    if talk.stopped:
        said["limits"] = {"rounds": len(talk.questions[0]) + 1}
    return said


def _tool_capability(talk: ConversationPlan) -> dict[str, Any]:
    return {"supports_tool_use": None if talk.probed else talk.takes_tools}


def _expect(talk: ConversationPlan, agent: Agent) -> dict[str, Any]:
    rounds = [each for rounds in talk.questions for each in rounds]
    calls = [call for each in rounds for call in each.calls]
    calls += [_AGAIN] * _IDENTICAL if talk.again else []
    broken = sum(bool(call.broken) for call in calls)
    alone = sum(all(call.broken for call in each.calls) for each in rounds)
    expect: dict[str, Any] = {
        "ending": _ending(talk),
        "executed": [
            {"tool": call.tool, "arguments": call.arguments}
            for call in calls
            if not call.broken and call.tool != UNKNOWN
        ],
        "parse_errors": "any" if talk.end == "cut" else broken,
        "retries": alone if agent.policies.get("retry") == _RETRIED else 0,
    }
    if _ending(talk) == "done":
        expect["answer"] = _answer(talk, len(talk.questions) - 1)
    probes = talk.probed if agent.policies.get("probe") == "undeclared" else ""
    if probes:
        expect["probe"] = probes
    if not talk.taught:
        expect["strategy"] = "tool_use" if talk.takes_tools else "json_fallback"
    if talk.capabilities.get("supports_parallel_tools") is False and not probes:
        expect["requests"] = [
            {"fields": {"parallel_tool_calls": False}} for _ in _replies(talk, agent)
        ]
    return expect


def _ending(talk: ConversationPlan) -> str:
    if talk.again or talk.stopped:
        return "limit"
    return {"whole": "done", "cut": "interrupted", "empty": "empty"}[talk.end]
