"""What the prompt already said, and the stop token that the server removed, are read as if sent."""

from typing import Any

import pytest

from harness.text_calls import TEXT_DIALECTS, TextPolicy, WrittenCall, read_text_calls
from harness.turns.deltas import Delta, Finish, FinishReason, StreamFailure, TextDelta
from harness.turns.fold import fold
from harness.turns.turn import Tool, Turn
from tests.tables import each_row

TOOL = Tool("get_weather", "", {"type": "object", "properties": {"city": {"type": "string"}}})
CALL = WrittenCall("get_weather", '{"city": "Oslo"}')
CALLED = [("get_weather", '{"city": "Oslo"}')]
ALL = frozenset(TEXT_DIALECTS) - {"action-protocol", "react"}
HARMONY_CALL = ' to=functions.get_weather<|channel|>analysis json<|message|>{"city": "Oslo"}'


def read(
    text: str,
    dialects: frozenset[str] = ALL,
    size: int = 1000,
    **known: Any,  # noqa: ANN401 - arguments of `read_text_calls`
) -> Turn:
    deltas = [TextDelta(text[at : at + size]) for at in range(0, len(text), size)]
    end = Finish(FinishReason.STOP, "stop")
    return fold(read_text_calls([*deltas, end], [TOOL], TextPolicy(dialects), **known))


def calls_of(turn: Turn) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in turn.tool_calls]


@each_row("size", [1, 1000])
@each_row("name", sorted(TEXT_DIALECTS))
def test_a_prompt_may_end_anywhere_in_the_reply(name: str, size: int) -> None:
    dialect = TEXT_DIALECTS[name]
    lead, tail = ("", "") if dialect.whole else ("Let me look.\n", "\n\nI looked.")
    if name in {"react", "granite", "command-r"}:  # what follows is part of the call, or forbidden
        lead, tail = lead.rstrip("\n") if dialect.line_ends else lead, ""
    written = dialect.write([CALL])
    if lead and not lead.endswith("\n"):
        written = f"\n{written}"
    text = lead + written + tail
    whole = read(text, frozenset([name]), size)
    assert (calls_of(whole), whole.text) == (CALLED, lead + tail)
    for end in range(size % 3, len(lead + written) + 1, 3):
        turn = read(text[end:], frozenset([name]), size, prompt_end=text[:end])
        assert calls_of(turn) == CALLED, end
        assert turn.text == lead[end:] + tail, end


@each_row(
    ("prompt_end", "reply", "text", "reasoning"),
    [
        ("<think>\n", "Hm.</think>Hi", "Hi", "Hm."),
        ("<think>", "\nHm.", "", "Hm."),
        ("<|start|>assistant", "<|channel|>final<|message|>Hi", "Hi", ""),
        ("<|start|>assistant", "Hi", "Hi", ""),
        ("<|im_start|>assistant\n", "\nHi", "\nHi", ""),
        (
            "<|im_start|>assistant",
            "/think\nHm.<|im_end|>\n<|im_start|>assistant\nHi<|im_end|><|endofturn|>\n",
            "Hi",
            "Hm.",
        ),
        ("<|im_start|>assistant/think\n", "Hm.<|im_end|>\n<|im_start|>assistant\nHi", "Hi", "Hm."),
        ("<SPECIAL_11>Assistant\n<think>\n\n", "Hm.\n</think>\n\nHi\n<SPECIAL_12>\n", "Hi", "Hm."),
        ("Sure, ", "I say <", "I say <", ""),
        ("1 <", " 2", " 2", ""),
        ("1 <", "<<", "<<", ""),
    ],
)
def test_only_the_reply_is_shown(prompt_end: str, reply: str, text: str, reasoning: str) -> None:
    for size in (1, 2, 1000):
        turn = read(reply, size=size, prompt_end=prompt_end)
        assert (turn.text, turn.reasoning) == (text, reasoning)


def test_a_stop_token_decides_what_is_a_call() -> None:
    drafted = read(HARMONY_CALL, prompt_end="<|start|>assistant")
    assert (calls_of(drafted), drafted.reasoning) == ([], '{"city": "Oslo"}')
    called = read(HARMONY_CALL, prompt_end="<|start|>assistant", stopped_by="<|call|>")
    assert (calls_of(called), called.reasoning) == (CALLED, "")


@each_row("token", ["<|im_end|>", "</s>", "<|call|>", "User:", "\n\n", ""])
def test_a_stop_token_is_never_shown(token: str) -> None:
    assert read("Hi", stopped_by=token) == read("Hi")


def test_a_turn_that_failed_was_not_stopped_by_a_token() -> None:
    text = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}'
    deltas: list[Delta] = [TextDelta(text), StreamFailure("interrupted", "")]
    known = read_text_calls(deltas, [TOOL], TextPolicy(ALL), stopped_by="</tool_call>")
    assert fold(known) == fold(read_text_calls(deltas, [TOOL], TextPolicy(ALL)))


@pytest.mark.parametrize("prompt_end", ["", '{"reasoning": "Hm", "action": "tool_call", "tool_'])
def test_the_action_protocol_may_begin_in_the_prompt(prompt_end: str) -> None:
    text = TEXT_DIALECTS["action-protocol"].write([CALL])
    reply = text if not prompt_end else text[text.index('calls"') :]
    turn = read(reply, frozenset(["action-protocol"]), 1, prompt_end=prompt_end)
    assert calls_of(turn) == CALLED
