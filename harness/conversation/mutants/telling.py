"""Miniatures whose records, or requests, say something else than what they do."""

from msgspec.structs import replace

from harness.conversation.calling import CallResults
from harness.conversation.conversation import Ending, Probe
from harness.conversation.gateway import choose_config, tool_use_config
from harness.conversation.mutants.edit import gateway_mutant, mutant
from harness.conversation.task import Task
from harness.conversation.tool_loop import AgentConfig, ToolLoop
from harness.turns.turn import Turn


class _Unreported(ToolLoop):
    """Reports no call that could not be used."""

    def request(self) -> Turn:
        turn = super().request()
        meta = replace(self.turns[-1].meta, parse_errors=())
        self.turns[-1] = replace(self.turns[-1], meta=meta)
        return turn


class _Unexecuted(ToolLoop):
    """Runs calls, and tells of none."""

    def keep(self, turn: Turn, ran: CallResults) -> None:
        super().keep(turn, replace(ran, executed=()))


class _Uncounted(ToolLoop):
    """Asks again, and counts it nowhere."""

    def mend(self, turn: Turn, fault: str, left: int) -> Ending | None:
        ending = super().mend(turn, fault, left)
        record = self.turns[-1]
        self.turns[-1] = replace(record, meta=replace(record.meta, retries=0))
        return ending


def _tools_always(task: Task) -> tuple[AgentConfig, Probe | None]:
    way, probe = choose_config(task)
    return (tool_use_config(task), probe) if probe is None else (way, probe)


def _failure_is_no(task: Task) -> tuple[AgentConfig, Probe | None]:
    way, probe = choose_config(task)
    return way, probe and replace(probe, error="")


def _nothing_said(way: AgentConfig) -> AgentConfig:
    return replace(way, options={})


MINIATURES = (
    mutant(
        "broken-calls-unreported",
        "CONV-PARSE-ERRORS",
        "reports no call that could not be used",
        _Unreported,
    ),
    mutant("executions-not-told", "CONV-META-HONEST", "tells of no call that it ran", _Unexecuted),
    mutant(
        "parallel-false-dropped",
        "CONV-REQUEST",
        "does not send that calls come one at a time",
        way=_nothing_said,
    ),
    gateway_mutant(
        "retries-not-told", "CONV-RETRIES", "asks again and counts it nowhere", _Uncounted
    ),
    gateway_mutant(
        "tools-always",
        "CONV-STRATEGY",
        "sends tools to a provider that is known to take none",
        wrong_plan=_tools_always,
    ),
    gateway_mutant(
        "probe-failure-is-no",
        "CONV-PROBE",
        "takes a probe that failed for an answer",
        wrong_plan=_failure_is_no,
    ),
)
