"""The versioned prompts that tell a model how to call tools, by id. Rankings compare them.

The text of an id never changes. Another wording is another version, so that the prompt of a
cassette shows the text that its model got.

- `native-tools`: the request's own field declares the tools, so the system text says little. From
  v2 on it asks for parameters and for no JSON, since models write calls into their text too.
- `tag-tools`: each call is a JSON object between `<tool_call>` tags in the answer's text, for
  models without a field for tools. The tags are those of Hermes and Qwen, which many models know
  from training.
- `action-protocol`: the complete reply is one JSON object that calls tools or contains the answer,
  for services that guarantee JSON and nothing else.
- `react`: thoughts and actions as labelled lines, one action at a time, for models that were
  trained on ReAct.
- `json-fallback`: one code block of JSON is one call, for providers without a field for tools. A
  reply contains one call, because weak models make errors in longer ones. It is deprecated: a
  provider with tools gets `native-tools`.
"""

from collections.abc import Iterator, Sequence
from importlib import resources
from typing import Final, Literal

import msgspec

from harness.conversation.prompts.descriptions import describe
from harness.conversation.wording import TEXTS, Language
from harness.errors import UsageError
from harness.turns.turn import Tool

Protocol = Literal["native-tools", "tag-tools", "action-protocol", "react", "json-fallback"]


class Prompt(msgspec.Struct, frozen=True):
    """A version of a prompt that tells the model how to call tools.

    Fields:
        id: the id, such as `tag-tools-zh/v1`.
        title: one line that describes the prompt in lists.
        text_dialects: text dialects of the calls in a reply; empty if the API has a field for
            calls.
        deprecated: whether it is only for providers without a field for tools.
    """

    id: str
    protocol: Protocol
    language: Language
    title: str
    text_dialects: tuple[str, ...] = ()
    deprecated: bool = False

    @property
    def version(self) -> str:
        """The last part of the id, such as `v1`."""
        return self.id.rpartition("/")[2]

    @property
    def describes_tools(self) -> bool:
        """Whether the system text describes the tools, instead of a field of the request."""
        return self.protocol != "native-tools"


class _Declared(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The fields of a prompt in `prompts.toml`, which all its languages share."""

    protocol: Protocol
    title: str
    version: str = "v1"
    text_dialects: tuple[str, ...] = ()
    deprecated: bool = False

    def prompts(self) -> Iterator[Prompt]:
        """Yield the prompt in English and, if there is a text for it, in Chinese."""
        common = (self.text_dialects, self.deprecated)
        english = f"{self.protocol}/{self.version}"
        yield Prompt(english, self.protocol, "en", self.title, *common)
        if self.protocol == "native-tools" or self.protocol in TEXTS["zh"].system:
            title = f"{self.title}; system text in Chinese"
            yield Prompt(f"{self.protocol}-zh/{self.version}", self.protocol, "zh", title, *common)


_TEXT = resources.files(__package__).joinpath("prompts.toml").read_text(encoding="utf-8")
_DECLARED: Final = msgspec.toml.decode(_TEXT, type=dict[str, tuple[_Declared, ...]])["prompts"]
PROMPTS: Final[dict[str, Prompt]] = {
    prompt.id: prompt for declared in _DECLARED for prompt in declared.prompts()
}
# Of a task, a recording or a cassette that names none.
DEFAULT_PROMPT: Final = "native-tools/v2"


def find_prompt(prompt_id: str) -> Prompt:
    """Return the prompt with this id.

    Raises:
        UsageError: no prompt has this id.
    """
    prompt = PROMPTS.get(prompt_id)
    if prompt is None:
        raise UsageError(
            f"unknown prompt {prompt_id!r}", hint=f"Choose one of: {', '.join(PROMPTS)}."
        )
    return prompt


def newest_prompt(protocol: Protocol, language: Language) -> Prompt:
    """Return the newest version of the prompt with this protocol and language."""
    fitting = (each for each in PROMPTS.values() if each.protocol == protocol)
    return [each for each in fitting if each.language == language][-1]


def system_text(prompt: Prompt, tools: Sequence[Tool], base_system: str = "") -> str:
    """Return the system text of a request with this prompt.

    Args:
        prompt: one of `PROMPTS`.
        tools: the tools that may be called; without tools, the text does not mention calls.
        base_system: the application's system text, which comes first; if it is "", the text
            introduces a simple assistant.
    """
    texts = TEXTS[prompt.language]
    base = base_system or texts.assistant
    if not prompt.describes_tools:
        between = "\n\n" if base_system else texts.sentence_space
        return f"{base}{between}{texts.native_tools[prompt.version]}"
    if not tools:
        return base
    text = texts.system[prompt.protocol].replace("{tools}", describe(tools, prompt.language))
    return f"{base}\n\n{text}"
