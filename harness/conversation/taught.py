"""A turn of a taught prompt -> what the assistant is shown to have said.

There is no field for calls, so the model must see them in its own text, in the spelling that
its prompt taught; otherwise it learns from its history to answer without. What could not be
used is told as text.
"""

import json
from collections.abc import Callable, Sequence
from typing import Final

from harness.conversation.history.storing import parse_error_text
from harness.conversation.prompts.table import Prompt, Protocol
from harness.text_calls import TEXT_DIALECTS, WrittenCall
from harness.turns.deltas import ToolCall
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
