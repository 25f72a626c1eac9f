"""Miniatures that run what must not be run, or do not run what must."""

import json
from typing import Any, Final

from msgspec.structs import replace

from harness.conversation.calling import CallBudget, CallResults, refuse, run_calls
from harness.conversation.conversation import Ending, Probe
from harness.conversation.history.storing import incomplete_reason
from harness.conversation.mutants.edit import known_bad, mutant
from harness.conversation.replies import turn_ending
from harness.conversation.task import Task
from harness.conversation.tool_loop import AgentConfig, ToolLoop
from harness.files.names import nearest_name
from harness.turns.deltas import ToolCall
from harness.turns.turn import Turn


class _AllOrNothing(ToolLoop):
    """Runs no call of a turn in which one cannot be used."""

    def run(self, turn: Turn) -> CallResults:
        ran = super().run(turn if not turn.parse_errors else replace(turn, tool_calls=()))
        if not turn.parse_errors:
            return ran
        refused = refuse(turn.tool_calls, "another call of the turn could not be read")
        return replace(ran, results=(*refused, *ran.results))


class _Twice(ToolLoop):
    """Runs the first of several calls once more when the last one is there."""

    def run(self, turn: Turn) -> CallResults:
        ran = super().run(turn)
        if turn.parse_errors or len(turn.tool_calls) < _SEVERAL:
            return ran
        language = self.way.prompt.language
        again = run_calls(self.task, turn.tool_calls[:1], CallBudget(1), language)
        return replace(ran, executed=(*ran.executed, *again.executed))


class _Nearest(ToolLoop):
    """Runs the tool whose name is most like that of a call that names none."""

    def run(self, turn: Turn) -> CallResults:
        names = [tool.name for tool in self.task.tools]
        calls = tuple(
            replace(call, name=nearest_name(call.name, names) or call.name)
            for call in turn.tool_calls
        )
        return super().run(replace(turn, tool_calls=calls))


class _Flattened(ToolLoop):
    """Gives tools every value of their arguments as text."""

    def __init__(self, task: Task, way: AgentConfig, probe: Probe | None = None) -> None:
        def call_tool(name: str, arguments: dict[str, Any]) -> object:
            texts = {
                key: value if isinstance(value, str) else json.dumps(value)
                for key, value in arguments.items()
            }
            return task.call_tool(name, texts)

        super().__init__(replace(task, call_tool=call_tool), way, probe)


class _Reversed(ToolLoop):
    """Runs the calls of a turn from the last to the first."""

    def run(self, turn: Turn) -> CallResults:
        return super().run(replace(turn, tool_calls=turn.tool_calls[::-1]))


class _Hasty(ToolLoop):
    """Runs the calls of a turn that broke off, as far as their arguments have come."""

    def take(self, turn: Turn, left: int) -> Ending | None:
        if incomplete_reason(turn):
            begun = (ToolCall(it.id, it.name, it.snippet) for it in turn.parse_errors)
            calls = (*turn.tool_calls, *begun)
            ran = run_calls(self.task, calls, self.budget, self.way.prompt.language)
            self.keep(turn, CallResults((), ran.executed))
            return turn_ending(turn)
        return super().take(turn, left)


_SEVERAL: Final = 2
MINIATURES = (
    known_bad(
        mutant(
            "one-bad-call-kills-all",
            "CONV-CALL-LOST",
            "runs no call of a turn in which one has arguments that cannot be parsed",
            _AllOrNothing,
        )
    ),
    mutant(
        "truncated-run",
        "CONV-CALL-FROM-BROKEN-TURN",
        "runs the calls of a stream that broke off, as far as they came",
        _Hasty,
    ),
    mutant(
        "first-call-run-twice",
        "CONV-CALL-UNWANTED",
        "runs the first of several calls once more",
        _Twice,
    ),
    mutant(
        "nearest-tool-run",
        "CONV-CALL-UNWANTED",
        "runs the tool whose name is most like the one that was called",
        _Nearest,
    ),
    mutant(
        "arguments-as-text",
        "CONV-CALL-ARGUMENTS",
        "gives tools numbers and objects as text",
        _Flattened,
    ),
    mutant("calls-reversed", "CONV-CALL-ORDER", "runs the last call of a turn first", _Reversed),
)
