"""Run the calls of one turn, in order, and return the result of each.

A call of an unknown tool, a call whose arguments do not fit, and a call that fails each get an
error as their result, and the other calls still run. Nothing here raises because of what a model
requested. Whether the calls of a turn may run at all is decided before
(`storing.incomplete_reason`).
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Final

import msgspec

from harness.conversation.feedback import REFUSAL_TEXTS, ToolResult, unknown_tool_text
from harness.conversation.task import Task, ToolFailed
from harness.conversation.wording import Language
from harness.turns.arguments import meaning, parse
from harness.turns.deltas import ParseError, ToolCall
from harness.turns.schema_check import Checker


class CallBudget:
    """Counts the calls of one question.

    Args:
        most: how often each may run.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.exhausted = False
        self._made: Counter[tuple[str, Hashable]] = Counter()

    def spend(self, name: str, arguments: str) -> bool:
        """Return whether the call may still run, and count it."""
        key = (name, meaning(arguments))
        self._made[key] += 1
        allowed = self._made[key] <= self.most
        self.exhausted = self.exhausted or not allowed
        return allowed


# Compiled schemas are kept, since the same tools are called again and again.
_CHECKER: Final = Checker()


class CallResults(msgspec.Struct, frozen=True):
    """What became of the calls of one turn.

    Fields:
        results: one for each call, in order.
        executed: ids of those that were run, failed ones included.
    """

    results: tuple[ToolResult, ...] = ()
    executed: tuple[str, ...] = ()


def run_calls(
    task: Task,
    calls: Sequence[ToolCall],
    budget: CallBudget,
    language: Language = "en",
    shown: Sequence[str] = (),
) -> CallResults:
    """Run the calls of one turn.

    Args:
        task: whose tools they are.
        calls: with ids that differ, under the names that the application declared.
        budget: of the question; a call beyond it is answered and not run.
        language: of what is said to the model.
        shown: the names under which the model knows the tools.
    """
    runner = _Runner(task, budget, language, shown)
    runner.run(calls)
    return CallResults(tuple(runner.results), tuple(runner.executed))


def refuse(calls: Iterable[ToolCall | ParseError], why: str) -> tuple[ToolResult, ...]:
    """Return a result for each call that says why it did not run."""
    return tuple(ToolResult(call.id, call.name, error=why) for call in calls)


class _Runner:
    """Runs calls and keeps what they gave."""

    def __init__(
        self, task: Task, budget: CallBudget, language: Language, shown: Sequence[str]
    ) -> None:
        self.results: list[ToolResult] = []
        self.executed: list[str] = []
        self._task = task
        self._budget = budget
        self._tools = {tool.name: tool for tool in task.tools}
        self._language = language
        self._shown = shown

    def run(self, calls: Sequence[ToolCall]) -> None:
        for call in calls:
            arguments, problem = self._checked(call)
            if problem:
                self.results.append(ToolResult(call.id, call.name, error=problem))
            else:
                self.results.append(self._result(call, arguments))

    def _checked(self, call: ToolCall) -> tuple[dict[str, Any], str]:
        """Return the arguments, and why the call must not run; "" where it may."""
        words = REFUSAL_TEXTS[self._language]
        if not self._budget.spend(call.name, call.arguments):
            return {}, words.identical.format(times=self._budget.most)
        tool = self._tools.get(call.name)
        if tool is None:
            return {}, unknown_tool_text(call.name, self._shown, self._language)
        if call.kind == "custom":
            return {"input": call.arguments}, ""
        parsed = parse(call.arguments)
        if parsed.value is None:
            return {}, words.unusable.format(problem=parsed.error)
        problem = _CHECKER.problem(tool, parsed.value)
        return parsed.value, words.invalid.format(problem=problem) if problem else ""

    def _result(self, call: ToolCall, arguments: dict[str, Any]) -> ToolResult:
        value, error = None, ""
        try:
            value = self._task.call_tool(call.name, arguments)
        except ToolFailed as failure:
            error = str(failure) or type(failure).__name__
        except KeyError:  # declared, and yet nobody runs it
            problem = unknown_tool_text(call.name, self._shown, self._language)
            return ToolResult(call.id, call.name, error=problem)
        self.executed.append(call.id)
        return ToolResult(call.id, call.name, value, error)
