"""Results of calls -> the messages that carry them back to the model, for each protocol.

Where the API knows tools, each result is a message of its own with the id of its call (quirk
HIST-RESULTS-GROUPED is for the dialects that want them together). Where a prompt taught them
there is no role for results: one message of the user holds all of them and asks in so many
words for an answer, since a model that only sees data takes it for a new question.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from harness.conversation.prompts.prompt import Prompt
from harness.conversation.results import MOST_CHARACTERS, error_text, result_text
from harness.conversation.wording import Language

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
    """What became of one call.

    Fields:
        value: what the tool returned; any value of JSON, or text.
        error: why it returned nothing; "" where it did.
    """

    call_id: str
    name: str
    value: Any = None
    error: str = ""


def messages(
    prompt: Prompt, results: Sequence[ToolResult], *, limit: int = MOST_CHARACTERS
) -> tuple[dict[str, Any], ...]:
    """Return the messages that tell the model what its calls gave, in their order.

    Args:
        prompt: of the request that the calls answered.
        results: one for each call.
        limit: the most characters of each result.
    """
    texts = [_text(result, prompt.language, limit) for result in results]
    if not prompt.taught:
        pairs = zip(results, texts, strict=True)
        return tuple(
            {"role": "tool", "tool_call_id": result.call_id, "content": text}
            for result, text in pairs
        )
    if not results:
        return ()
    blocks = (_block(result.name, text) for result, text in zip(results, texts, strict=True))
    ask = _ASKS[prompt.protocol][prompt.language]
    content = "\n\n".join((_LEADS[prompt.language], *blocks, ask))
    return ({"role": "user", "content": content},)


def holds_results(message: Mapping[str, Any]) -> bool:
    """Return whether `message` tells results in the user's voice, as `messages` writes them."""
    content = message.get("content")
    return message.get("role") == "user" and str(content).startswith(tuple(_LEADS.values()))


def _text(result: ToolResult, language: Language, limit: int) -> str:
    if result.error:
        return error_text(result.error, language, limit=limit)
    return result_text(result.value, language, limit=limit)


def _block(name: str, text: str) -> str:
    # A result must not be able to end its block and go on in the user's voice.
    inside = text.replace(_CLOSER, _CLOSER.replace("/", "\\/"))
    return f'<tool_result name="{name}">\n{inside}\n{_CLOSER}'
