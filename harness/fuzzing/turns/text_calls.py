"""Generate answers with text calls, made of parts with a known meaning.

The oracle does not judge text with markup, so the expected result comes from the parts: text,
calls, a call that cannot be parsed, and markup that is not a call because it is in code, in
quotation marks or in reasoning. Only text dialects whose markers count anywhere have such parts.
All text dialects have complete answers, and answers in which a string quotes a call. If such an
answer is truncated, or its JSON is broken, the client must not emit another call than the one that
the model wrote.
"""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from harness.dialects.table import DIALECTS
from harness.fuzzing.found import Parent
from harness.fuzzing.strategies import chunkings, texts_with_calls
from harness.fuzzing.turns.evaluate import Trial, unchanged
from harness.fuzzing.turns.seeds import Seed
from harness.normalizers.protocol import Normalizer
from harness.results.expectation import ALL_FIELDS, Expectation, ExpectedCall, ExpectedRejection
from harness.text_calls import TEXT_DIALECTS, WrittenCall
from harness.turns.deltas import Delta, Finish, FinishReason, TextDelta
from harness.turns.turn import Tool
from harness.wire.interaction import Request

PARENT: Final = "spoken"

_DIALECT: Final = "openai-chat"
_POLICIES: Final = {"code": "text", "reasoning": "drafts"}
_PARAMETERS: Final[dict[str, dict[str, Any]]] = {
    "get_weather": {"city": {"type": "string"}},
    "search": {"query": {"type": "string"}},
    "plan_trip": {
        "days": {"type": "integer"},
        "budget": {"type": "number"},
        "direct": {"type": "boolean"},
        "cities": {"type": "array", "items": {"type": "string"}},
        "options": {
            "type": "object",
            "properties": {"count": {"type": "integer"}, "label": {"type": "string"}},
            "additionalProperties": False,
        },
        "mode": {"enum": ["train", "bus"]},
    },
}
_TOOLS: Final = tuple(
    {"name": name, "description": "", "parameters": {"type": "object", "properties": properties}}
    for name, properties in _PARAMETERS.items()
)
# Parts reveal more kinds of bugs than calls with text around them.
_PARTS_FOR_A_REPLY: Final = 3
# How often text is repeated: the last is longer than the text that a client may hold back.
_TIMES: Final = (1, 3, 20)
_QUERIES: Final = ('{"query": "Oslo"}', "{}")
_AROUND_QUOTED: Final = (
    ("", ""), ("Use ", " as shown"), ('say "', '" now'), ("\n\n", "\n"), ("```\n", "\n```"),
)  # fmt: skip
# What a model forgets to escape in a string; each is (escape, character).
_UNESCAPED: Final = ((), (("\\n", "\n"),), (('\\"', '"'),), (("\\n", "\n"), ('\\"', '"')))
OFFERED: Final = tuple(msgspec.convert(tool, Tool) for tool in _TOOLS)
_JUDGED: Final = ALL_FIELDS - {"finish_raw", "usage"}


class TextPart(msgspec.Struct, frozen=True):
    """A part of an answer and what it means.

    Fields:
        text: the part as the model writes it.
        shown: the text that the user sees.
        thought: the reasoning in it.
        calls, rejected: the calls to emit, and those to report as parse errors.
    """

    text: str
    shown: str = ""
    thought: str = ""
    calls: tuple[ExpectedCall, ...] = ()
    rejected: tuple[ExpectedRejection, ...] = ()


def readable_text_dialects(normalizer: Normalizer) -> tuple[str, ...]:
    """Return the text dialects that `normalizer` declares; () if its policies do not fit."""
    declared = normalizer.policies
    as_expected = all(declared.get(name, value) == value for name, value in _POLICIES.items())
    if not as_expected or _DIALECT not in normalizer.dialects:
        return ()
    return tuple(name for name in TEXT_DIALECTS if name in normalizer.text_dialects)


def text_call_trials(text_dialects: Sequence[str]) -> SearchStrategy[Trial]:
    """Return a strategy for answers in `text_dialects`, in parts of any length, with any cuts."""
    any_dialect = st.sampled_from(text_dialects)
    quotations = st.tuples(any_dialect, any_dialect).flatmap(lambda each: _quotation(*each))
    anywhere = [name for name in text_dialects if _counts_anywhere(name)]
    parts = (st.sampled_from(anywhere).flatmap(_parts),) * _PARTS_FOR_A_REPLY if anywhere else ()
    return st.one_of(*parts, any_dialect.flatmap(_reply), quotations)


def _counts_anywhere(text_dialect: str) -> bool:
    dialect = TEXT_DIALECTS[text_dialect]
    return dialect.explicit and not dialect.begins_line


@st.composite
def _parts(draw: DrawFn, text_dialect: str) -> Trial:
    some = st.lists(_parts_of(text_dialect), min_size=1, max_size=3)
    parts = [*draw(_starts_of(text_dialect)), *draw(some), *draw(_TAILS)]
    return _draw_trial(draw, parts, text_dialect)


@st.composite
def _reply(draw: DrawFn, text_dialect: str) -> Trial:
    reply = draw(texts_with_calls(text_dialect, OFFERED, most_blocks=2))
    calls = tuple(map(_expected_call, reply.calls))
    return _draw_trial(
        draw, [TextPart(reply.text, "".join(reply.words), calls=calls)], text_dialect
    )


@st.composite
def _quotation(draw: DrawFn, text_dialect: str, quoted: str) -> Trial:
    text, call = draw(quoting_calls(text_dialect, quoted))
    part = TextPart(text[: draw(st.integers(1, len(text)))], calls=(_expected_call(call),))
    return _draw_trial(draw, [part], text_dialect, at_most=True)


@st.composite
def quoting_calls(draw: DrawFn, text_dialect: str, quoted: str) -> tuple[str, WrittenCall]:
    """Draw a call of `get_weather` whose string quotes a call of `search`; return text and call.

    Args:
        draw: the function of Hypothesis.
        text_dialect: the text dialect of the text; escapes may be missing in it.
        quoted: the text dialect of the quoted call.
    """
    before, after = draw(st.sampled_from(_AROUND_QUOTED))
    inner = TEXT_DIALECTS[quoted].write([WrittenCall("search", draw(st.sampled_from(_QUERIES)))])
    outer = WrittenCall("get_weather", json.dumps({"city": f"{before}{inner}{after}"}))
    text = TEXT_DIALECTS[text_dialect].write([outer])
    # A token of Harmony outside a string begins a message, so that its strings stay closed.
    missing = _UNESCAPED[:2] if text_dialect == quoted == "harmony" else _UNESCAPED
    for escape, unescaped in draw(st.sampled_from(missing)):
        text = text.replace(escape, unescaped)
    return text, outer


def _expected_call(call: WrittenCall) -> ExpectedCall:
    text = call.arguments or "{}"
    return ExpectedCall(call.name, json.loads(text), arguments_text=text)


def _draw_trial(
    draw: DrawFn, parts: Sequence[TextPart], text_dialect: str, *, at_most: bool = False
) -> Trial:
    seed = text_call_seed(parts, draw(st.integers(1, 12)), text_dialect, at_most=at_most)
    cuts = (seed.interaction.recorded_cuts(), draw(chunkings(seed.interaction.body)))
    return Trial(seed, unchanged(seed), cuts)


def text_call_seed(
    parts: Sequence[TextPart],
    size: int,
    text_dialect: str,
    *,
    at_most: bool = False,
) -> Seed:
    """Return a seed with `parts` as one answer in `text_dialect`, in deltas of `size` characters.

    If `at_most` is true, the answer is truncated, and any of its calls may be missing.
    """
    text = "".join(part.text for part in parts)
    pieces = [TextDelta(text[at : at + size]) for at in range(0, len(text), size)]
    finish = Finish(FinishReason.LENGTH if at_most else FinishReason.STOP)
    deltas: list[Delta] = [*pieces, finish]
    request = _request_for(text_dialect)
    interaction = DIALECTS[_DIALECT].interaction(deltas, request=request, tools=_TOOLS)
    parent = Parent(PARENT, text_dialect=text_dialect, policies=_POLICIES)
    expected = _expected(parts)
    if at_most:
        expected = Expectation(
            "scenario", calls=expected.calls, calls_at_most=True, judged=frozenset()
        )
    return Seed(parent, interaction, expected)


def _request_for(text_dialect: str) -> Request:
    """Return a request whose prompt describes the text dialect if clients need that."""
    markers = " ".join(TEXT_DIALECTS[text_dialect].taught_by)
    if not markers:
        return Request()
    messages = [{"role": "system", "content": markers}]
    return Request(body=json.dumps({"model": "any", "stream": True, "messages": messages}).encode())


def _expected(parts: Sequence[TextPart]) -> Expectation:
    calls = tuple(call for part in parts for call in part.calls)
    rejected = tuple(each for part in parts for each in part.rejected)
    return Expectation(
        source="scenario",
        text="".join(part.shown for part in parts).strip(),
        reasoning="".join(part.thought for part in parts),
        calls=calls,
        rejected=rejected,
        finish=FinishReason.TOOL_CALLS if calls or rejected else FinishReason.STOP,
        judged=_JUDGED,
        has_text_calls=True,
        loose_space=True,
    )


def _words(text: str) -> TextPart:
    return TextPart(text, text)


def _markup(text_dialect: str, city: str) -> str:
    call = WrittenCall("get_weather", json.dumps({"city": city}, ensure_ascii=False))
    return TEXT_DIALECTS[text_dialect].write([call])


def _call(text_dialect: str, city: str) -> TextPart:
    text = _markup(text_dialect, city)
    return TextPart(f"\n{text}\n", "\n", calls=(ExpectedCall("get_weather", {"city": city}),))


def _twice(part: TextPart) -> TextPart:
    return TextPart(part.text * 2, part.shown, calls=part.calls * 2)


def _example(text_dialect: str, city: str) -> TextPart:
    return _words(f"\nFor example:\n```\n{_markup(text_dialect, city)}\n```\n")


def _in_code(text_dialect: str, city: str) -> TextPart:
    return _words(f"\nIt is written `{_markup(text_dialect, city)}` in code.\n")


def _broken(city: str) -> TextPart:
    inner = json.dumps({"name": "get_weather", "arguments": {"city": city}})
    text = f'<tool_call>\n{{"name": "search", "arguments": {{"query": {inner} oops}}\n</tool_call>'
    return TextPart(f"\n{text}\n", "\n", rejected=(ExpectedRejection(),))


def _thought(text_dialect: str, city: str) -> TextPart:
    draft = f"Maybe {_markup(text_dialect, city)}? No."
    return TextPart(f"<think>{draft}</think>\n", "\n", draft)


def _quoted(text_dialect: str, city: str) -> TextPart:
    return _words(f'\nThe model wrote "{_markup(text_dialect, city)}" here.\n')


_CITIES = st.sampled_from(["Oslo", "北京", "007", "true"])
_WORDS: SearchStrategy[TextPart] = (
    st.sampled_from(["Below <0 degrees it snows. ", "Schöner Schnee, 春天来了。 "])
    .flatmap(lambda text: st.sampled_from(_TIMES).map(lambda times: text * times))
    .map(_words)
)
_NONE: SearchStrategy[list[TextPart]] = st.just([])
_TAILS = _NONE | st.sampled_from([" <", " <tool", " ["]).map(lambda it: [_words(it)])


def _parts_of(text_dialect: str) -> SearchStrategy[TextPart]:
    """Return a strategy for the parts that may be between the start and the end of an answer."""
    calls = _CITIES.map(partial(_call, text_dialect))
    broken = (_CITIES.map(_broken),) if text_dialect == "tagged-json" else ()
    examples = (_CITIES.map(partial(it, text_dialect)) for it in (_example, _in_code, _quoted))
    return st.one_of(_WORDS, calls, calls.map(_twice), *examples, *broken)


def _starts_of(text_dialect: str) -> SearchStrategy[list[TextPart]]:
    """Return a strategy for the first parts. After reasoning, a client may hold back much text."""
    thoughts = _CITIES.map(partial(_thought, text_dialect))
    return _NONE | (thoughts | _WORDS).map(lambda part: [part])
