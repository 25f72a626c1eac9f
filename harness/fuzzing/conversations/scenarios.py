"""Build the cassette and the scenario of a planned conversation."""

import json
from collections.abc import Iterator
from itertools import accumulate
from typing import Any, Final

import msgspec

from harness.conversation.agent import Agent
from harness.dialects.table import DIALECTS, oracle_reading
from harness.fuzzing.conversations.plans import (
    FAILING,
    PARAMETERS,
    RESULTS,
    ConversationPlan,
    End,
    PlannedCall,
    PlannedTurn,
)
from harness.fuzzing.mutators.mutator import with_body
from harness.judging.conversations.script import ConversationFile, script_from_file
from harness.judging.judge import LoadedSubject
from harness.judging.scenario import Scenario
from harness.results.conversation import Ending
from harness.turns.deltas import (
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    SealedDelta,
    TextDelta,
    call_deltas,
)
from harness.wire.cassette import Cassette, Origin
from harness.wire.interaction import Interaction, Request
from harness.wire.reads import synthetic_interaction

_TOOLS: Final = (*RESULTS, FAILING)
_FAILED: Final = "no network"
_RETRIED: Final = "once"
_FENCE: Final = "```json"
_IDENTICAL: Final = 2
_ACTION: Final = "action-protocol/v1"
_ENDINGS: Final[dict[End, Ending]] = {
    "whole": "done",
    "cut": "interrupted",
    "empty": "empty",
    "announced": "error",
}
_AGAIN: Final = PlannedCall("note", {"again": True})


class GeneratedScenario(msgspec.Struct, frozen=True):
    """A generated conversation: the cassette with its responses, and the scenario.

    Fields:
        conversation: the value of the key `conversation` of a scenario file.
        policies: the agent's policies on which the expected result depends.
    """

    cassette: Cassette
    conversation: dict[str, Any]
    policies: dict[str, str]

    def loaded(self, name: str = "talk") -> LoadedSubject:
        """Return the subject that a run would load from files, with `name` as its id."""
        file = msgspec.convert(self.conversation, ConversationFile)
        scenario = Scenario(
            name, name, name, conversation=script_from_file(file, name), policies=self.policies
        )
        return LoadedSubject(msgspec.structs.replace(self.cassette, id=name), scenario)


def build_scenario(plan: ConversationPlan, agent: Agent) -> GeneratedScenario:
    """Return the cassette and the scenario for a plan, by which `agent` is judged."""
    replies = tuple(_replies(plan, agent))
    cassette = Cassette("talk", replies, Origin("emulated", by="harness fuzz"))
    undeclared = plan.probed or not plan.takes_tools
    policies = {"probe": "undeclared"} if undeclared else {}
    return GeneratedScenario(cassette, _conversation(plan, agent), policies)


# The responses


def _replies(plan: ConversationPlan, agent: Agent) -> Iterator[Interaction]:
    if plan.probed and agent.policies.get("probe") == "undeclared":
        yield _probe_response(plan)
    number = 0
    for index, turns in enumerate(plan.questions):
        for turn in turns:
            yield _reply(plan, _turn_deltas(plan, turn, number))
            number += len(turn.calls)
        last = index == len(plan.questions) - 1
        if last and (plan.again or plan.stopped):
            for more in range(_IDENTICAL + 1 if plan.again else 1):
                yield _reply(plan, _turn_deltas(plan, PlannedTurn((_AGAIN,)), number + more))
        elif not last or plan.end == "whole":
            answer = TextDelta(_in_prompt_format(plan, _answer(plan, index)))
            yield _reply(plan, [answer, Finish(FinishReason.STOP)])
        elif plan.end == "announced":
            # An agent that asks again gets the same.
            for _ in range(1 + _retries_at_end(plan, agent)):
                yield _reply(plan, [TextDelta("Let me see."), Finish(FinishReason.TOOL_CALLS)])
        elif plan.end == "cut":
            yield _truncated(_reply(plan, _truncated_turn(plan, number)))
        else:
            yield _reply(plan, [Finish(FinishReason.STOP)])


def _retries_at_end(plan: ConversationPlan, agent: Agent) -> int:
    return int(plan.end == "announced" and agent.policies.get("retry") == _RETRIED)


def _truncated_turn(plan: ConversationPlan, number: int) -> list[Delta]:
    if plan.has_text_calls:
        texts = (TextDelta(_in_prompt_format(plan, "So far so")[:-2]), TextDelta(" good"))
        return [*texts, Finish(FinishReason.STOP)]
    called = _turn_deltas(plan, PlannedTurn((PlannedCall(),)), number)
    return [TextDelta("So far "), *called[:-1], Finish(FinishReason.TOOL_CALLS)]


def _in_prompt_format(plan: ConversationPlan, answer: str) -> str:
    """Return `answer` in the format that the prompt requires."""
    action = {"reasoning": "", "action": "finish", "content": answer}
    return _json_text(action) if plan.prompt == _ACTION else answer


def _answer(plan: ConversationPlan, index: int) -> str:
    return f"{plan.answer} ({index + 1})"


def _turn_deltas(plan: ConversationPlan, turn: PlannedTurn, number: int) -> list[Delta]:
    deltas: list[Delta] = [ReasoningDelta(plan.reasoning)] if plan.reasoning else []
    if plan.sealed:
        deltas.append(SealedDelta(DIALECTS[plan.dialect].sealed_kind, plan.sealed))
    text = _text_with_calls(plan, turn) if plan.has_text_calls else turn.text
    deltas += [TextDelta(text)] if text else []
    if plan.has_text_calls:
        return [*deltas, Finish(FinishReason.STOP)]
    first = 0 if plan.same_ids else number
    for index, call in enumerate(turn.calls):
        arguments = call.broken or _json_text(call.arguments)
        name = call.tool.replace(".", "_")
        deltas += call_deltas(index, f"call_{first + index}", name, arguments)
    return [*deltas, Finish(FinishReason.TOOL_CALLS)]


def _json_text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _text_with_calls(plan: ConversationPlan, turn: PlannedTurn) -> str:
    """Return the text of a turn, with its calls in the format that the prompt requires."""
    calls = [{"name": call.tool, "arguments": call.arguments} for call in turn.calls]
    if plan.prompt == _ACTION:
        return _json_text({"reasoning": turn.text, "action": "tool_call", "tool_calls": calls})
    return turn.text + "".join(f"<tool_call>\n{_json_text(call)}\n</tool_call>\n" for call in calls)


def _reply(plan: ConversationPlan, deltas: list[Delta]) -> Interaction:
    request, tools = _request(plan)
    return DIALECTS[plan.dialect].interaction(deltas, request=request, tools=tools)


def _server_error(plan: ConversationPlan) -> Interaction:
    request, tools = _request(plan)
    headers = (("content-type", "application/json"),)
    body = b'{"error": {"message": "down"}}'
    return synthetic_interaction(
        body, request, status=500, headers=headers, dialect=plan.dialect, tools=tools
    )


def _request(plan: ConversationPlan) -> tuple[Request, tuple[dict[str, Any], ...]]:
    """Return a request, and tools (as in OpenAI's API) that the request does not declare itself."""
    tools = [*map(_tool_declaration, _TOOLS), _NEVER_CALLED]
    request: dict[str, Any] = {"model": "any", "stream": True, "messages": []}
    apart = plan.has_text_calls or DIALECTS[plan.dialect].messages.has_blocks
    if not apart:
        request["tools"] = tools
    described = tuple(tool["function"] for tool in tools) if apart else ()
    return Request(body=json.dumps(request).encode()), described


def _tool_declaration(name: str) -> dict[str, Any]:
    properties = {each: {"type": kind} for each, kind in PARAMETERS.items()}
    parameters = {"type": "object", "properties": properties}
    function = {"name": name, "description": f"Runs {name}.", "parameters": parameters}
    return {"type": "function", "function": function}


# A tool with a required parameter, so that the drawn arguments fit those of the others.
_NEVER_CALLED: Final = {
    "type": "function",
    "function": {
        "name": "remind",
        "description": "Reminds the user.",
        "parameters": {
            "type": "object",
            "properties": {"text": {"type": "string"}},
            "required": ["text"],
        },
    },
}


def _probe_response(plan: ConversationPlan) -> Interaction:
    match plan.probed:
        case "ok":
            call = call_deltas(0, "call_p", "harness_probe", "{}")
            return _reply(plan, [*call, Finish(FinishReason.TOOL_CALLS)])
        case "no":
            return _reply(plan, [TextDelta("I cannot."), Finish(FinishReason.STOP)])
        case _:
            return _server_error(plan)


def _truncated(reply: Interaction) -> Interaction:
    """Return `reply` without its last frames, so that the turn is truncated."""
    ends = [0, *accumulate(read.size for read in reply.reads)]
    cut = (with_body(reply, reply.body[:end]) for end in reversed(ends[:-1]))
    return next((each for each in cut if not oracle_reading(each).ended), reply)


# The expected result


def _conversation(plan: ConversationPlan, agent: Agent) -> dict[str, Any]:
    count = len(plan.questions)
    conversation: dict[str, Any] = {
        "questions": [f"Question {number + 1}?" for number in range(count)],
        "tools": {name: {"result": value} for name, value in RESULTS.items()}
        | {FAILING: {"error": _FAILED}},
        "prompt": plan.prompt,
        "system": plan.system,
        "capabilities": plan.capabilities
        | {"supports_tool_use": None if plan.probed else plan.takes_tools},
        "expect": _expect(plan, agent),
    }
    if plan.stopped:
        conversation["limits"] = {"rounds": len(plan.questions[0]) + 1}
    return conversation


def _expect(plan: ConversationPlan, agent: Agent) -> dict[str, Any]:
    turns = [turn for question in plan.questions for turn in question]
    calls = [call for turn in turns for call in turn.calls]
    calls += [_AGAIN] * _IDENTICAL if plan.again else []
    broken = sum(bool(call.broken) for call in calls)
    alone = sum(all(call.broken for call in turn.calls) for turn in turns)
    expect: dict[str, Any] = {
        "ending": _ending(plan),
        "executed": [
            {"tool": call.tool, "arguments": call.arguments} for call in calls if call.is_executed
        ],
        "parse_errors": "any" if plan.end == "cut" else broken,
        "retries": (alone if agent.policies.get("retry") == _RETRIED else 0)
        + _retries_at_end(plan, agent),
    }
    if _ending(plan) == "done":
        expect["answer"] = _answer(plan, len(plan.questions) - 1)
    probes = plan.probed if agent.policies.get("probe") == "undeclared" else ""
    if probes:
        expect["probe"] = probes
    if not plan.has_text_calls:
        expect["strategy"] = "tool_use" if plan.takes_tools else "json_fallback"
    if plan.capabilities.get("supports_parallel_tools") is False and not probes:
        expect["requests"] = [
            {"fields": {"parallel_tool_calls": False}} for _ in _replies(plan, agent)
        ]
    stability = plan.capabilities.get("json_stability")
    if stability and agent.policies.get("retry") == _RETRIED:
        example = "contains" if stability == "low" else "lacks"
        expect["requests"] = [{}, {"says": {example: _FENCE}}]
    return expect


def _ending(plan: ConversationPlan) -> Ending:
    if plan.again or plan.stopped:
        return "limit"
    return _ENDINGS[plan.end]
