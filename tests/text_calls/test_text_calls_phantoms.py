"""A call that a reply quotes, names or drafts is not executed, in each dialect and both ways."""

import json
from itertools import product

from harness.text_calls import TEXT_DIALECTS, TextPolicy, WrittenCall, read_text_calls
from harness.text_calls.early import Emit
from harness.turns.deltas import Delta, Finish, FinishReason, ReasoningDelta, TextDelta
from harness.turns.fold import fold
from harness.turns.turn import Tool
from tests.tables import each_row

_NAMES = tuple(TEXT_DIALECTS)
_TOOLS = (Tool("f", "", {"type": "object", "properties": {"a": {"type": "string"}}}),)
_CALLS = tuple([WrittenCall("f", json.dumps({"a": value}))] for value in ("x <b>", "two words"))
# With the action protocol, all calls wait for the end.
_WAYS: tuple[tuple[Emit, frozenset[str]], ...] = (
    ("at_end", frozenset(TEXT_DIALECTS)),
    ("as_read", frozenset(TEXT_DIALECTS) - {"action-protocol"}),
)


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


def _block_quote(text: str) -> str:
    return "".join(f"> {line}\n" for line in text.splitlines())


# What is around the call: the reasoning before the text, the text before it, and the text after it.
_THOUGHTS = (
    ("Maybe: ", "", "It rains."),
    ("I could write\n", " or not.", "It rains."),
    ("", "", "It rains."),
    ("One idea.\n\n", "\n\nNo.", "It rains."),
)
_TAGS = (("<think>\n", "\n</think>\n\nIt rains."), ("<think>Or ", ".</think>It rains."))
_CODE = (
    ("Write this:\n\n```\n", "\n```\n\nThen wait."),
    ("Write this:\n\n```text\n", "\n```\nThen wait."),
    ("1. Write\n   ~~~\n", "\n   ~~~\n2. Wait."),
    ("Write <code>", "</code> and wait."),
    ("Write <pre>\n", "\n</pre>\nand wait."),
)
_QUOTES = (('Write "', '" and wait.'), ("Write “", "” and wait."), ("请写「", "」。"))


def _texts(name: str) -> list[tuple[str, str]]:
    """Return texts, each with the reasoning before it, that contain a call which is not meant."""
    found: list[tuple[str, str]] = []
    for call in _CALLS:
        written = TEXT_DIALECTS[name].write(call)
        found += [(f"{before}{written}{after}", text) for before, after, text in _THOUGHTS]
        found += [("", f"{before}{written}{after}") for before, after in (*_TAGS, *_CODE, *_QUOTES)]
        found.append(("", f"Write this:\n\n{_indented(written)}\nThen wait."))
        found.append(("", f"Write this:\n\n{_block_quote(written)}\nThen wait."))
    return found


def test_there_are_thirty_texts_for_each_dialect() -> None:
    assert all(len(_texts(name)) >= 30 for name in _NAMES)


@each_row("name", _NAMES)
def test_a_call_that_is_not_meant_is_not_executed(name: str) -> None:
    for (reasoning, text), (emit, dialects) in product(_texts(name), _WAYS):
        deltas: list[Delta] = [ReasoningDelta(reasoning)] if reasoning else []
        deltas += [TextDelta(text[at : at + 31]) for at in range(0, len(text), 31)]
        deltas.append(Finish(FinishReason.STOP))
        turn = fold(read_text_calls(deltas, _TOOLS, TextPolicy(dialects), emit=emit))
        assert turn.tool_calls == (), (reasoning, text)


@each_row("name", _NAMES)
def test_an_opening_marker_in_a_sentence_begins_no_call(name: str) -> None:
    openers = [it for it in TEXT_DIALECTS[name].openers if len(it) > 1]
    for opener, after in product(openers, (" is a marker.", " begins a call of f.", " and more")):
        text = f"The text {opener}{after}"
        turn = fold(
            read_text_calls(
                [TextDelta(text), Finish(FinishReason.STOP)], _TOOLS, TextPolicy(_WAYS[1][1])
            )
        )
        assert turn.tool_calls == (), text
