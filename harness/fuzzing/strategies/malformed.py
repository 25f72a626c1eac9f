"""Draw texts that are not valid arguments, by class, as models and gateways sent them.

None of them is a single object in strict JSON. A client that executes a call with one of them has
repaired, guessed or invented arguments.
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
# A call in a broken text: a client that searches for one finds it.
_INNER: Final = '{"name": "get_weather", "arguments": {"city": "Bergen"}}'
_AROUND_CALL: Final = (("{]", ""), ("{", "}"), ('{"call": ', ""), ("call: ", ""))
_COMMENTS: Final = (" // the city\n}", " /* all */}", " # all\n}")
_BAD_ESCAPES: Final = (r"C:\path", r"\d+", r"\x41", r"\'", r"\u12", "\\")
_FENCE_LABELS = st.sampled_from(("json", "", "JSON"))
_CONTROLS: Final = ("\n", "\t", "\0", "\x1b")


class Malformed(msgspec.Struct, frozen=True):
    """A text that is not valid arguments, and the name of its class."""

    kind: str
    text: str


def malformed_arguments(schema: Schema, *kinds: str) -> SearchStrategy[Malformed]:
    """Return a strategy for unusable argument texts, made from arguments that fit `schema`.

    Args:
        schema: the JSON Schema of a tool's parameters.
        kinds: the names of `CLASSES` to draw from; by default, all of them.
    """
    return _malformed(arguments(schema), kinds or tuple(CLASSES))


@st.composite
def _malformed(
    draw: DrawFn, values: SearchStrategy[dict[str, Any]], kinds: tuple[str, ...]
) -> Malformed:
    kind = draw(st.sampled_from(kinds))
    # Most classes need a member to break.
    value = draw(values) or {"city": "Oslo"}
    text = CLASSES[kind](draw, value)
    if not text.strip() or parse(text).value is not None:
        text = f"{kind}: {text}"  # prose, whatever else it is
    return Malformed(kind, text)


def _truncated(draw: DrawFn, value: dict[str, Any]) -> str:
    text = json_text(value)
    return text[: draw(st.integers(1, len(text) - 1))]


def _concatenated(draw: DrawFn, value: dict[str, Any]) -> str:
    other = draw(st.sampled_from((value, {}, {"city": "Bergen"})))
    return json_text(value) + draw(st.sampled_from(("", "\n", " ", ","))) + json_text(other)


def _trailing_text(draw: DrawFn, value: dict[str, Any]) -> str:
    more = ("</tool_call>", "<|im_end|>", " Done.", "}", "]", "\n```", "<｜tool▁call▁end｜>")
    return json_text(value) + draw(st.sampled_from(more))


def _unquoted_keys(_draw: DrawFn, value: dict[str, Any]) -> str:
    members = (f"k{index}: {json_text(each)}" for index, each in enumerate(value.values()))
    return "{" + ", ".join(members) + "}"


def _not_a_number(draw: DrawFn, value: dict[str, Any]) -> str:
    numbers = ("NaN", "Infinity", "-Infinity", "01", "+1", ".5", "0x1F", "1_000")
    return f'{json_text(value)[:-1]}, "limit": {draw(st.sampled_from(numbers))}}}'


def _wrong_type(draw: DrawFn, value: dict[str, Any]) -> str:
    others: tuple[Any, ...] = ([], [value], "Oslo", 7, None, False, [[]])
    return json_text(draw(st.sampled_from(others)))


def _duplicate_keys(_draw: DrawFn, value: dict[str, Any]) -> str:
    name = json.dumps(next(iter(value)))
    return f'{json_text(value)[:-1]}, {name}: "other"}}'


def _call_within(draw: DrawFn, _value: dict[str, Any]) -> str:
    before, after = draw(st.sampled_from(_AROUND_CALL))
    return f"{before}{_INNER}{after}"


CLASSES: Final[dict[str, Break]] = {
    "truncated": _truncated,
    "prose": lambda draw, _: draw(st.sampled_from(_PROSE)),
    "concatenated": _concatenated,
    "trailing-text": _trailing_text,
    "trailing-comma": lambda _, value: json_text(value)[:-1] + ",}",
    "single-quotes": lambda _, value: json_text(value).replace('"', "'"),
    "python-literal": lambda _, value: repr({**value, "ok": True, "nothing": None}),
    "unquoted-keys": _unquoted_keys,
    "unquoted-value": lambda *_: '{"city": Oslo}',
    "fenced": lambda draw, value: f"```{draw(_FENCE_LABELS)}\n{json_text(value)}\n```",
    "doubly-encoded": lambda _, value: json.dumps(json_text(value)),
    "byte-order-mark": lambda _, value: "\ufeff" + json_text(value),
    "not-a-number": _not_a_number,
    "expression": lambda *_: '{"limit": 2 + 3}',
    "wrong-top-type": _wrong_type,
    "duplicate-keys": _duplicate_keys,
    "control-characters": lambda draw, _: f'{{"city": "Os{draw(st.sampled_from(_CONTROLS))}lo"}}',
    "bad-escape": lambda draw, _: f'{{"path": "{draw(st.sampled_from(_BAD_ESCAPES))}"}}',
    "comments": lambda draw, value: json_text(value)[:-1] + draw(st.sampled_from(_COMMENTS)),
    "smart-quotes": lambda *_: "{“city”: “Oslo”}",
    "unescaped-quote": lambda *_: '{"query": "say "hi" to all"}',
    "extra-brace": lambda _, value: json_text(value) + "}",
    "missing-brace": lambda _, value: json_text(value)[:-1],
    "call-within": _call_within,
}
