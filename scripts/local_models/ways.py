"""How a question is put: a prompt of the suite, its examples, and what the request adds.

A prompt's id is that of `harness list prompts`, with what was added behind it: `+examples`, two
worked examples as turns of user and assistant in front of the question; `+grammar`, the
server may only write JSON that fits a schema (`response_format`); `+talk`, turns of whole
conversations, without expected answers; `+responses` and `+messages`, another API of the
server than chat completions; `+thinking`, the generation prompt opens the reasoning. Without a
suffix, it is the prompt alone.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec

from harness.conversation.channel import assistant_text
from harness.conversation.prompts import Prompt, find_prompt
from harness.conversation.wording import Language
from harness.turns.deltas import ToolCall
from harness.turns.messages import Message, assistant, user
from harness.turns.turn import Tool, Turn
from scripts.local_models.asked import Toolbox

Spell = Callable[[Prompt, ToolCall], Message]


class Api(msgspec.Struct, frozen=True):
    """An API of a server.

    Fields:
        name: a part of the names of files and prompts; "" for chat completions.
        dialect, path: its wire format, and its address below the server's `/v1`.
        options: fields of each request that limit the answer and request the usage.
    """

    name: str
    dialect: str
    path: str
    options: Mapping[str, Any]


MOST_TOKENS: Final = 72
CHAT: Final = Api(
    "",
    "openai-chat",
    "chat/completions",
    {"max_tokens": MOST_TOKENS, "stream_options": {"include_usage": True}},
)
RESPONSES: Final = Api(
    "responses", "openai-responses", "responses", {"max_output_tokens": MOST_TOKENS}
)
MESSAGES: Final = Api("messages", "anthropic", "messages", {"max_tokens": MOST_TOKENS})


class Way(msgspec.Struct, frozen=True):
    """One prompt protocol, in both languages.

    Fields:
        protocol: of the prompt, such as `tag-tools`.
        agent: the agent of the suite that has conversations in this way.
        grammar: whether the reply is held to a schema.
        has_examples: whether two worked examples come before the question.
    """

    protocol: str
    agent: str = ""
    grammar: bool = False
    has_examples: bool = True

    def prompt(self, language: Language) -> Prompt:
        """Return the prompt that gives the system text."""
        return find_prompt(f"{self.protocol}{'' if language == 'en' else '-zh'}/v1")

    def prompt_id(self, language: Language) -> str:
        """Return the id that stands in the cassette."""
        examples = "+examples" if self.has_examples else ""
        return f"{self.prompt(language).id}{examples}{'+grammar' if self.grammar else ''}"

    def name(self, language: Language) -> str:
        """Return the part of a file's name that tells the way and the language."""
        examples = "" if self.has_examples else "-no-examples"
        return f"{'grammar' if self.grammar else self.protocol}{examples}-{language}"

    def examples(self, toolbox: Toolbox, language: Language) -> list[Message]:
        """Return the turns in front of the question."""
        if not self.has_examples:
            return []
        prompt = self.prompt(language)
        spell = _bare if self.grammar else _taught if prompt.describes_tools else _native
        turns: list[Message] = []
        for place, example in enumerate(toolbox.examples):
            arguments = json.dumps(example.arguments[language], ensure_ascii=False)
            call = ToolCall(f"example{place}", example.name, arguments)
            turns += (user(example.ask[language]), spell(prompt, call))
        return turns

    def options(self, tools: Sequence[Tool]) -> dict[str, Any]:
        """Return the fields that the request has more."""
        return {"response_format": _one_call(tools)} if self.grammar else {}


WAYS: Final = {
    "native": Way("native-tools", "gateway"),
    "grammar": Way("json-fallback", grammar=True),
    "fenced": Way("json-fallback", "gateway"),
    "tag": Way("tag-tools", "tag-loop"),
    "action": Way("action-protocol", "action-loop"),
    "fenced-alone": Way("json-fallback", "gateway", has_examples=False),
    "tag-alone": Way("tag-tools", has_examples=False),
    "action-alone": Way("action-protocol", has_examples=False),
}


def _native(prompt: Prompt, call: ToolCall) -> Message:
    del prompt
    return assistant(None, (call,))


def _taught(prompt: Prompt, call: ToolCall) -> Message:
    return assistant(assistant_text(prompt, Turn(tool_calls=(call,))))


def _bare(prompt: Prompt, call: ToolCall) -> Message:
    del prompt
    return assistant(f'{{"name": "{call.name}", "arguments": {call.arguments}}}')


def _one_call(tools: Sequence[Tool]) -> dict[str, Any]:
    """Return a schema for one call: a name that fits, and any object as its arguments."""
    names = [tool.name for tool in tools]
    schema = {
        "type": "object",
        "properties": {"name": {"enum": names}, "arguments": {"type": "object"}},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": "call", "schema": schema}}
