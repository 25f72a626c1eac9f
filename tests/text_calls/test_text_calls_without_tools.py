"""Without tools, thoughts are separated and the rest of the text is text."""

from harness.text_calls import TEXT_DIALECTS, TextPolicy, WrittenCall, read_text_calls
from harness.turns.deltas import (
    Delta,
    Finish,
    FinishReason,
    TextDelta,
    ToolCallEnd,
    ToolCallStart,
)
from harness.turns.fold import fold
from harness.turns.turn import Turn
from tests.tables import each_row

ALL = frozenset(TEXT_DIALECTS)
_CALL = WrittenCall("wipe", '{"word": "elk"}')


def _read(text: str, dialects: frozenset[str], size: int = 3, prompt_end: str = "") -> Turn:
    deltas = [TextDelta(text[at : at + size]) for at in range(0, len(text), size)]
    end = Finish(FinishReason.STOP)
    return fold(read_text_calls([*deltas, end], [], TextPolicy(dialects), prompt_end=prompt_end))


@each_row("name", list(TEXT_DIALECTS))
def test_thoughts_are_separated(name: str) -> None:
    for dialects in (frozenset([name]), ALL):
        for size in (1, 100):
            turn = _read("It rains.</think>Take a coat.", dialects, size, "<think>\n")
            assert (turn.reasoning, turn.text) == ("It rains.", "Take a coat.")
        turn = _read("<think>It rains.</think>\n\nTake a coat.", dialects)
        assert (turn.reasoning, turn.text) == ("It rains.", "Take a coat.")


@each_row(
    ("prompt_end", "text"),
    [
        (
            "<|start|>assistant",
            " to=self<|message|>Hm.<|eom|><|start|>assistant to=user<|message|>Hi.<|eot|>",
        ),
        (
            "<|start|>assistant",
            "<|channel|>analysis<|message|>Hm.<|start|>assistant<|channel|>final<|message|>Hi.",
        ),
        ("<|open|>think<|sep|>", "Hm.<|close|>think<|sep|><|open|>response<|sep|>Hi."),
        ("<|open|>think<|sep|>", "Hm.<|open|>response<|sep|>Hi.<|close|>response<|sep|>"),
        ("<|channel>thought\n", "Hm.<channel|>Hi."),
        ("<|START_THINKING|>", "Hm.<|END_THINKING|><|START_RESPONSE|>Hi.<|END_RESPONSE|>"),
    ],
)
def test_sections_are_separated(prompt_end: str, text: str) -> None:
    turn = _read(text, ALL, 2, prompt_end)
    assert (turn.reasoning, turn.text) == ("Hm.", "Hi.")


@each_row("name", [name for name in TEXT_DIALECTS if name != "harmony"])
def test_a_call_stays_text(name: str) -> None:
    text = f"Like this:\n{TEXT_DIALECTS[name].write([_CALL])}\nDone."
    turn = _read(text, frozenset([name]))
    assert (turn.text, turn.tool_calls, turn.parse_errors) == (text, (), ())


def test_native_calls_do_not_change() -> None:
    deltas: list[Delta] = [
        ToolCallStart(0, "", "x"),
        ToolCallEnd(0),
        Finish(FinishReason.TOOL_CALLS),
    ]
    assert list(read_text_calls(deltas, [], TextPolicy(ALL))) == deltas
