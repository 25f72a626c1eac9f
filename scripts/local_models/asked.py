"""What is asked: `prompts.yaml` as values, one language at a time.

A question is one row of the file in one language; its toolbox and the two examples come along.
"""

from functools import cache
from pathlib import Path
from typing import Any, Final

import msgspec

from harness.conversation.wording import Language
from harness.files import yaml_text
from harness.turns.turn import Tool
from harness.wire.interaction import Due

FILE: Final = Path(__file__).with_name("prompts.yaml")
LANGUAGES: Final[tuple[Language, ...]] = ("en", "zh")

Words = dict[Language, str]


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question and the one call that answers it."""

    ask: Words
    name: str
    arguments: dict[Language, dict[str, Any]]


class _Tool(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    description: Words
    parameters: dict[str, Any]


class Toolbox(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Tools that are offered together, and the examples that show two of them."""

    tools: tuple[_Tool, ...]
    examples: tuple[Example, ...]

    def offered(self, language: Language) -> tuple[Tool, ...]:
        """Return the tools with their descriptions in one language."""
        return tuple(Tool(it.name, it.description[language], it.parameters) for it in self.tools)


class Question(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One question; `due` is what it needs, a call or an answer."""

    toolbox: str
    due: Due
    ask: Words


class Talk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Questions of one conversation, each asked when the one before is answered."""

    toolbox: str
    ask: dict[Language, tuple[str, ...]]


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file; `returns` is what each tool gives back, whatever it is called with."""

    toolboxes: dict[str, Toolbox]
    tasks: dict[str, Question]
    conversations: dict[str, Talk]
    returns: dict[str, dict[str, Any] | list[Any]]


@cache
def asked() -> Asked:
    """Return what is asked."""
    return msgspec.convert(yaml_text.load_yaml(FILE.read_bytes(), str(FILE)), Asked)
