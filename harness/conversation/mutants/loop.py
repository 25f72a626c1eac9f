"""Mutants that execute the wrong calls, or that end too early or never."""

import json
from typing import Any, Final

from msgspec.structs import replace

from harness.conversation.calling import CallBudget, CallResults, refuse, run_calls
from harness.conversation.channel import assistant_text
from harness.conversation.feedback import parse_error_reports, retry_text
from harness.conversation.gateway import gateway
from harness.conversation.history.storing import incomplete_reason
from harness.conversation.mutants.edit import loop_mutant
from harness.conversation.replies import turn_ending
from harness.conversation.task import Task
from harness.conversation.tool_loop import AgentConfig, ToolLoop
from harness.normalizers.mutants.arguments import coerced_arguments
from harness.results.conversation import Conversation, Ending, Probe
from harness.turns.arguments import parse
from harness.turns.deltas import ToolCall
from harness.turns.turn import Tool, Turn
from harness.wording import nearest_name

_SEVERAL: Final = 2


@loop_mutant("broken-arguments-raised", "CONV-NO-CRASH")
class _Raising(ToolLoop):
    """Raises if arguments cannot be parsed."""

    def handle_turn(self, turn: Turn, left: int) -> Ending | None:
        for error in turn.parse_errors:
            raise ValueError(error.error)
        return super().handle_turn(turn, left)


@loop_mutant("limit-unanswered", "CONV-ANSWER")
class _Unanswered(ToolLoop):
    """Returns no text if a limit ends the conversation."""

    def run_conversation(self) -> Conversation:
        conversation = super().run_conversation()
        return replace(conversation, answer="") if conversation.ending == "limit" else conversation


@loop_mutant("first-text-answered", "CONV-ANSWER-CHANGED")
class _FirstKept(ToolLoop):
    """Answers with the model's text before the calls instead of its last text."""

    def run_conversation(self) -> Conversation:
        conversation = super().run_conversation()
        texts = (record.turn.text for record in self.turns)
        return replace(conversation, answer=next(filter(str.strip, texts), ""))


@loop_mutant("markup-answered", "CONV-ANSWER-CHANGED")
class _MarkupAnswered(ToolLoop):
    """Answers with a call as the model wrote it if the limit of rounds ends the conversation."""

    def handle_turn(self, turn: Turn, left: int) -> Ending | None:
        ending = super().handle_turn(turn, left)
        if ending == "limit" and turn.tool_calls and self.config.prompt.describes_tools:
            self.answer = assistant_text(self.config.prompt, turn)
        return ending


@loop_mutant("asks-once-more", "CONV-SURPLUS-REQUEST")
class _RequestAfterAnswer(ToolLoop):
    """Sends another request after the answer, and ignores the reply."""

    def handle_turn(self, turn: Turn, left: int) -> Ending | None:
        ending = super().handle_turn(turn, left)
        last = self.task.questions[-1]
        if ending == "done" and any(last in str(it.get("content")) for it in self.history):
            self.request_turn()
        return ending


@loop_mutant("narration-answered", "CONV-UNPLAYED")
class _Narrated(ToolLoop):
    """Takes the text next to calls for the answer, after it executed the calls."""

    def handle_turn(self, turn: Turn, left: int) -> Ending | None:
        ending = super().handle_turn(turn, left)
        return "done" if ending is None and turn.text.strip() else ending


@loop_mutant("one-round-too-many", "CONV-LIMITS")
class _RoundTooMany(ToolLoop):
    """Sends another request after the last allowed round, and ignores the reply."""

    def handle_turn(self, turn: Turn, left: int) -> Ending | None:
        ending = super().handle_turn(turn, left)
        if ending == "limit" and not left:
            self.request_turn()
        return ending


@loop_mutant("messages-unlimited", "CONV-LIMITS")
class _Unlimited(ToolLoop):
    """Sends the complete history although the task limits the messages of a request."""

    def __init__(self, task: Task, config: AgentConfig, probe: Probe | None = None) -> None:
        limits = replace(task.limits, messages=None)
        super().__init__(replace(task, limits=limits), config, probe)


@loop_mutant("retries-uncounted", "CONV-LIMITS", of=gateway)
class _Uncounted(ToolLoop):
    """Asks again as often as rounds are left, and counts no retry."""

    def retry_or_stop(self, turn: Turn, reason: str, left: int) -> Ending | None:
        self._retries = 0
        return super().retry_or_stop(turn, reason, left)


@loop_mutant("one-call-too-many", "CONV-LIMITS CONV-CALL-UNWANTED")
class _OneTooMany(ToolLoop):
    """Executes a repeated call one more time than allowed."""

    def run_calls(self, turn: Turn) -> CallResults:
        found = super().run_calls(turn)
        if not self.budget.exhausted:
            return found
        return run_calls(self.task, turn.tool_calls, CallBudget(1), self.config.prompt.language)


@loop_mutant("parse-error-fatal", "CONV-ENDING", role="known-bad")
class _Fatal(ToolLoop):
    """Ends the conversation if arguments cannot be parsed."""

    def handle_turn(self, turn: Turn, left: int) -> Ending | None:
        if turn.parse_errors:
            self.store_turn(turn, CallResults())
            return "error"
        return super().handle_turn(turn, left)


@loop_mutant("retry-without-end", "CONV-NO-HANG", role="known-bad")
class _Endless(ToolLoop):
    """Asks again without limit for a reply that it cannot use."""

    def answer_question(self) -> Ending:
        self.budget = CallBudget(self.task.limits.identical_calls)
        while True:
            turn = self.request_turn()
            unusable = incomplete_reason(turn) or (turn.parse_errors and not turn.tool_calls)
            if unusable:
                self.store_turn(turn, CallResults())
                if self.history[-1]["role"] != "tool":  # results state what is wrong
                    reports = parse_error_reports(turn.parse_errors)
                    self.add_user_text(retry_text(self.config.prompt, reports, 0))
                continue
            ending = self.handle_turn(turn, 1)
            if ending is not None:
                return ending


@loop_mutant("one-bad-call-kills-all", "CONV-CALL-LOST", role="known-bad")
class _AllOrNothing(ToolLoop):
    """Executes no call of a turn in which the arguments of one cannot be parsed."""

    def run_calls(self, turn: Turn) -> CallResults:
        if not turn.parse_errors:
            return super().run_calls(turn)
        found = super().run_calls(replace(turn, tool_calls=()))
        refused = refuse(turn.tool_calls, "another call of the turn could not be read")
        return replace(found, results=(*refused, *found.results))


@loop_mutant("truncated-run", "CONV-CALL-FROM-BROKEN-TURN")
class _Hasty(ToolLoop):
    """Executes the calls of an interrupted stream with the arguments received so far."""

    def handle_turn(self, turn: Turn, left: int) -> Ending | None:
        if incomplete_reason(turn):
            begun = (ToolCall(it.id, it.name, it.snippet) for it in turn.parse_errors)
            calls = (*turn.tool_calls, *begun)
            found = run_calls(self.task, calls, self.budget, self.config.prompt.language)
            self.store_turn(turn, CallResults((), found.executed))
            return turn_ending(turn)
        return super().handle_turn(turn, left)


@loop_mutant("first-call-run-twice", "CONV-CALL-UNWANTED")
class _Twice(ToolLoop):
    """Executes the first of several calls twice."""

    def run_calls(self, turn: Turn) -> CallResults:
        found = super().run_calls(turn)
        if turn.parse_errors or len(turn.tool_calls) < _SEVERAL:
            return found
        language = self.config.prompt.language
        again = run_calls(self.task, turn.tool_calls[:1], CallBudget(1), language)
        return replace(found, executed=(*found.executed, *again.executed))


@loop_mutant("announcement-answered", "CONV-CALLS-MISSING")
class _Announced(ToolLoop):
    """Ends with `done` after a reply whose finish reason promises calls, although it has none."""

    def handle_turn(self, turn: Turn, left: int) -> Ending | None:
        if turn.failure is not None and turn.failure.code == "calls_missing":
            return "done"
        return super().handle_turn(turn, left)


@loop_mutant("unusable-answered", "CONV-UNUSABLE-DONE")
class _UnusableAnswered(ToolLoop):
    """Takes a reply whose calls are all unusable for the answer."""

    def handle_turn(self, turn: Turn, left: int) -> Ending | None:
        ending = super().handle_turn(turn, left)
        unusable = turn.parse_errors and not turn.tool_calls and not incomplete_reason(turn)
        return "done" if unusable else ending


@loop_mutant("nearest-tool-run", "CONV-CALL-UNWANTED")
class _Nearest(ToolLoop):
    """Executes the tool with the most similar name if a call names none."""

    def run_calls(self, turn: Turn) -> CallResults:
        names = [tool.name for tool in self.task.tools]
        calls = (
            replace(call, name=nearest_name(call.name, names) or call.name)
            for call in turn.tool_calls
        )
        return super().run_calls(replace(turn, tool_calls=tuple(calls)))


@loop_mutant("arguments-as-text", "CONV-CALL-ARGUMENTS")
class _Flattened(ToolLoop):
    """Passes numbers and objects to tools as text."""

    def __init__(self, task: Task, config: AgentConfig, probe: Probe | None = None) -> None:
        def call_tool(name: str, arguments: dict[str, Any]) -> object:
            texts = {
                key: value if isinstance(value, str) else json.dumps(value)
                for key, value in arguments.items()
            }
            return task.call_tool(name, texts)

        super().__init__(replace(task, call_tool=call_tool), config, probe)


@loop_mutant("schema-unchecked", "CONV-CALL-UNWANTED")
class _Unchecked(ToolLoop):
    """Executes calls whose arguments do not fit the tool."""

    def __init__(self, task: Task, config: AgentConfig, probe: Probe | None = None) -> None:
        super().__init__(task, config, probe)
        tools = tuple(replace(tool, parameters={}) for tool in task.tools)
        self.unchecked = replace(task, tools=tools)

    def run_calls(self, turn: Turn) -> CallResults:
        return run_calls(self.unchecked, turn.tool_calls, self.budget, self.config.prompt.language)


@loop_mutant("arguments-coerced", "CONV-CALL-UNWANTED")
class _Coercing(ToolLoop):
    """Converts arguments silently to the types of the tool's schema, as far as Python can."""

    def run_calls(self, turn: Turn) -> CallResults:
        tools = {tool.name: tool for tool in self.task.tools}
        calls = tuple(_coerced(call, tools.get(call.name)) for call in turn.tool_calls)
        return super().run_calls(replace(turn, tool_calls=calls))


def _coerced(call: ToolCall, tool: Tool | None) -> ToolCall:
    value = parse(call.arguments).value
    if tool is None or not value:
        return call
    return replace(call, arguments=json.dumps(coerced_arguments(value, tool)))


@loop_mutant("calls-reversed", "CONV-CALL-ORDER")
class _Reversed(ToolLoop):
    """Executes the calls of a turn from last to first."""

    def run_calls(self, turn: Turn) -> CallResults:
        return super().run_calls(replace(turn, tool_calls=turn.tool_calls[::-1]))
