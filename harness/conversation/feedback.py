"""What the agent sends back to the model: results of calls, refusals, and requests for a retry.

If the API has a field for tools, each result is its own message with the id of its call (quirk
HIST-RESULTS-GROUPED covers the dialects that need them together). If the prompt describes the
tools, there is no role for results: one user message contains all of them and asks explicitly for
an answer, because a model that sees only data takes it for a new question. A refusal must let the
model fix its call without further information.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import msgspec

from harness.conversation.prompts import Prompt
from harness.conversation.results import MOST_CHARACTERS, error_text, result_text
from harness.conversation.wording import Language
from harness.turns.deltas import ParseError

_MOST_NAMES: Final = 40
_MOST_REPORTS: Final = 5
_MOST_REPORT_CHARACTERS: Final = 600


class RefusalTexts(msgspec.Struct, frozen=True):
    """The sentences of one language, with placeholders in braces."""

    unknown: str
    invalid: str
    unusable: str
    identical: str
    one_at_a_time: str
    at_the_limit: str
    not_executed: str
    again: str
    last_time: str
    cut: str
    provider: str
    calls: dict[str, str]


REFUSAL_TEXTS: Final[dict[Language, RefusalTexts]] = {
    "en": RefusalTexts(
        unknown="there is no tool {name!r}. The tools are: {names}.",
        invalid="the arguments do not fit the tool's parameters: {problem}",
        unusable="the call could not be read and did not run: {problem}",
        identical="this call was made {times} times with the same arguments; it did not run again.",
        one_at_a_time="this call did not run: only one call is run in each turn. Ask for it "
        "again, alone, if it is still needed.",
        at_the_limit="this call did not run: the limit of {limit} requests is reached.",
        not_executed="No tool was executed.",
        again="Your last reply could not be used. {reasons}\n\nNo tool was executed. {how}",
        last_time="It could not be used once more. If you cannot call the tool, answer without it.",
        cut="The reply was cut before its end ({why}); be shorter.",
        provider="The provider refused the reply ({why}).",
        calls={
            "native-tools": "If you need the tool, call it again with its parameters as one "
            "strict JSON object; otherwise answer in plain text.",
            "json-fallback": "If you need the tool, reply again with exactly one code block as "
            "in the example and nothing else; otherwise answer in plain text.",
        },
    ),
    "zh": RefusalTexts(
        unknown="没有名为 {name!r} 的工具。可用的工具有：{names}。",
        invalid="参数不符合该工具的要求：{problem}",
        unusable="无法读取该调用，没有执行：{problem}",
        identical="该调用已用相同的参数执行了 {times} 次，没有再次执行。",
        one_at_a_time="该调用没有执行：每轮只执行一个调用。如仍需要，请单独再次调用。",
        at_the_limit="该调用没有执行：已达到 {limit} 次请求的上限。",
        not_executed="未执行任何工具。",
        again="上一条回复无法使用。{reasons}\n\n未执行任何工具。{how}",
        last_time="仍然无法使用。如果无法调用该工具，请不使用工具直接回答。",
        cut="回复未完就被截断（{why}）；请更简短。",
        provider="服务方拒绝了该回复（{why}）。",
        calls={
            "native-tools": "如果需要该工具，请再次调用，参数写成一个严格的 JSON 对象；"
            "否则请直接用文字回答。",
            "json-fallback": "如果需要该工具，请重新回复，只写一个与示例相同的代码块；"
            "否则请直接用文字回答。",
        },
    ),
}


def unknown_tool_text(name: str, known: Iterable[str], language: Language) -> str:
    """Return the error for a call of a tool that was not offered."""
    names = list(known)
    shown = ", ".join(names[:_MOST_NAMES]) + (", ..." if len(names) > _MOST_NAMES else "")
    return REFUSAL_TEXTS[language].unknown.format(name=name[:_MOST_NAMES], names=shown or "-")


def parse_error_reports(errors: Iterable[ParseError]) -> str:
    """Return the first few errors as text."""
    errors_shown = (
        f"[{error.mode} parse error] {f'{error.name}: ' if error.name else ''}{error.error}"
        for error in islice(errors, _MOST_REPORTS)
    )
    return "\n".join(text[:_MOST_REPORT_CHARACTERS] for text in errors_shown)


def retry_text(prompt: Prompt, reasons: str, attempt: int) -> str:
    """Return the message that asks the model to fix its reply.

    Args:
        prompt: of the request.
        reasons: what was wrong with the reply.
        attempt: number of earlier retries; a second message must differ from the first
            (quirk LOOP-PARSE-RETRY).
    """
    words = REFUSAL_TEXTS[prompt.language]
    how = words.calls.get(prompt.protocol, words.calls["json-fallback"])
    text = words.again.format(reasons=reasons, how=how)
    return f"{text} ({attempt + 1}) {words.last_time}" if attempt else text


_CLOSER: Final = "</tool_result>"
_LEADS: Final[dict[Language, str]] = {
    "en": "These are the results of the tools that you called:",
    "zh": "以下是你所调用工具的结果：",
}
_ASKS: Final[dict[str, dict[Language, str]]] = {
    "tag-tools": {
        "en": "Answer my question from these results. If they are not enough, call a tool again.",
        "zh": "请根据这些结果回答我的问题。如果还不够，可以再次调用工具。",
    },
    "action-protocol": {
        "en": "Answer my question from these results, with one JSON object whose action is "
        "`finish`. If they are not enough, call a tool again.",
        "zh": "请根据这些结果回答我的问题，用一个 `action` 为 `finish` 的 JSON 对象。"
        "如果还不够，可以再次调用工具。",
    },
    "json-fallback": {
        "en": "Answer my question from these results, in plain text. If they are not enough, "
        "call a tool again with one code block.",
        "zh": "请根据这些结果用普通文字回答我的问题。如果还不够，可以再用一个代码块调用工具。",
    },
    "react": {
        "en": "Go on from these results: with another action, or with the final answer.",
        "zh": "请根据这些结果继续：再执行一个动作，或者给出最终答案。",
    },
}


class ToolResult(msgspec.Struct, frozen=True):
    """The result of one call.

    Fields:
        value: what the tool returned; any value of JSON, or text.
        error: why it returned no value, or "".
    """

    call_id: str
    name: str
    value: Any = None
    error: str = ""


def result_messages(
    prompt: Prompt, results: Sequence[ToolResult], *, limit: int = MOST_CHARACTERS
) -> tuple[dict[str, Any], ...]:
    """Return the messages with the results of calls, in order.

    Args:
        prompt: of the request that the calls answered.
        results: one for each call.
        limit: the maximum number of characters of each result.
    """
    texts = [_result_text(result, prompt.language, limit) for result in results]
    if not prompt.describes_tools:
        pairs = zip(results, texts, strict=True)
        return tuple(
            {"role": "tool", "tool_call_id": result.call_id, "content": text}
            for result, text in pairs
        )
    if not results:
        return ()
    blocks = (_result_block(result.name, text) for result, text in zip(results, texts, strict=True))
    ask = _ASKS[prompt.protocol][prompt.language]
    content = "\n\n".join((_LEADS[prompt.language], *blocks, ask))
    return ({"role": "user", "content": content},)


def has_results(message: Mapping[str, Any]) -> bool:
    """Return whether `message` contains results as `result_messages` writes them for a user."""
    content = message.get("content")
    return message.get("role") == "user" and str(content).startswith(tuple(_LEADS.values()))


def _result_text(result: ToolResult, language: Language, limit: int) -> str:
    if result.error:
        return error_text(result.error, language, limit=limit)
    return result_text(result.value, language, limit=limit)


def _result_block(name: str, text: str) -> str:
    # A result must not be able to end its block, because the rest would be the user's text.
    inside = text.replace(_CLOSER, _CLOSER.replace("/", "\\/"))
    return f'<tool_result name="{name}">\n{inside}\n{_CLOSER}'
