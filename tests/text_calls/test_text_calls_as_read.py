"""Calls as they are read: the same calls as at the end of the turn, or a rejection with a name."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from harness.text_calls import TEXT_DIALECTS, TextDialect, TextPolicy, WrittenCall, read_text_calls
from harness.text_calls.early import Emit
from harness.text_calls.streamed import CONTRADICTED
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    call_deltas,
)
from harness.turns.fold import fold
from harness.turns.turn import Tool, Turn
from tests.tables import each_row
from tests.text_calls.round_trip import SIZES, TOOLS, calls
from tests.text_calls.test_text_calls_scanner import TEXTS

# Without the format whose replies are one object, so that all of their text must be read first.
_ALL = frozenset(TEXT_DIALECTS) - {"action-protocol"}
# Whether their calls count depends on the text after them; docs/explanation/text-calls.md.
AT_END = ("action-protocol", "bare-json", "command-r", "fenced-json", "pythonic")
_AS_READ = tuple(name for name in TEXT_DIALECTS if name not in AT_END)
_TAKEN_BACK = "later text or a call in the API's field shows that this is not a call"
_STOP = Finish(FinishReason.STOP)


def _pieces(text: str, size: int) -> list[Delta]:
    return [TextDelta(text[at : at + size]) for at in range(0, len(text), size)]


def _read(
    deltas: Iterable[Delta],
    emit: Emit,
    dialects: Iterable[str] = _ALL,
    tools: Sequence[Tool] = TOOLS,
    prompt_end: str = "",
) -> Turn:
    policy = TextPolicy(frozenset(dialects))
    return fold(read_text_calls(deltas, tools, policy, prompt_end=prompt_end, emit=emit))


def check_same(
    deltas: Sequence[Delta], dialects: Iterable[str] = _ALL, *, taken_back: bool = True
) -> None:
    """Assert that both ways of emission give one turn, except for calls that are taken back."""
    at_end, as_read = _read(deltas, "at_end", dialects), _read(deltas, "as_read", dialects)
    assert (as_read.text, as_read.reasoning) == (at_end.text, at_end.reasoning)
    assert [(it.name, it.arguments) for it in as_read.tool_calls] == [
        (it.name, it.arguments) for it in at_end.tool_calls
    ]
    assert as_read.finish == at_end.finish
    errors = Counter(it.error for it in as_read.parse_errors)
    more = errors - Counter(it.error for it in at_end.parse_errors)
    assert not Counter(it.error for it in at_end.parse_errors) - errors
    assert set(more) <= ({_TAKEN_BACK} if taken_back else set())
    named = {it.name for it in as_read.parse_errors if it.error in (_TAKEN_BACK, CONTRADICTED)}
    assert named <= {tool.name for tool in TOOLS}


@given(TEXTS, SIZES)
def test_any_text_gives_the_same_calls_however_it_is_cut(text: str, size: int) -> None:
    check_same([*_pieces(text, size), _STOP])
    whole = _read([TextDelta(text), _STOP], "as_read")
    assert _read([*_pieces(text, size), _STOP], "as_read") == whole


@given(
    st.lists(
        st.tuples(st.sampled_from(list(TEXT_DIALECTS.values())), calls(at_least=1, at_most=2)),
        min_size=2,
        max_size=2,
    ),
    st.sampled_from(["", "Hi. ", "\n"]),
    st.floats(0, 1),
    SIZES,
)
def test_calls_of_two_dialects_are_the_same_wherever_the_text_ends(
    said: list[tuple[TextDialect, list[WrittenCall]]], words: str, share: float, size: int
) -> None:
    text = words.join(dialect.write(some) for dialect, some in said)
    text = text[: 1 + int(share * len(text))]
    check_same([*_pieces(text, size), _STOP])
    check_same([*_pieces(text, size), Finish(FinishReason.LENGTH)])


_NASTY = 'line <b>1</b> & "it\'s"\n\\ é😀 {[( }`\n'


@each_row(("one", "other"), list(product(_AS_READ, _AS_READ[::4])))
def test_each_pair_of_dialects_gives_the_same_turn(one: str, other: str) -> None:
    """No call that is whole is taken back, and no fragment contradicts the arguments."""
    call = WrittenCall("search", json.dumps({"query": _NASTY, "n": 3}, ensure_ascii=False))
    text = f"{TEXT_DIALECTS[one].write([call])}\nNow. {TEXT_DIALECTS[other].write([call])}"
    check_same([*_pieces(text, 9), _STOP], taken_back=False)
    cut = 1 + (_AS_READ.index(one) * 31 + _AS_READ.index(other) * 17) % len(text)
    check_same([*_pieces(text[:cut], 30), _STOP])


@each_row("name", _AS_READ)
def test_each_cut_of_two_calls_gives_the_same_turn(name: str) -> None:
    call = WrittenCall("search", json.dumps({"query": _NASTY, "n": 3}, ensure_ascii=False))
    text = TEXT_DIALECTS[name].write([call, call])
    whole = _read([TextDelta(text), _STOP], "at_end", [name])
    for cut in range(0, len(text), 23):
        assert (
            _read([TextDelta(text[:cut]), TextDelta(text[cut:]), _STOP], "as_read", [name]) == whole
        )
        check_same([TextDelta(text[:cut]), _STOP], [name])


_WRITE_FILE = Tool(
    "write_file",
    "",
    {
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
)


def test_the_documents_name_the_dialects_whose_calls_wait() -> None:
    page = Path("docs/explanation/text-calls.md").read_text(encoding="utf-8")
    (row,) = [line for line in page.splitlines() if line.startswith("| the entire reply")]
    assert tuple(re.findall(r"`([a-z-]+)`", row.split("|")[2])) == AT_END


def _progress(text: str, name: str) -> tuple[float, float]:
    """Return the share of the text that was read before the start and before a line of it."""
    size, read = 160, 0
    start = line = 1.0

    def deltas() -> Iterator[Delta]:
        nonlocal read
        for piece in _pieces(text, size):
            read += size
            yield piece
        yield _STOP

    policy = TextPolicy(frozenset((name,)))
    for delta in read_text_calls(deltas(), [_WRITE_FILE], policy, emit="as_read"):
        if isinstance(delta, ToolCallStart):
            start = read / len(text)
        elif isinstance(delta, ArgumentsDelta) and "x" in delta.fragment:
            line = min(line, read / len(text))
    return start, line


@each_row("name", _AS_READ)
def test_a_long_argument_begins_before_half_of_it_was_read(name: str) -> None:
    content = "".join(f"x {number}: {_NASTY}" for number in range(280))
    assert len(content) > 10_000
    arguments = json.dumps({"path": "a.txt", "content": content}, ensure_ascii=False)
    text = TEXT_DIALECTS[name].write([WrittenCall("write_file", arguments)])
    start, line = _progress(text, name)
    assert start < 0.1
    assert line < 0.5
    turn = _read([*_pieces(text, 160), _STOP], "as_read", [name], [_WRITE_FILE])
    assert [json.loads(it.arguments)["content"] for it in turn.tool_calls] == [content]


@each_row("name", AT_END)
def test_a_call_that_later_text_may_take_back_waits(name: str) -> None:
    arguments = json.dumps({"path": "a", "content": "x" * 2_000})
    text = TEXT_DIALECTS[name].write([WrittenCall("write_file", arguments)])
    assert _progress(text, name)[0] >= 1.0


_CALL = '<tool_call>\n{"name": "f", "arguments": {"n": 1}}\n</tool_call>'


def _kinds(deltas: Iterable[Delta], emit: Emit = "as_read") -> list[Delta]:
    read = read_text_calls(deltas, TOOLS, TextPolicy(_ALL), emit=emit)
    return [it for it in read if not isinstance(it, TextDelta)]


def test_the_end_of_a_call_comes_at_the_end_of_the_turn() -> None:
    start, *arguments, end, finish = _kinds([*_pieces(_CALL, 1), _STOP])
    assert isinstance(start, ToolCallStart)
    assert "".join(it.fragment for it in arguments if isinstance(it, ArgumentsDelta)) == '{"n": 1}'
    assert isinstance(end, ToolCallEnd)
    assert finish == Finish(FinishReason.TOOL_CALLS)


def test_a_failed_turn_rejects_what_was_started() -> None:
    deltas = _kinds([TextDelta(_CALL[:45]), StreamFailure("interrupted")])
    assert isinstance(deltas[0], ToolCallStart)
    assert isinstance(deltas[-2], ToolCallRejected)


def test_thoughts_that_end_after_a_call_take_it_back() -> None:
    turn = _read([TextDelta(_CALL + "</think>It rains."), _STOP], "as_read")
    assert turn.tool_calls == ()
    assert [(it.name, it.error, it.snippet) for it in turn.parse_errors] == [
        ("f", _TAKEN_BACK, '{"n": 1}')
    ]
    assert (turn.reasoning, turn.text) == (_CALL, "It rains.")
    known = _read([TextDelta(_CALL + "</think>It rains."), _STOP], "as_read", prompt_end="<think>")
    assert (known.parse_errors, known.reasoning) == ((), _CALL)


def test_calls_in_thoughts_are_not_started() -> None:
    thought: list[Delta] = [ReasoningDelta(_CALL), TextDelta("It rains."), _STOP]
    assert not any(isinstance(it, ToolCallStart) for it in _kinds(thought))
    assert _kinds([ReasoningDelta(_CALL), _STOP]) == _kinds(
        [ReasoningDelta(_CALL), _STOP], "at_end"
    )


def test_native_calls_after_a_call_in_the_text_have_other_indexes() -> None:
    native = call_deltas(0, "c", "get_time", '{"n":', " 2}")
    turn = _read([TextDelta(_CALL), *native, _STOP], "as_read")
    assert [(it.name, it.arguments) for it in turn.tool_calls] == [
        ("f", '{"n": 1}'),
        ("get_time", '{"n": 2}'),
    ]


def test_a_native_call_that_is_equal_takes_the_call_in_the_text_back() -> None:
    native = call_deltas(0, "c", "f", '{"n": 1}')
    turn = _read([TextDelta(_CALL), *native, _STOP], "as_read")
    assert [(it.id, it.name) for it in turn.tool_calls] == [("c", "f")]
    assert [it.error for it in turn.parse_errors] == [_TAKEN_BACK]
    # After a native call, a call in the text waits for the end.
    before = [*native, TextDelta(_CALL), _STOP]
    assert _read(before, "as_read") == _read(before, "at_end")


@each_row(
    ("text", "error"),
    [
        ('<tool_call>{"name": "f", "arguments": {"n": 1}, "name": "f"}</tool_call>', "twice"),
        ('<tool_call>{"name": "f", "arguments": {"n": 1}} and</tool_call>', "something else"),
        ("<function=f>\n<parameter=n>\n1\n</parameter>\n</function></parameter>", "closing marker"),
        ('Action: f\nAction Input: {"n": 1}\nFinal Answer: one', "final answer"),
    ],
)
def test_later_text_that_makes_a_call_unusable_rejects_it(text: str, error: str) -> None:
    turn = _read([*_pieces(text, 3), _STOP], "as_read")
    assert turn.tool_calls == ()
    assert [it.name for it in turn.parse_errors] == ["f"]
    assert error in turn.parse_errors[0].error
    check_same([*_pieces(text, 3), _STOP], taken_back=False)
