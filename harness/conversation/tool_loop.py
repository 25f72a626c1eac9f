"""The tool loop: question, request, turn, calls, results, next request, until an answer or a limit.

The only loop of the suite: agents differ in their `Way`, and a miniature is this loop with one
step done wrong. A turn that broke off runs nothing; every call of a whole one gets a result, at
a limit too; a reply that holds no call that can run is mended at most `limits.retries` times.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import msgspec
from msgspec.structs import replace

from harness.conversation.calling import CallBudget, CallResults, refuse, run_calls
from harness.conversation.channel import Channel
from harness.conversation.conversation import (
    Conversation,
    Ending,
    Meta,
    Probe,
    Strategy,
    TurnRecord,
)
from harness.conversation.feedback import REFUSAL_TEXTS, ToolResult, parse_error_reports, retry_text
from harness.conversation.history.storing import (
    HistoryPolicy,
    StoringOptions,
    incomplete_reason,
    merged_messages,
)
from harness.conversation.prompts import Prompt
from harness.conversation.replies import turn_ending
from harness.conversation.task import Task
from harness.normalizers.protocol import Normalize
from harness.turns.messages import Message, user
from harness.turns.turn import Turn


def _unchanged(turn: Turn) -> Turn:
    return turn


def _no_retry_reason(turn: Turn, prompt: Prompt) -> str:
    del turn, prompt
    return ""


class AgentConfig(msgspec.Struct, frozen=True):
    """What tells one agent from another.

    Fields:
        normalize: reads replies.
        prompt: how the model is asked for calls.
        strategy: what the records say of it.
        policy, storing: how turns become messages.
        options: further fields of each request.
        serial: only the first call of a turn is run.
        settle: a turn as read -> the turn as this agent understands it.
        fault: why the model must be asked again for a turn; "" where it need not be. Such a
            turn runs nothing.
    """

    normalize: Normalize
    prompt: Prompt
    strategy: Strategy | Literal[""] = ""
    policy: HistoryPolicy = merged_messages
    storing: StoringOptions = StoringOptions()
    options: Mapping[str, Any] = msgspec.field(default_factory=dict)
    serial: bool = False
    settle: Callable[[Turn], Turn] = _unchanged
    fault: Callable[[Turn, Prompt], str] = _no_retry_reason


class ToolLoop:
    """One conversation while it is had.

    Args:
        task: the questions, tools and provider.
        way: of the agent.
        probe: what it asked before.
    """

    channel_type: ClassVar[type[Channel]] = Channel

    def __init__(self, task: Task, way: AgentConfig, probe: Probe | None = None) -> None:
        self.task = task
        self.way = way
        self.history: list[Message] = []
        self.turns: list[TurnRecord] = []
        self.answer = ""
        self.budget = CallBudget(task.limits.identical_calls)
        self.channel = self.channel_type(task, way.prompt, way.policy, way.storing)
        self._probe = probe
        self._retries = 0

    def have(self) -> Conversation:
        """Answer each question, and stop at the first that gets no answer."""
        ending: Ending = "done"
        for question in self.task.questions:
            self.say(question)
            ending = self.answered()
            if ending != "done":
                break
        messages = self.channel.sent(self.history)
        return Conversation(messages, tuple(self.turns), ending, self.answer)

    def answered(self) -> Ending:
        """Go round until the question is answered."""
        self.budget = CallBudget(self.task.limits.identical_calls)
        self._retries = 0
        for left in reversed(range(self.task.limits.rounds)):
            ending = self.take(self.request(), left)
            if ending is not None:
                return ending
        return "limit"

    def say(self, text: str) -> None:
        """Add what the user says; two in a row are one message, since roles take turns."""
        if self.history and self.history[-1]["role"] == "user":
            text = f"{self.history.pop()['content']}\n\n{text}"
        self.history.append(user(text))

    def request(self) -> Turn:
        """Send the history and record the turn that comes back."""
        way = self.way
        turn = way.settle(self.channel.ask(self.history, way.normalize, way.options))
        meta = Meta(way.strategy, turn.parse_errors, None if self.turns else self._probe)
        self.turns.append(TurnRecord(turn, meta))
        self.answer = turn.text if turn.text.strip() else self.answer
        return turn

    def take(self, turn: Turn, left: int) -> Ending | None:
        """Do what a turn asks for; return how it ends the conversation, None where it goes on.

        Args:
            turn: the newest.
            left: how many requests may still follow.
        """
        fault = self.way.fault(turn, self.way.prompt)
        if fault:
            return self.mend(turn, fault, left)
        if incomplete_reason(turn):
            self.keep(turn, CallResults())
            return turn_ending(turn)
        if not turn.tool_calls and not turn.parse_errors:
            self.keep(turn, CallResults())
            return "done" if turn.text.strip() else "empty"
        self._retries = 0
        self.keep(turn, self.run(turn) if left else self._refused(turn))
        if not left or self.budget.exhausted:
            return "limit"
        if self.history[-1]["role"] == "assistant":
            # No result speaks for the user here, and a request must not end with the model.
            self.say(retry_text(self.way.prompt, parse_error_reports(turn.parse_errors), 0))
        return None

    def run(self, turn: Turn) -> CallResults:
        """Run the calls of a turn that is whole, and answer those that could not be read."""
        way, language = self.way, self.way.prompt.language
        first = turn.tool_calls[:1] if way.serial else turn.tool_calls
        ran = run_calls(self.task, first, self.budget, language, self.channel.shown)
        waiting = refuse(turn.tool_calls[len(first) :], REFUSAL_TEXTS[language].one_at_a_time)
        ran = replace(ran, results=(*ran.results, *waiting))
        if way.storing.rejected != "result":
            return ran
        for error in turn.parse_errors:
            self.budget.spend(error.name, error.snippet)
        unusable = REFUSAL_TEXTS[language].unusable
        answers = (
            ToolResult(error.id, error.name, error=unusable.format(problem=error.error))
            for error in turn.parse_errors
        )
        return replace(ran, results=(*ran.results, *answers))

    def keep(self, turn: Turn, ran: CallResults) -> None:
        """Add a turn and its results to the history, and what was run to its record."""
        self.turns[-1] = replace(self.turns[-1], executed=ran.executed)
        self.history += self.channel.messages(turn, ran.results, len(self.turns))

    def mend(self, turn: Turn, fault: str, left: int) -> Ending | None:
        """Ask once more for a reply that cannot be used, or end with what there is."""
        prompt = self.way.prompt
        self.keep(turn, CallResults())
        if left and self._retries < self.task.limits.retries:
            record = self.turns[-1]
            self.turns[-1] = replace(record, meta=replace(record.meta, retries=1))
            self.say(retry_text(prompt, fault, self._retries))
            self._retries += 1
            return None
        visible = (turn.text, fault, REFUSAL_TEXTS[prompt.language].not_executed)
        self.answer = "\n\n".join(part for part in visible if part.strip())
        return turn_ending(turn) if incomplete_reason(turn) else "limit"

    def _refused(self, turn: Turn) -> CallResults:
        """Answer each call of a turn that came when the limit was reached."""
        words = REFUSAL_TEXTS[self.way.prompt.language]
        why = words.at_the_limit.format(limit=self.task.limits.rounds)
        return CallResults(refuse(turn.tool_calls, why))
