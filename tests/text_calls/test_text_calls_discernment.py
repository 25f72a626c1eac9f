"""Quoted, fenced and drafted markup of every text dialect: never a call, never lost.

Each dialect's own `write` spells what must not run, and all dialects read it at once.
"""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.text_calls import MARKERS, TEXT_DIALECTS, TextPolicy
from harness.text_calls.dialect import Offered, WrittenCall
from harness.text_calls.scanner import Scanner
from harness.turns.deltas import FinishReason
from harness.turns.turn import Turn
from tests.text_calls.round_trip import SIZES, TOOLS, read

_ALL = tuple(TEXT_DIALECTS)
_EACH = pytest.mark.parametrize("name", _ALL)
# Of ReAct's two lines only the first can follow a quotation mark.
_QUOTABLE = pytest.mark.parametrize("name", [name for name in _ALL if name != "react"])
_AMONG_WORDS = pytest.mark.parametrize(
    "name", [name for name, it in TEXT_DIALECTS.items() if not it.whole]
)
_VALUES = st.lists(
    st.sampled_from(["Oslo", "a b", "中文", "🙂", "007", "é", "x\ny", "1 < 2", "it's"]), max_size=3
).map(" ".join)
_ARGUMENTS = st.fixed_dictionaries(
    {"city": _VALUES}, optional={"n": st.integers(), "query": _VALUES}
)
_CALL = st.builds(
    lambda name, value: WrittenCall(name, json.dumps(value, ensure_ascii=False)),
    st.sampled_from(["get_weather", "search", "f"]),
    _ARGUMENTS,
)
_CALLS = st.lists(_CALL, min_size=1, max_size=2)
_WORDS = st.sampled_from(["Like this:", "例如：", "So\n\n1. first", "It says 🙂"])
_INFO = st.sampled_from(["", "json", "xml", " text and more"])


def _assert_untouched(text: str, size: int) -> None:
    """Assert that `text` is shown as it is, and nothing runs."""
    turn = read(text, _ALL, size)
    assert (turn.text, turn.reasoning, turn.tool_calls, turn.parse_errors) == (text, "", (), ())
    assert turn.finish is not None
    assert turn.finish.reason is FinishReason.STOP


def _meant(turn: Turn) -> list[tuple[str, object]]:
    return [(call.name, json.loads(call.arguments or "{}")) for call in turn.tool_calls]


def _fence(sign: str, inside: str) -> str:
    """Return a fence that is longer than any row of `sign` in `inside`."""
    longest = max(map(len, re.findall(f"{sign}+", inside)), default=0)
    return sign * max(3, longest + 1)


@_EACH
@given(_CALLS, _WORDS, _INFO, st.sampled_from("`~"), st.sampled_from(["", "  ", "    "]), SIZES)
def test_a_code_block_of_an_answer_runs_nothing(  # noqa: PLR0913, PLR0917 - one answer in parts
    name: str, calls: list[WrittenCall], words: str, info: str, sign: str, indent: str, size: int
) -> None:
    call = TEXT_DIALECTS[name].write(calls)
    fence = _fence(sign, call)
    _assert_untouched(f"{words}\n{indent}{fence}{info}\n{call}\n{indent}{fence}\nDone.", size)
    _assert_untouched(f"{words}\n{indent}{fence}{info}\n{call}", size)


@_EACH
@given(_CALLS, _WORDS, SIZES)
def test_a_block_quote_runs_nothing(
    name: str, calls: list[WrittenCall], words: str, size: int
) -> None:
    quoted = TEXT_DIALECTS[name].write(calls).replace("\n", "\n> ")
    _assert_untouched(f"{words}\n\n> {quoted}\n\nDone.", size)


@_EACH
@given(_CALL, _WORDS, st.integers(1, 2), SIZES)
def test_a_code_span_runs_nothing(
    name: str, call: WrittenCall, words: str, ticks: int, size: int
) -> None:
    spelled = TEXT_DIALECTS[name].write([call]).replace("\n", " ")
    longest = max(map(len, re.findall("`+", spelled)), default=0)
    marks = "`" * (longest + ticks)
    _assert_untouched(f"{words} {marks} {spelled} {marks} Done.", size)


@_QUOTABLE
@given(_CALL, _WORDS, st.sampled_from(['""', "''", "“”", "「」", "«»", "„“"]), SIZES)
def test_what_a_quotation_mark_opens_runs_nothing(
    name: str, call: WrittenCall, words: str, marks: str, size: int
) -> None:
    _assert_untouched(
        f"{words} {marks[0]}{TEXT_DIALECTS[name].write([call])}{marks[1]} Done.", size
    )


@_EACH
@given(_CALLS, SIZES)
def test_a_draft_in_think_tags_never_runs(name: str, calls: list[WrittenCall], size: int) -> None:
    draft = TEXT_DIALECTS[name].write(calls)
    turn = read(f"<think>\nSo\n{draft}\nor not.</think>\nDone.", _ALL, size)
    assert (turn.text.strip(), turn.tool_calls, turn.parse_errors) == ("Done.", (), ())
    assert turn.reasoning == f"\nSo\n{draft}\nor not."


@_EACH
@given(_CALLS, SIZES)
def test_a_draft_in_the_reasoning_channel_never_runs(
    name: str, calls: list[WrittenCall], size: int
) -> None:
    draft = f"So\n{TEXT_DIALECTS[name].write(calls)}\nor not."
    turn = read("Done.", _ALL, size, reasoning=draft)
    assert (turn.text, turn.tool_calls, turn.parse_errors) == ("Done.", (), ())
    assert turn.reasoning == draft


@_EACH
@given(_CALLS, SIZES)
def test_a_call_that_was_drafted_first_runs_once(
    name: str, calls: list[WrittenCall], size: int
) -> None:
    spelled = TEXT_DIALECTS[name].write(calls)
    turn = read(f"<think>\nSo\n{spelled}\n</think>\n\n{spelled}", _ALL, size)
    wanted = read(spelled, _ALL, size)
    assert _meant(turn) == _meant(wanted)
    assert (len(turn.tool_calls), turn.parse_errors) == (len(calls), ())


@_AMONG_WORDS
@given(_CALLS, SIZES)
def test_an_example_does_not_hide_the_call_after_it(
    name: str, calls: list[WrittenCall], size: int
) -> None:
    dialect = TEXT_DIALECTS[name]
    spelled = dialect.write(calls)
    fence = _fence("`", spelled)
    example = f"Not so:\n{fence}\n{spelled}\n{fence}\nBut so:\n"
    turn = read(example + spelled, _ALL, size)
    assert _meant(turn) == _meant(read(spelled, _ALL, size))
    assert turn.text.startswith(example.rstrip("\n"))


_PARTS = st.sampled_from(
    (*MARKERS, "```\n", "~~~", "`", '"', "> ", "\n", "{", '{"name": "f", "arguments": {}}', "[f()]")
)


@given(st.lists(_PARTS, max_size=12), SIZES)
def test_no_word_is_ever_lost(parts: list[str], size: int) -> None:
    """Each numbered word is shown, or stands in the markup of a call that is reported."""
    words = [f"w{place}w" for place in range(len(parts))]
    text = "".join(word + part for word, part in zip(words, parts, strict=True))
    # The words between Harmony's tokens are the head of a message, which nobody is shown.
    dialects = frozenset(_ALL) - {"harmony"}
    scanner = Scanner(Offered(TOOLS), TextPolicy(dialects))
    for at in range(0, len(text), size):
        scanner.feed(text[at : at + size])
    scanner.close(with_native_calls=False, cut=False)
    scanner.resolve(count=False)
    kept = "".join(said for _, said in scanner.take()) + "".join(it.raw for it in scanner.found)
    assert [word for word in words if word not in kept] == []
