"""Argument texts that are no arguments, by class: what models and gateways really sent.

Each text is certainly unusable: strict JSON finds no one object in it. A client that runs a
call with one of them has repaired, guessed or invented.
"""

import json
from collections.abc import Callable
from typing import Any, Final, TypeAlias

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from harness.fuzzing.strategies.arguments import Schema, arguments, json_text
from harness.turns.arguments import parse

Break: TypeAlias = Callable[[DrawFn, dict[str, Any]], str]

_PROSE: Final = (
    "杭州天气", "我来查一下天气。", "погода в Осло", "the weather in Oslo", "I will search for it.",
    "Sure! ", "None", "undefined", "{city}", "city=Oslo", "get_weather(city='Oslo')",
    "[object Object]",
)  # fmt: skip
# A call within: a client that looks for one finds it.
_INNER: Final = '{"name": "get_weather", "arguments": {"city": "Bergen"}}'


class Malformed(msgspec.Struct, frozen=True):
    """One text and the class it is of."""

    kind: str
    text: str


def malformed_arguments(schema: Schema, *kinds: str) -> SearchStrategy[Malformed]:
    """Return unusable argument texts, made of arguments that fit `schema`.

    Args:
        schema: the JSON Schema of a tool's parameters.
        kinds: names of `CLASSES` to draw from; all of them where none is given.
    """
    return _malformed(arguments(schema), kinds or tuple(CLASSES))


@st.composite
def _malformed(
    draw: DrawFn, values: SearchStrategy[dict[str, Any]], kinds: tuple[str, ...]
) -> Malformed:
    kind = draw(st.sampled_from(kinds))
    # Empty arguments cannot be broken in most of the ways.
    value = draw(values) or {"city": "Oslo"}
    text = CLASSES[kind](draw, value)
    if not text.strip() or parse(text).value is not None:
        text = f"{kind}: {text}"  # prose, whatever else it is
    return Malformed(kind, text)


def _truncated(draw: DrawFn, value: dict[str, Any]) -> str:
    text = json_text(value)
    return text[: draw(st.integers(1, len(text) - 1))]


def _prose(draw: DrawFn, _value: dict[str, Any]) -> str:
    return draw(st.sampled_from(_PROSE))


def _concatenated(draw: DrawFn, value: dict[str, Any]) -> str:
    other = draw(st.sampled_from((value, {}, {"city": "Bergen"})))
    return json_text(value) + draw(st.sampled_from(("", "\n", " ", ","))) + json_text(other)


def _trailing_text(draw: DrawFn, value: dict[str, Any]) -> str:
    more = ("</tool_call>", "<|im_end|>", " Done.", "}", "]", "\n```", "<｜tool▁call▁end｜>")
    return json_text(value) + draw(st.sampled_from(more))


def _trailing_comma(_draw: DrawFn, value: dict[str, Any]) -> str:
    return json_text(value)[:-1] + ",}"


def _single_quotes(_draw: DrawFn, value: dict[str, Any]) -> str:
    return json_text(value).replace('"', "'")


def _python(_draw: DrawFn, value: dict[str, Any]) -> str:
    return repr({**value, "ok": True, "nothing": None})


def _unquoted_keys(_draw: DrawFn, value: dict[str, Any]) -> str:
    inside = ", ".join(f"k{place}: {json_text(each)}" for place, each in enumerate(value.values()))
    return "{" + inside + "}"


def _unquoted_value(_draw: DrawFn, _value: dict[str, Any]) -> str:
    return '{"city": Oslo}'


def _fenced(draw: DrawFn, value: dict[str, Any]) -> str:
    return f"```{draw(st.sampled_from(('json', '', 'JSON')))}\n{json_text(value)}\n```"


def _doubly_encoded(_draw: DrawFn, value: dict[str, Any]) -> str:
    return json.dumps(json_text(value))


def _byte_order_mark(_draw: DrawFn, value: dict[str, Any]) -> str:
    return "\ufeff" + json_text(value)


def _not_a_number(draw: DrawFn, value: dict[str, Any]) -> str:
    word = draw(
        st.sampled_from(("NaN", "Infinity", "-Infinity", "01", "+1", ".5", "0x1F", "1_000"))
    )
    return f'{json_text(value)[:-1]}, "limit": {word}}}'


def _expression(_draw: DrawFn, _value: dict[str, Any]) -> str:
    return '{"limit": 2 + 3}'


def _wrong_type(draw: DrawFn, value: dict[str, Any]) -> str:
    others: tuple[Any, ...] = ([], [value], "Oslo", 7, None, False, [[]])
    return json_text(draw(st.sampled_from(others)))


def _duplicate_keys(_draw: DrawFn, value: dict[str, Any]) -> str:
    name = json.dumps(next(iter(value)))
    return f'{json_text(value)[:-1]}, {name}: "other"}}'


def _control_characters(draw: DrawFn, _value: dict[str, Any]) -> str:
    raw = draw(st.sampled_from(("\n", "\t", "\0", "\x1b")))
    return f'{{"city": "Os{raw}lo"}}'


def _bad_escape(draw: DrawFn, _value: dict[str, Any]) -> str:
    escape = draw(st.sampled_from((r"C:\path", r"\d+", r"\x41", r"\'", r"\u12", "\\")))
    return f'{{"path": "{escape}"}}'


def _comments(draw: DrawFn, value: dict[str, Any]) -> str:
    return json_text(value)[:-1] + draw(
        st.sampled_from((" // the city\n}", " /* all */}", " # all\n}"))
    )


def _smart_quotes(_draw: DrawFn, _value: dict[str, Any]) -> str:
    return "{“city”: “Oslo”}"


def _unescaped_quote(_draw: DrawFn, _value: dict[str, Any]) -> str:
    return '{"query": "say "hi" to all"}'


def _extra_brace(_draw: DrawFn, value: dict[str, Any]) -> str:
    return json_text(value) + "}"


def _missing_brace(_draw: DrawFn, value: dict[str, Any]) -> str:
    return json_text(value)[:-1]


def _call_within(draw: DrawFn, _value: dict[str, Any]) -> str:
    before, after = draw(
        st.sampled_from((("{]", ""), ("{", "}"), ('{"call": ', ""), ("call: ", "")))
    )
    return f"{before}{_INNER}{after}"


CLASSES: Final[dict[str, Break]] = {
    "truncated": _truncated,
    "prose": _prose,
    "concatenated": _concatenated,
    "trailing-text": _trailing_text,
    "trailing-comma": _trailing_comma,
    "single-quotes": _single_quotes,
    "python-literal": _python,
    "unquoted-keys": _unquoted_keys,
    "unquoted-value": _unquoted_value,
    "fenced": _fenced,
    "doubly-encoded": _doubly_encoded,
    "byte-order-mark": _byte_order_mark,
    "not-a-number": _not_a_number,
    "expression": _expression,
    "wrong-top-type": _wrong_type,
    "duplicate-keys": _duplicate_keys,
    "control-characters": _control_characters,
    "bad-escape": _bad_escape,
    "comments": _comments,
    "smart-quotes": _smart_quotes,
    "unescaped-quote": _unescaped_quote,
    "extra-brace": _extra_brace,
    "missing-brace": _missing_brace,
    "call-within": _call_within,
}
