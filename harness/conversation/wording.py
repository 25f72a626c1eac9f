"""The languages of prompts, and the words that every prompt needs in each of them."""

from typing import Final, Literal

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


# The system text if the application has none.
ASSISTANT: Final[dict[Language, str]] = {
    "en": "You are a helpful assistant.",
    "zh": "你是一个乐于助人的助手。",
}
DESCRIPTION_TEXTS: Final[dict[Language, DescriptionTexts]] = {
    "en": DescriptionTexts(
        parameters="Parameters:",
        no_parameters="Parameters: none",
        required="required",
        optional="optional",
        separator=", ",
        colon=": ",
        one_of="one of {}",
        always="always {}",
        default="default {}",
        at_least="at least {}",
        at_most="at most {}",
        format="format {}",
        option="option {}",
        more="and {} more",
    ),
    "zh": DescriptionTexts(
        parameters="参数：",
        no_parameters="参数：无",
        required="必需",
        optional="可选",
        separator=", ",
        colon=": ",
        one_of="取值 {}",
        always="固定为 {}",
        default="默认 {}",
        at_least="不小于 {}",
        at_most="不大于 {}",
        format="格式 {}",
        option="形式 {}",
        more="另有 {} 个",
    ),
}
