"""Convert between the history and the requests and responses of one provider and one prompt.

The provider gets names of tools that every API accepts, and ids that match its pattern. The
application gets its original names and ids. Calls and results are sent back as the prompt requires:
in fields of the API, or as text. In text, the model must see its calls in the format that its
prompt describes, because a model whose history contains no calls learns to answer without calls.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from harness.conversation.feedback import ToolResult, result_messages
from harness.conversation.history.identifiers import NameMap, distinct_ids, fit_ids
from harness.conversation.history.limit import limit_history
from harness.conversation.history.storing import (
    HistoryPolicy,
    StoringOptions,
    incomplete_reason,
    join_paragraphs,
    parse_error_text,
    turn_messages,
)
from harness.conversation.prompts import Prompt, Protocol, system_text
from harness.conversation.replies import next_request, request_turn
from harness.conversation.task import Task
from harness.normalizers.protocol import Normalize
from harness.text_calls import TEXT_DIALECTS, WrittenCall
from harness.turns.deltas import ToolCall
from harness.turns.messages import Message, assistant, system
from harness.turns.turn import Turn


def assistant_text(prompt: Prompt, turn: Turn) -> str:
    """Return the text of a turn with its calls as the prompt describes; "" if it is empty."""
    if turn.parse_errors and not turn.tool_calls:
        return join_paragraphs(turn.text, _format_errors(prompt, turn))
    if not turn.tool_calls and not turn.text.strip():
        return ""
    text = _FORMATS.get(prompt.protocol, _format_turn)(prompt, turn)
    return join_paragraphs(_format_errors(prompt, turn), text)


def _format_turn(prompt: Prompt, turn: Turn) -> str:
    return join_paragraphs(turn.text, _format_calls(prompt, turn.tool_calls))


def _format_action(prompt: Prompt, turn: Turn) -> str:
    """Return one JSON object: the calls with the text as reasoning, or the text as the answer."""
    if not turn.tool_calls:
        reply = {"reasoning": turn.reasoning, "action": "finish", "content": turn.text}
        return json.dumps(reply, ensure_ascii=False)
    reasoning = json.dumps(turn.reasoning or turn.text, ensure_ascii=False)
    return f'{{"reasoning": {reasoning}, ' + _format_calls(prompt, turn.tool_calls)[1:]


def _format_react(prompt: Prompt, turn: Turn) -> str:
    thought = f"Thought: {' '.join(turn.reasoning.split())}\n" if turn.reasoning.strip() else ""
    if not turn.tool_calls:
        return f"{thought}Final Answer: {turn.text}"
    return thought + _format_turn(prompt, turn)


_FORMATS: Final[dict[Protocol, Callable[[Prompt, Turn], str]]] = {
    "action-protocol": _format_action,
    "react": _format_react,
}


def _format_calls(prompt: Prompt, calls: Sequence[ToolCall]) -> str:
    if not calls:
        return ""
    dialect = TEXT_DIALECTS[prompt.text_dialects[0]]
    return dialect.write([WrittenCall(call.name, call.arguments) for call in calls])


def _format_errors(prompt: Prompt, turn: Turn) -> str:
    return "\n\n".join(parse_error_text(error, prompt.language) for error in turn.parse_errors)


# Providers reject this option in a request without tools.
_OPTION_WITH_TOOLS: Final = "parallel_tool_calls"


class Channel:
    """Builds the requests and parses the responses of one conversation for its provider.

    Args:
        task: contains the provider, and the tools that the model may call.
        prompt: tells the model how to call tools.
        policy: how turns become messages if the API has a field for calls.
        storing: options of that policy.
    """

    def __init__(
        self, task: Task, prompt: Prompt, policy: HistoryPolicy, storing: StoringOptions
    ) -> None:
        self.prompt = prompt
        self.task = task
        self._policy = policy
        self._storing = replace(storing, language=prompt.language)
        self.names = NameMap(tool.name for tool in task.tools)
        offered = () if prompt.describes_tools else task.tools
        self._tools = tuple(replace(tool, name=self.names.wire(tool.name)) for tool in offered)
        # The names under which the model knows the tools.
        self.shown_names = tuple(tool.name for tool in self._tools or task.tools)
        self._system = system(system_text(prompt, task.tools, task.system))

    def request_messages(self, history: Sequence[Message]) -> tuple[Message, ...]:
        """Return the messages of the next request, including the system text."""
        pattern = self.task.capabilities.tool_id_pattern
        complete = (self._system, *fit_ids(history, pattern).messages)
        return limit_history(complete, self.task.limits.messages, self.prompt.language)

    def request_turn(
        self, history: Sequence[Message], normalize: Normalize, options: Mapping[str, Any]
    ) -> Turn:
        """Send the history, and return the turn with the application's names of tools."""
        allowed = {
            key: value for key, value in options.items() if self._tools or key != _OPTION_WITH_TOOLS
        }
        messages = self.request_messages(history)
        request = next_request(self.task, messages, self._tools, allowed)
        turn = distinct_ids(request_turn(self.task, request, normalize))
        return self._renamed(turn, self.names.declared)

    def stored_messages(
        self, turn: Turn, results: Sequence[ToolResult], iteration: int
    ) -> tuple[Message, ...]:
        """Return the history's messages for a turn and its results; () if the turn is empty."""
        if self.prompt.describes_tools and not incomplete_reason(turn):
            return self._stored_as_text(turn, results)
        by_id = {result.call_id: result for result in results}
        # A call without a name keeps none: it is reported and never stored as a call.
        sent = self._renamed(turn, lambda name: name and self.names.wire(name))
        capabilities = self.task.capabilities
        return turn_messages(self._policy, sent, by_id, iteration, capabilities, self._storing)

    def _stored_as_text(self, turn: Turn, results: Sequence[ToolResult]) -> tuple[Message, ...]:
        text = assistant_text(self.prompt, turn)
        if not text:
            return ()
        message, field = assistant(text), self.task.capabilities.reasoning_field
        stored = message | {field: turn.reasoning} if field and turn.reasoning else message
        return (stored, *result_messages(self.prompt, results, limit=self._storing.limit))

    def _renamed(self, turn: Turn, rename: Callable[[str], str]) -> Turn:
        """Return `turn` with other tool names; unchanged if the prompt describes tools in text."""
        if self.prompt.describes_tools:
            return turn
        return replace(
            turn,
            tool_calls=tuple(replace(it, name=rename(it.name)) for it in turn.tool_calls),
            parse_errors=tuple(replace(it, name=rename(it.name)) for it in turn.parse_errors),
        )
