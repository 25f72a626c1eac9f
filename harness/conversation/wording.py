"""Load the texts that the suite's agents send to models, in each language of the prompts.

`texts/LANGUAGE.toml` contains the texts, so that a language is one file.
"""

from importlib import resources
from typing import Final, Literal, get_args

import msgspec

Language = Literal["en", "zh"]


class DescriptionTexts(msgspec.Struct, frozen=True):
    """The words for the description of a tool in one language; `{}` stands for a value."""

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
    """The words that surround results of tools in one language."""

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
    """The sentences for refused calls and retries in one language, with placeholders in braces."""

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
    """All texts for models in one language.

    Fields:
        assistant: the system text if the application has none.
        native_tools: version of the prompt -> the text that is added to the system text if the
            request declares the tools.
        sentence_space: the text between two sentences.
        results_lead: the first line of a user message that contains results.
        results_request: protocol -> the sentence that asks the model to answer from these results.
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
