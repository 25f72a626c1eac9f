"""Broken calls between explicit markers are reported, and nothing of them is shown."""

from harness.text_calls import TextPolicy, read_text_calls
from harness.turns.deltas import Finish, FinishReason, TextDelta
from harness.turns.fold import fold
from harness.turns.turn import Tool, Turn
from tests.tables import each_row

TOOLS = (Tool("look_up", "", {"type": "object", "properties": {"word": {"type": "string"}}}),)
_ARGUMENTS = '{"word": "elk"}'
_SECTION = "<|tool_calls_section_begin|>"
_KIMI_END = "<|tool_call_end|><|tool_calls_section_end|>"
_DEEPSEEK_END = "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"

_BROKEN = [
    ("gemma", '<|tool_call>:look_up{word:<|"|>elk<|"|>}<tool_call|>'),
    ("gemma", '<|tool_call>look_up{word:<|"|>elk<|"|>}<tool_call|>'),
    ("gemma", '<|tool_call>call look_up{word:<|"|>elk<|"|>}<tool_call|>'),
    ("gemma", "<start_function_call>look_up{word:<escape>elk<escape>}<end_function_call>"),
    ("mistral-tool-calls", f"[TOOL_CALLS][ARGS]{_ARGUMENTS}"),
    ("mistral-tool-calls", f"[TOOL_CALLS] [ARGS]{_ARGUMENTS}</s>"),
    ("mistral-tool-calls", f"[TOOL_CALLS]look up[ARGS]{_ARGUMENTS}"),
    *(
        ("kimi", f"{_SECTION}<|tool_call_begin|>{call}{_KIMI_END}")
        for call in (
            f"look up@1<|tool_call_argument_begin|>{_ARGUMENTS}",
            f"<|tool_call_argument_begin|>{_ARGUMENTS}",
            f"functions.look_up:0{_ARGUMENTS}",
        )
    ),
    *(
        ("deepseek", f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{call}{_DEEPSEEK_END}")
        for call in (f"look_up{_ARGUMENTS}", f"<｜tool▁sep｜>{_ARGUMENTS}")
    ),
    ("anthropic-invoke", f"<dots_function_call>{_ARGUMENTS}</dots_function_call>"),
    ("anthropic-invoke", f"<dots_function_call>\n{_ARGUMENTS}\n</dots_function_call>"),
    ("anthropic-invoke", f"<atem:function_calls>{_ARGUMENTS}</atem:function_calls>"),
    ("minimax", f"<minimax:tool_call>\n{_ARGUMENTS}\n</minimax:tool_call>"),
    ("dsml", f"<｜DSML｜tool_calls>\n{_ARGUMENTS}\n</｜DSML｜tool_calls>"),
    ("kimi-k3", f"<|open|>tools<|sep|>{_ARGUMENTS}<|close|>tools<|sep|>"),
    ("solar", f"<|tool_calls|><|tool_call:begin|>0{_ARGUMENTS}<|tool_call:end|><|calls|>"),
]


def _read(text: str, name: str, size: int) -> Turn:
    deltas = [TextDelta(text[at : at + size]) for at in range(0, len(text), size)]
    policy = TextPolicy(frozenset([name]))
    return fold(read_text_calls([*deltas, Finish(FinishReason.STOP)], TOOLS, policy))


@each_row("size", [1, 4, 1000])
@each_row(("name", "text"), _BROKEN)
def test_a_broken_block_is_reported(name: str, text: str, size: int) -> None:
    for lead in ("", "I look.\n"):
        turn = _read(lead + text, name, size)
        assert (turn.text.strip(), turn.tool_calls) == (lead.strip(), ())
        assert len(turn.parse_errors) == 1


@each_row("size", [1, 4, 1000])
@each_row("noise", ["So: ", "\n\n", "..."])
def test_words_in_a_section_hide_no_call(noise: str, size: int) -> None:
    call = f"<|tool_call_begin|>functions.look_up:0<|tool_call_argument_begin|>{_ARGUMENTS}"
    turn = _read(f"{_SECTION}{noise}{call}{_KIMI_END}", "kimi", size)
    assert [(it.name, it.arguments) for it in turn.tool_calls] == [("look_up", _ARGUMENTS)]
    assert (turn.text.strip(), turn.parse_errors) == (noise.strip(), ())


_GOOD = '{"tool_call_id": "0", "tool_name": "look_up", "parameters": {"word": "elk"}}'
_NAMELESS = '{"tool_call_id": "1", "parameters": {}}'
_COMMA = '{"tool_call_id": "1", "tool_name": "look_up", "parameters": {"word": "elk",}}'
_QUOTE = '{"tool_call_id": "1", "tool_name": "look_up", "parameters": {"word": "a\n"}}'


@each_row(
    ("items", "calls", "errors"),
    [
        ([_GOOD, _COMMA, _GOOD], 2, 1),
        ([_COMMA, _GOOD], 1, 1),
        ([_GOOD, _NAMELESS, _GOOD], 2, 1),
        # A string that is broken may contain what looks like calls.
        ([_GOOD, _QUOTE, _GOOD], 1, 1),
        ([_QUOTE, _GOOD], 0, 1),
    ],
)
def test_a_broken_element_keeps_its_good_neighbours(
    items: list[str], calls: int, errors: int
) -> None:
    text = f"<|START_ACTION|>[{', '.join(items)}]<|END_ACTION|>"
    for size in (1, 1000):
        turn = _read(text, "cohere-action", size)
        assert (len(turn.tool_calls), len(turn.parse_errors), turn.text) == (calls, errors, "")
