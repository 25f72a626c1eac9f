"""Convert between the history and the requests and replies of one provider and one prompt.

The provider gets names that every API accepts and ids that match its pattern. The application gets
its own names, and each id unchanged. Results and calls are sent back in the form that the prompt
uses: in fields of the API, or as text. In text the model must see its calls in the format that its
prompt describes, because a model whose history contains none learns to answer without calls.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from harness.conversation import feedback
from harness.conversation.asking import next_request
from harness.conversation.feedback import ToolResult
from harness.conversation.history.identifiers import NameMap, distinct_ids, fit_ids
from harness.conversation.history.limit import HistoryLimit, limit_history
from harness.conversation.history.storing import (
    HistoryPolicy,
    StoringOptions,
    incomplete_reason,
    parse_error_text,
)
from harness.conversation.prompts import Prompt, Protocol, system_text
from harness.conversation.replies import request_turn
from harness.conversation.task import Task
from harness.normalizers.protocol import Normalize
from harness.text_calls import TEXT_DIALECTS, WrittenCall
from harness.turns.deltas import ToolCall
from harness.turns.messages import Message, assistant, system
from harness.turns.turn import Turn


def assistant_text(prompt: Prompt, turn: Turn) -> str:
    """Return the assistant's text for a turn that did not break off; "" where it says nothing."""
    if turn.parse_errors and not turn.tool_calls:
        return _paragraphs(turn.text, _format_errors(prompt, turn))
    if not turn.tool_calls and not turn.text.strip():
        return ""
    said = _FORMATS.get(prompt.protocol, _format_turn)(prompt, turn)
    return _paragraphs(_format_errors(prompt, turn), said)


def _format_turn(prompt: Prompt, turn: Turn) -> str:
    return _paragraphs(turn.text, _format_calls(prompt, turn.tool_calls))


def _format_action(prompt: Prompt, turn: Turn) -> str:
    """One object: with what the model said as its reasoning beside calls, else as the answer."""
    if not turn.tool_calls:
        said = {"reasoning": turn.reasoning, "action": "finish", "content": turn.text}
        return json.dumps(said, ensure_ascii=False)
    reasoning = json.dumps(turn.reasoning or turn.text, ensure_ascii=False)
    return f'{{"reasoning": {reasoning}, ' + _format_calls(prompt, turn.tool_calls)[1:]


def _format_react(prompt: Prompt, turn: Turn) -> str:
    thought = f"Thought: {' '.join(turn.reasoning.split())}\n" if turn.reasoning.strip() else ""
    if not turn.tool_calls:
        return f"{thought}Final Answer: {turn.text}"
    return thought + _paragraphs(turn.text, _format_calls(prompt, turn.tool_calls))


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
    told = (parse_error_text(error, prompt.language) for error in turn.parse_errors)
    return "\n\n".join(told)


def _paragraphs(*parts: str) -> str:
    return "\n\n".join(part for part in parts if part.strip())


# What a provider refuses beside no tools.
_OPTIONS_WITH_TOOLS: Final = frozenset(("parallel_tool_calls", "tool_choice"))


class Channel:
    """How one conversation is spelled for its provider.

    Args:
        task: whom to ask, and which tools may be called.
        prompt: how the model is asked for calls.
        policy: how turns become messages where the API has a field for calls.
        storing: the choices of that policy.
    """

    def __init__(
        self, task: Task, prompt: Prompt, policy: HistoryPolicy, storing: StoringOptions
    ) -> None:
        self.prompt = prompt
        self.task = task
        self._policy = policy
        self._storing = replace(storing, language=prompt.language)
        self.names = NameMap(tool.name for tool in task.tools)
        offered = () if prompt.taught else task.tools
        self._tools = tuple(replace(tool, name=self.names.wire(tool.name)) for tool in offered)
        self.shown = tuple(tool.name for tool in self._tools or task.tools)
        self._room = HistoryLimit(task.limits.messages, language=prompt.language)
        self._system = system(system_text(prompt, task.tools, task.system))

    def sent(self, history: Sequence[Message]) -> tuple[Message, ...]:
        """Return the messages of the next request, the system text included."""
        pattern = self.task.capabilities.tool_id_pattern
        whole = (self._system, *fit_ids(history, pattern).messages)
        return limit_history(whole, self._room)

    def ask(
        self, history: Sequence[Message], normalize: Normalize, options: Mapping[str, Any]
    ) -> Turn:
        """Send the history and return the turn, with the application's names for tools."""
        allowed = {
            key: value
            for key, value in options.items()
            if self._tools or key not in _OPTIONS_WITH_TOOLS
        }
        request = next_request(self.task, self.sent(history), self._tools, allowed)
        return self._declared(distinct_ids(request_turn(self.task, request, normalize)))

    def messages(
        self, turn: Turn, results: Sequence[ToolResult], iteration: int
    ) -> tuple[Message, ...]:
        """Return what the history keeps of a turn and its results; () where it says nothing."""
        if self.prompt.taught and not incomplete_reason(turn):
            return self._taught(turn, results)
        by_id = {result.call_id: result for result in results}
        capabilities, storing = self.task.capabilities, self._storing
        return self._policy(self._wire(turn), by_id, iteration, capabilities, storing)

    def _taught(self, turn: Turn, results: Sequence[ToolResult]) -> tuple[Message, ...]:
        text = assistant_text(self.prompt, turn)
        if not text:
            return ()
        message, field = assistant(text), self.task.capabilities.reasoning_field
        said = message | {field: turn.reasoning} if field and turn.reasoning else message
        limit = self._storing.limit
        return (said, *feedback.result_messages(self.prompt, results, limit=limit))

    def _declared(self, turn: Turn) -> Turn:
        if self.prompt.taught:  # which tells the declared names themselves
            return turn
        return _renamed(turn, {name: self.names.declared(name) for name in _names(turn)})

    def _wire(self, turn: Turn) -> Turn:
        if self.prompt.taught:
            return turn
        # A call without a name stays without: it is reported and never stored as a call.
        return _renamed(turn, {name: name and self.names.wire(name) for name in _names(turn)})


def _names(turn: Turn) -> tuple[str, ...]:
    return (*(call.name for call in turn.tool_calls), *(each.name for each in turn.parse_errors))


def _renamed(turn: Turn, names: Mapping[str, str]) -> Turn:
    """Return `turn` with other names for its tools; itself where they are the same."""
    if all(name == other for name, other in names.items()):
        return turn
    return replace(
        turn,
        tool_calls=tuple(replace(each, name=names[each.name]) for each in turn.tool_calls),
        parse_errors=tuple(replace(each, name=names[each.name]) for each in turn.parse_errors),
    )
