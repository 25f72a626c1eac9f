"""Mutants whose records or requests are wrong, or differ between equal runs."""

import itertools

from msgspec.structs import replace

from harness.conversation.calling import CallResults
from harness.conversation.gateway import choose_config, gateway, tool_use_config
from harness.conversation.mutants.edit import config_mutant, loop_mutant, plain_config
from harness.conversation.prompts import PROMPTS
from harness.conversation.task import Task
from harness.conversation.tool_loop import AgentConfig, ToolLoop
from harness.normalizers.mutants import MUTANTS as NORMALIZERS
from harness.results.conversation import Ending, Probe, TurnRecord
from harness.turns.deltas import FinishReason
from harness.turns.turn import Turn

_COUNTER = itertools.count()
# Two of these normalizers parse no text calls, and with other prompts they would violate more.
_NATIVE = frozenset(prompt.id for prompt in PROMPTS.values() if not prompt.describes_tools)


@loop_mutant("broken-calls-unreported", "CONV-PARSE-ERRORS")
class _Unreported(ToolLoop):
    """Reports no call that could not be used."""

    def request_turn(self) -> Turn:
        turn = super().request_turn()
        meta = replace(self.turns[-1].meta, parse_errors=())
        self.turns[-1] = replace(self.turns[-1], meta=meta)
        return turn


@loop_mutant("reports-without-error", "CONV-REPORT-ERROR")
class _Unexplained(ToolLoop):
    """Reports calls that could not be used without the reason."""

    def request_turn(self) -> Turn:
        turn = super().request_turn()
        self.turns[-1] = _with_reports(self.turns[-1], error="")
        return turn


@loop_mutant("reports-without-snippet", "CONV-REPORT-SNIPPET")
class _Unquoted(ToolLoop):
    """Reports calls that could not be used without what the model wrote."""

    def request_turn(self) -> Turn:
        turn = super().request_turn()
        self.turns[-1] = _with_reports(self.turns[-1], snippet="")
        return turn


def _with_reports(record: TurnRecord, **fields: str) -> TurnRecord:
    """Return `record` with other values for these fields of its parse errors."""
    errors = tuple(replace(error, **fields) for error in record.meta.parse_errors)
    return replace(record, meta=replace(record.meta, parse_errors=errors))


@loop_mutant("strategy-unreported", "CONV-STRATEGY-MISSING", of=gateway)
class _WithoutStrategy(ToolLoop):
    """Records only of the first turn how tools were offered."""

    def request_turn(self) -> Turn:
        turn = super().request_turn()
        if len(self.turns) > 1:
            record = self.turns[-1]
            self.turns[-1] = replace(record, meta=replace(record.meta, strategy=""))
        return turn


@loop_mutant("executions-not-told", "CONV-META-HONEST")
class _Unexecuted(ToolLoop):
    """Reports no call that it executed."""

    def store_turn(self, turn: Turn, found: CallResults) -> None:
        super().store_turn(turn, replace(found, executed=()))


@loop_mutant("calls-recorded-as-stop", "CONV-META-HONEST")
class _Stopped(ToolLoop):
    """Records a turn with calls as one that the model ended without any."""

    def request_turn(self) -> Turn:
        turn = super().request_turn()
        if turn.finish is not None and turn.finish.reason is FinishReason.TOOL_CALLS:
            ended = replace(turn, finish=replace(turn.finish, reason=FinishReason.STOP))
            self.turns[-1] = replace(self.turns[-1], turn=ended)
        return turn


@config_mutant("parallel-false-dropped", "CONV-REQUEST")
def _without_options(task: Task) -> tuple[AgentConfig, Probe | None]:
    """Does not tell the provider that calls must come one at a time."""
    config, probe = plain_config(task)
    return replace(config, options={}), probe


@loop_mutant("retries-not-told", "CONV-RETRIES", of=gateway)
class _Uncounted(ToolLoop):
    """Asks again, and does not record the retry."""

    def retry_or_stop(self, turn: Turn, reason: str, left: int) -> Ending | None:
        ending = super().retry_or_stop(turn, reason, left)
        record = self.turns[-1]
        self.turns[-1] = replace(record, meta=replace(record.meta, retries=0))
        return ending


@config_mutant("tools-always", "CONV-STRATEGY", of=gateway)
def _tools_always(task: Task) -> tuple[AgentConfig, Probe | None]:
    """Sends tools to a provider that is known not to support them."""
    config, probe = choose_config(task)
    return (tool_use_config(task), probe) if probe is None else (config, probe)


@config_mutant("probe-failure-is-no", "CONV-PROBE", of=gateway)
def _failure_is_no(task: Task) -> tuple[AgentConfig, Probe | None]:
    """Takes a failed probe for the answer that the provider has no tools."""
    config, probe = choose_config(task)
    return config, probe and replace(probe, error="")


@config_mutant("stability-ignored", "CONV-REQUEST", of=gateway)
def _stability_ignored(task: Task) -> tuple[AgentConfig, Probe | None]:
    """Retries as if the JSON of each provider were stable."""
    stable = replace(task.capabilities, json_stability="high")
    return choose_config(replace(task, capabilities=stable))


@config_mutant("conversations-numbered", "CONV-REPEATABLE CONV-CUT-INVARIANT")
def _numbered(task: Task) -> tuple[AgentConfig, Probe | None]:
    """Sends a number that differs for each conversation of this process."""
    config, probe = plain_config(task)
    number = {"user": f"conversation-{next(_COUNTER)}"}
    return replace(config, options={**config.options, **number}), probe


@config_mutant("replies-remembered", "CONV-REPEATABLE", prompts=_NATIVE)
def _remembering(task: Task) -> tuple[AgentConfig, Probe | None]:
    """Reads a repeated reply from a cache that stored only a part of it."""
    return _with_normalizer(task, "answers-remembered")


@config_mutant("reads-decoded-apart", "CONV-CUT-INVARIANT", prompts=_NATIVE)
def _decoding_reads(task: Task) -> tuple[AgentConfig, Probe | None]:
    """Decodes each network read separately."""
    return _with_normalizer(task, "decoded-per-read")


def _with_normalizer(task: Task, name: str) -> tuple[AgentConfig, Probe | None]:
    config, probe = plain_config(task)
    return replace(config, normalize=NORMALIZERS[name].normalize), probe
