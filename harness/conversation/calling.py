"""Execute the calls of one turn, in order, and return the result of each.

A call of an unknown tool, a call whose arguments do not fit, and a call that fails each get an
error as their result, and the other calls are still executed. No request of a model makes these
functions raise. `storing.incomplete_reason` decides before whether the calls of a turn may be
executed at all.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any, Final

import msgspec

from harness.conversation.feedback import ToolResult, unknown_tool_text
from harness.conversation.task import Task, ToolFailed
from harness.conversation.wording import TEXTS, Language, RefusalTexts
from harness.turns.arguments import meaning, parse
from harness.turns.deltas import ParseError, ToolCall
from harness.turns.schema_check import Checker
from harness.turns.turn import Tool

# Compiled schemas are kept, because the same tools are called again and again.
_CHECKER: Final = Checker()


class CallBudget:
    """Counts how often the model makes each call for one question (quirk LOOP-IDENTICAL).

    Two calls are the same if their tool and the values of their arguments are equal, however the
    arguments are written.

    Args:
        most: how often each call may be executed.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.exhausted = False
        self._made: Counter[tuple[str, Hashable]] = Counter()

    def spend(self, name: str, arguments: str) -> bool:
        """Count the call, and return whether it may still be executed."""
        key = (name, meaning(arguments))
        self._made[key] += 1
        allowed = self._made[key] <= self.most
        self.exhausted = self.exhausted or not allowed
        return allowed


class CallResults(msgspec.Struct, frozen=True):
    """The results of the calls of one turn.

    Fields:
        results: one result for each call within the budget, in order.
        executed: ids of the executed calls, including those that failed.
    """

    results: tuple[ToolResult, ...] = ()
    executed: tuple[str, ...] = ()


def run_calls(
    task: Task,
    calls: Sequence[ToolCall],
    budget: CallBudget,
    language: Language = "en",
    shown_names: Sequence[str] = (),
) -> CallResults:
    """Execute the calls of one turn.

    Args:
        task: provides the tools.
        calls: the calls, with distinct ids and the tool names that the application declared.
        budget: counts the calls of the question; a call beyond the budget is not executed and has
            no result.
        language: the language of the texts for the model.
        shown_names: the names of the tools in the request, which may differ from the application's
            names.
    """
    tools = {tool.name: tool for tool in task.tools}
    texts = TEXTS[language].refusal
    results: list[ToolResult] = []
    executed: list[str] = []
    for call in calls:
        if not budget.spend(call.name, call.arguments):
            continue
        arguments, error = _checked_arguments(call, tools.get(call.name), texts)
        value = None
        if arguments is not None:
            try:
                value = task.call_tool(call.name, arguments)
                executed.append(call.id)
            except ToolFailed as failure:
                error = str(failure) or type(failure).__name__
                executed.append(call.id)
            except KeyError:  # the tool is declared, but the application cannot run it
                arguments = None
        if arguments is None and not error:
            error = unknown_tool_text(call.name, shown_names, language)
        results.append(ToolResult(call.id, call.name, value, error))
    return CallResults(tuple(results), tuple(executed))


def _checked_arguments(
    call: ToolCall, tool: Tool | None, texts: RefusalTexts
) -> tuple[dict[str, Any] | None, str]:
    """Return the arguments of a call and ""; or None and the reason why it must not be executed.

    The reason is "" if there is no such tool.
    """
    if tool is None or call.kind == "action":  # of the client itself, whatever the tool's name is
        return None, ""
    if call.kind == "custom":
        return {"input": call.arguments}, ""
    parsed = parse(call.arguments)
    if parsed.value is None:
        return None, texts.unusable.format(problem=parsed.error)
    problem = _CHECKER.problem(tool, parsed.value)
    return (None, texts.invalid.format(problem=problem)) if problem else (parsed.value, "")


def refuse(calls: Iterable[ToolCall | ParseError], reason: str) -> tuple[ToolResult, ...]:
    """Return a result for each call that tells the model why the call was not executed."""
    return tuple(ToolResult(call.id, call.name, error=reason) for call in calls)
