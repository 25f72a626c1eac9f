"""The languages of prompts, and the words that the suite's agents use in each of them.

`texts/LANGUAGE.toml` contains the words, so that a language is one file.
"""

from importlib import resources
from typing import Final, Literal, get_args

import msgspec

Language = Literal["en", "zh"]


class DescriptionTexts(msgspec.Struct, frozen=True):
    """The words of a tool's description in one language; a value replaces `{}`."""

    parameters: str
    no_parameters: str
    required: str
    optional: str
    separator: str
    colon: str
    one_of: str
    always: str
    default: str
    at_least: str
    at_most: str
    format: str
    option: str
    more: str


class ResultTexts(msgspec.Struct, frozen=True):
    """The words around results in one language."""

    results: str
    source: str
    content: str
    summary: str
    untitled: str
    empty: str
    none_found: str
    cut: str
    cut_entries: str
    failed: str


class RefusalTexts(msgspec.Struct, frozen=True):
    """The sentences of one language, with placeholders in braces."""

    unknown: str
    invalid: str
    unusable: str
    one_at_a_time: str
    not_executed: str
    again: str
    last_time: str
    cut: str
    provider: str
    example: str
    calls: dict[str, str]


class Texts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words of one language.

    Fields:
        assistant: the system text if the application has none.
        native_tools: version -> the text that is added to it if the request declares the tools.
        sentence_space: the text between two sentences.
        results_lead: the first line of a user message that contains results.
        results_request: protocol -> the request to answer from these results.
        system: protocol -> the system text; `{tools}` is replaced by the descriptions of the tools.
    """

    assistant: str
    native_tools: dict[str, str]
    sentence_space: str
    results_lead: str
    results_request: dict[str, str]
    description: DescriptionTexts
    result: ResultTexts
    refusal: RefusalTexts
    system: dict[str, str]


def _load(language: str) -> Texts:
    path = resources.files(__package__) / "texts" / f"{language}.toml"
    return msgspec.toml.decode(path.read_text(encoding="utf-8"), type=Texts)


TEXTS: Final[dict[Language, Texts]] = {each: _load(each) for each in get_args(Language)}
