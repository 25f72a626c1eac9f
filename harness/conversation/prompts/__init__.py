"""All prompts by id, and the system text that one gives."""

from collections.abc import Callable, Sequence
from typing import Final, Literal

import msgspec

from harness.conversation.prompts.texts import (
    action_protocol_text,
    json_fallback_text,
    native_tools_text,
    react_text,
    tag_tools_text,
)
from harness.conversation.wording import Language
from harness.errors import UsageError
from harness.turns.turn import Tool

Protocol = Literal["native-tools", "tag-tools", "action-protocol", "react", "json-fallback"]


class Prompt(msgspec.Struct, frozen=True):
    """One versioned way to ask for tool calls.

    Fields:
        id: such as `tag-tools-zh/v1`.
        title: one line for people.
        text_dialects: those that a reply's calls may be spelled in; none where the API has a
            field for them.
        build: makes the system text from the tools, the application's own system text and
            the language.
    """

    id: str
    protocol: Protocol
    language: Language
    title: str
    build: Callable[[Sequence[Tool], str, Language], str]
    text_dialects: tuple[str, ...] = ()

    @property
    def describes_tools(self) -> bool:
        """Whether the system text describes the tools, instead of a field of the request."""
        return self.protocol != "native-tools"


_TAGS = ("tagged-json", "bare-json", "fenced-json")
_FENCED = ("fenced-json", "bare-json", "tagged-json")
_ACTION = ("action-protocol",)

_ALL = (
    Prompt(
        "native-tools/v1",
        "native-tools",
        "en",
        "tools in the request's own field",
        native_tools_text,
    ),
    Prompt(
        "native-tools-zh/v1",
        "native-tools",
        "zh",
        "tools in the request's own field, system text in Chinese",
        native_tools_text,
    ),
    Prompt(
        "tag-tools/v1",
        "tag-tools",
        "en",
        "tools told in the system text; calls as JSON in <tool_call> tags",
        tag_tools_text,
        _TAGS,
    ),
    Prompt(
        "tag-tools-zh/v1",
        "tag-tools",
        "zh",
        "the same in Chinese",
        tag_tools_text,
        _TAGS,
    ),
    Prompt(
        "action-protocol/v1",
        "action-protocol",
        "en",
        "tools told in the system text; the whole reply is one JSON object",
        action_protocol_text,
        _ACTION,
    ),
    Prompt(
        "action-protocol-zh/v1",
        "action-protocol",
        "zh",
        "the same in Chinese",
        action_protocol_text,
        _ACTION,
    ),
    Prompt(
        "react/v1",
        "react",
        "en",
        "tools told in the system text; thoughts and actions as labelled lines",
        react_text,
        ("react",),
    ),
    Prompt(
        "json-fallback/v1",
        "json-fallback",
        "en",
        "tools told in the system text; a call is one fenced JSON object",
        json_fallback_text,
        _FENCED,
    ),
    Prompt(
        "json-fallback-zh/v1",
        "json-fallback",
        "zh",
        "the same in Chinese",
        json_fallback_text,
        _FENCED,
    ),
)
PROMPTS: Final[dict[str, Prompt]] = {prompt.id: prompt for prompt in _ALL}


def find_prompt(prompt_id: str) -> Prompt:
    """Return the prompt of this id.

    Raises:
        UsageError: there is none.
    """
    prompt = PROMPTS.get(prompt_id)
    if prompt is None:
        raise UsageError(f"no prompt is called {prompt_id!r}", hint=f"Known: {', '.join(PROMPTS)}.")
    return prompt


def system_text(prompt: Prompt, tools: Sequence[Tool], base_system: str = "") -> str:
    """Return the system text of a request that asks in this way.

    Args:
        prompt: of `PROMPTS`.
        tools: those that may be called; without any, nothing is told of calls.
        base_system: the application's own system text, which comes first; "" for that of a
            plain assistant.
    """
    return prompt.build(tuple(tools), base_system, prompt.language)
