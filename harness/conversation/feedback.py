"""Messages from the agent to the model: results of calls, refusals, and requests for a retry.

If the prompt describes the tools, the API has no role for results. Then one user message contains
all results and asks explicitly for an answer, because a model may treat bare data as a new
question. A refusal contains all information that the model needs to fix its call.
"""

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Final

import msgspec

from harness.conversation.prompts import Prompt
from harness.conversation.results import MOST_CHARACTERS, error_text, result_text
from harness.conversation.wording import TEXTS, Language
from harness.turns.deltas import ParseError
from harness.turns.messages import Message, user

_MOST_REPORTS: Final = 5
_MOST_REPORT_CHARACTERS: Final = 600


def unknown_tool_text(name: str, known: Iterable[str], language: Language) -> str:
    """Return the error for a call of a tool that was not offered."""
    return TEXTS[language].refusal.unknown.format(name=name, names=", ".join(known) or "-")


def parse_error_reports(errors: Iterable[ParseError]) -> str:
    """Return the first few parse errors as text for the model."""
    errors_shown = (
        f"[{error.mode} parse error] {f'{error.name}: ' if error.name else ''}{error.error}"
        for error in islice(errors, _MOST_REPORTS)
    )
    return "\n".join(text[:_MOST_REPORT_CHARACTERS] for text in errors_shown)


def retry_text(prompt: Prompt, reasons: str, attempt: int, example: str = "") -> str:
    """Return the message that asks the model to correct its last response.

    Args:
        prompt: the prompt of the request.
        reasons: what was wrong with the response.
        attempt: the number of earlier retries. The text depends on it, because the model must not
            get the same message twice (quirk LOOP-PARSE-RETRY).
        example: an example of a call, which ends the message; "" for none.
    """
    words = TEXTS[prompt.language].refusal
    how = words.calls.get(prompt.protocol, words.calls["json-fallback"])
    text = words.again.format(reasons=reasons, how=how)
    again = f"{text} ({attempt + 1}) {words.last_time}" if attempt else text
    return f"{again}\n\n{example}" if example else again


_CLOSER: Final = "</tool_result>"
# How the messages of this module for a user begin.
_LEADS: Final = tuple(
    lead
    for texts in TEXTS.values()
    for lead in (texts.results_lead, texts.refusal.again.partition("{")[0])
)


class ToolResult(msgspec.Struct, frozen=True):
    """The result of one call.

    Fields:
        value: what the tool returned: text or another JSON value.
        error: why the tool returned no value; "" if it did.
    """

    call_id: str
    name: str
    value: Any = None
    error: str = ""


def result_messages(
    prompt: Prompt, results: Sequence[ToolResult], *, limit: int = MOST_CHARACTERS
) -> tuple[Message, ...]:
    """Return one user message with the results of all calls, in order; () without results.

    Args:
        prompt: the prompt of the request, which describes the tools in text.
        results: one for each call.
        limit: the maximum number of characters of each result.
    """
    if not results:
        return ()
    blocks = (
        _result_block(result.name, tool_result_text(result, prompt.language, limit))
        for result in results
    )
    words = TEXTS[prompt.language]
    request = words.results_request[prompt.protocol]
    content = "\n\n".join((words.results_lead, *blocks, request))
    return (user(content),)


def is_question(message: Message) -> bool:
    """Return whether the user wrote `message`, and not this module with the role of the user."""
    content = message.get("content")  # a known-bad agent stores messages without content
    is_user_text = message["role"] == "user" and isinstance(content, str)
    return is_user_text and not str(content).startswith(_LEADS)


def tool_result_text(result: ToolResult, language: Language, limit: int) -> str:
    """Return a result as text of at most `limit` characters."""
    if result.error:
        return error_text(result.error, language, limit=limit)
    return result_text(result.value, language, limit=limit)


def _result_block(name: str, text: str) -> str:
    # A result must not be able to end its block, because the rest would be the user's text.
    inside = text.replace(_CLOSER, _CLOSER.replace("/", "\\/"))
    return f'<tool_result name="{name}">\n{inside}\n{_CLOSER}'
