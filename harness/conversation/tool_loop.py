"""The tool loop: question, request, turn, calls, results, next request, until an answer or a limit.

All agents of the suite use this loop. They differ in their `AgentConfig`, and a mutant is this loop
with one wrong step. No call of an incomplete turn is executed. Every call of a complete turn gets a
result, or ends the conversation at a limit. If a response contains no usable call, the loop asks
the model again at most `limits.retries` times.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal

import msgspec
from msgspec.structs import replace

from harness.conversation.calling import CallBudget, CallResults, refuse, run_calls
from harness.conversation.channel import Channel
from harness.conversation.feedback import ToolResult, parse_error_reports, retry_text
from harness.conversation.history.storing import (
    HistoryPolicy,
    StoringOptions,
    incomplete_reason,
)
from harness.conversation.prompts import Prompt
from harness.conversation.replies import turn_ending
from harness.conversation.task import Task
from harness.conversation.wording import TEXTS
from harness.normalizers.protocol import Normalize
from harness.results.conversation import Conversation, Ending, Probe, Strategy, TurnMeta, TurnRecord
from harness.turns.messages import Message, user
from harness.turns.turn import Turn


def _unchanged(turn: Turn) -> Turn:
    return turn


def _no_retry_reason(turn: Turn, prompt: Prompt) -> str:
    del turn, prompt
    return ""


def _no_example(turn: Turn) -> str:
    del turn
    return ""


class AgentConfig(msgspec.Struct, frozen=True):
    """The configuration of the tool loop, in which agents differ.

    Fields:
        normalize: parses responses.
        prompt: tells the model how to call tools.
        strategy: how tools are offered, `tool_use` or `json_fallback`, as recorded for each turn.
        policy, storing: how turns become messages.
        options: further keys of each request's JSON body.
        serial: only the first call of a turn is executed.
        resolve: converts the normalizer's turn to the turn on which the agent acts.
        retry_reason: returns why the agent must ask again after a turn, or "". No call of such a
            turn is executed.
        retry_example: returns an example of a call to add to the request for a retry, or "".
    """

    normalize: Normalize
    prompt: Prompt
    strategy: Strategy | Literal[""] = ""
    policy: HistoryPolicy = "merged"
    storing: StoringOptions = StoringOptions()
    options: Mapping[str, Any] = msgspec.field(default_factory=dict)
    serial: bool = False
    resolve: Callable[[Turn], Turn] = _unchanged
    retry_reason: Callable[[Turn, Prompt], str] = _no_retry_reason
    retry_example: Callable[[Turn], str] = _no_example


class ToolLoop:
    """Runs one conversation.

    Args:
        task: the questions, tools and provider.
        config: the configuration of the agent.
        probe: the result of the agent's probe, if it sent one.
    """

    channel_type: ClassVar[type[Channel]] = Channel

    def __init__(self, task: Task, config: AgentConfig, probe: Probe | None = None) -> None:
        self.task = task
        self.config = config
        self.history: list[Message] = []
        self.turns: list[TurnRecord] = []
        self.answer = ""
        self.budget = CallBudget(task.limits.identical_calls)
        self.channel = self.channel_type(task, config.prompt, config.policy, config.storing)
        self._probe = probe
        self._retries = 0

    def run_conversation(self) -> Conversation:
        """Answer each question, and stop at the first that gets no answer."""
        ending: Ending = "done"
        for question in self.task.questions:
            self.add_user_text(question)
            ending = self.answer_question()
            if ending != "done":
                break
        messages = self.channel.request_messages(self.history)
        return Conversation(messages, tuple(self.turns), ending, self.answer)

    def answer_question(self) -> Ending:
        """Request turns until the question is answered."""
        self.budget = CallBudget(self.task.limits.identical_calls)
        self._retries = 0
        for left in reversed(range(self.task.limits.rounds)):
            ending = self.handle_turn(self.request_turn(), left)
            if ending is not None:
                return ending
        return "limit"

    def add_user_text(self, text: str) -> None:
        """Add a user message; join it to a user message before it, because roles must alternate."""
        if self.history and self.history[-1]["role"] == "user":
            text = f"{self.history.pop()['content']}\n\n{text}"
        self.history.append(user(text))

    def request_turn(self) -> Turn:
        """Send the history, and record and return the next turn."""
        config = self.config
        turn = self.channel.request_turn(self.history, config.normalize, config.options)
        turn = config.resolve(turn)
        meta = TurnMeta(
            config.strategy,
            turn.parse_errors,
            None if self.turns else self._probe,
            deprecated=config.prompt.deprecated,
        )
        self.turns.append(TurnRecord(turn, meta))
        self.answer = turn.text if turn.text.strip() else self.answer
        return turn

    def handle_turn(self, turn: Turn, left: int) -> Ending | None:
        """Execute the calls of a turn; return the ending, or None if the conversation continues.

        Args:
            turn: the newest turn.
            left: the number of requests that the agent may still send for this question.
        """
        reason = self.config.retry_reason(turn, self.config.prompt)
        if reason:
            return self.retry_or_stop(turn, reason, left)
        if incomplete_reason(turn):
            self.store_turn(turn, CallResults())
            return turn_ending(turn)
        if not turn.tool_calls and not turn.parse_errors:
            self.store_turn(turn, CallResults())
            return "done" if turn.text.strip() else "empty"
        self._retries = 0
        self.store_turn(turn, self.run_calls(turn) if left else CallResults())
        if not left or self.budget.exhausted:
            return "limit"
        if self.history[-1]["role"] == "assistant":
            # There is no result in a user message, and a request must not end with the assistant.
            reports = parse_error_reports(turn.parse_errors)
            self.add_user_text(retry_text(self.config.prompt, reports, 0))
        return None

    def run_calls(self, turn: Turn) -> CallResults:
        """Execute the calls of a complete turn; the result of an unusable call is an error."""
        config, texts = self.config, TEXTS[self.config.prompt.language].refusal
        first = turn.tool_calls[:1] if config.serial else turn.tool_calls
        found = run_calls(
            self.task, first, self.budget, config.prompt.language, self.channel.shown_names
        )
        waiting = refuse(turn.tool_calls[len(first) :], texts.one_at_a_time)
        found = replace(found, results=(*found.results, *waiting))
        if config.storing.rejected != "result":
            return found
        for error in turn.parse_errors:
            self.budget.spend(error.name, error.snippet)
        answers = (
            ToolResult(error.id, error.name, error=texts.unusable.format(problem=error.error))
            for error in turn.parse_errors
        )
        return replace(found, results=(*found.results, *answers))

    def store_turn(self, turn: Turn, found: CallResults) -> None:
        """Add a turn and its results to the history, and the executed calls to its record."""
        self.turns[-1] = replace(self.turns[-1], executed=found.executed)
        self.history += self.channel.stored_messages(turn, found.results, len(self.turns))

    def retry_or_stop(self, turn: Turn, reason: str, left: int) -> Ending | None:
        """Ask again after an unusable response, or return the ending if no retry is left."""
        prompt = self.config.prompt
        self.store_turn(turn, CallResults())
        if left and self._retries < self.task.limits.retries:
            record = self.turns[-1]
            self.turns[-1] = replace(record, meta=replace(record.meta, retries=1))
            example = self.config.retry_example(turn)
            self.add_user_text(retry_text(prompt, reason, self._retries, example))
            self._retries += 1
            return None
        visible = (turn.text, reason, TEXTS[prompt.language].refusal.not_executed)
        self.answer = "\n\n".join(part for part in visible if part.strip())
        return turn_ending(turn) if incomplete_reason(turn) else "limit"
