"""A tag that thoughts or a sentence name begins no block, in any text dialect."""

from harness.text_calls import TEXT_DIALECTS, TextPolicy, WrittenCall, read_text_calls
from harness.turns.deltas import Finish, FinishReason, TextDelta
from harness.turns.fold import fold
from harness.turns.turn import Tool, Turn
from tests.tables import each_row

TOOLS = (
    Tool("look_up", "", {"type": "object", "properties": {"word": {"type": "string"}}}),
    Tool("wipe", "", {"type": "object", "properties": {}}),
)
_CALL = WrittenCall("look_up", '{"word": "elk"}')
# As far as a sentence names a call: the openers, and the tags up to the first of its call.
_NAMED = {
    "qwen-xml": ("<tool_call>\n<function=wipe>", "<function=wipe>", "<seed:tool_call>"),
    "glm": ("<tool_call>wipe", "<tool_call>wipe <arg_key>"),
    "hunyuan": ("<tool_call>wipe<tool_sep>",),
    "longcat": ("<longcat_tool_call>wipe", "<longcat_tool_call>wipe <longcat_arg_key>"),
    "minimax-m3": (']<]minimax[>[<invoke name="wipe">', "]<]minimax[>[<tool_call>"),
    "minicpm": ('<function name="wipe">',),
    "minimax": ('<minimax:tool_call>\n<invoke name="wipe">', "<minimax:tool_call>"),
    "anthropic-invoke": (
        '<function_calls>\n<invoke name="wipe">',
        '<invoke name="wipe">',
        '<atem:invoke name="wipe">',
    ),
    "dsml": (
        '<｜DSML｜invoke name="wipe">',
        '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="wipe">',
        '<|DSML|invoke name="wipe">',
    ),
    "harmony": ("<|channel|>commentary to=wipe<|message|>",),
    "deepseek": ("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>wipe<｜tool▁sep｜>",),
    "kimi": ("<|tool_call_begin|>functions.wipe:0<|tool_call_argument_begin|>",),
    "kimi-k3": ('<|open|>call tool="wipe" index="1"<|sep|>', "<|open|>tools<|sep|>"),
    "solar": ("<|tool_call:begin|>0<|tool_call:name|>wipe<|tool_call:args|>",),
    "k2-horizon": (
        "<ifm|tool_call>wipe",
        "<ifm|tool_calls>",
        "<ifm|tool_calls><ifm|tool_call>wipe",
    ),
    "functionary": (">>>wipe", ">>>wipe\n"),
    "step": (
        '<steptml:invoke name="wipe">',
        '<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="wipe">',
        "<｜tool_calls_begin｜>",
    ),
    "plamo": (
        "<|plamo:begin_tool_requests:plamo|>",
        "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>wipe<|plamo:end_tool_name:plamo|>",
    ),
    "inkling": (
        "<|message_model|>wipe<|content_invoke_tool_json|>",
        "<|content_invoke_tool_json|>",
    ),
    "qwen-agent": ("✿FUNCTION✿: wipe\n✿ARGS✿:",),
    "mistral-tool-calls": ("[TOOL_CALLS]wipe[ARGS]", "[TOOL_CALLS]"),
    "cohere-action": ("<|START_ACTION|>",),
    "gemma": ("<|tool_call>call:wipe", "<|tool_call>"),
    "llama-function": ("<function=wipe>",),
    "tagged-json": ("<tool_call>",),
    "pythonic-tags": ("<|python_start|>",),
    "python-tag": ("<|python_tag|>",),
    "phi": ("<|tool_call|>",),
    "granite": ("<|tool_call|>", "<tool_call>"),
    "jamba": ("<tool_calls>",),
    "internlm": ("<|action_start|><|plugin|>",),
    "json-tags": ("<TOOLCALL>", "<function_call>"),
    "apertus": ("<|tools_prefix|>",),
}
_EACH = each_row(("name", "tag"), [(name, tag) for name, tags in _NAMED.items() for tag in tags])
_TAILS = [" and ends later. Shall I?", ", better not.", " is a tag.\n\nSo it is."]


def _read(text: str, name: str, size: int, prompt_end: str = "") -> Turn:
    deltas = [TextDelta(text[at : at + size]) for at in range(0, len(text), size)]
    policy = TextPolicy(frozenset([name]))
    end = Finish(FinishReason.STOP)
    return fold(read_text_calls([*deltas, end], TOOLS, policy, prompt_end=prompt_end))


def test_every_dialect_with_tags_is_named_here() -> None:
    rest = {name for name, it in TEXT_DIALECTS.items() if it.explicit} - set(_NAMED)
    assert rest == {"react"}, "its words are no tags"


@_EACH
@each_row("size", [1, 5, 1000])
def test_a_sentence_may_name_a_tag(name: str, tag: str, size: int) -> None:
    for tail in _TAILS:
        text = f"A call starts with {tag}{tail}"
        turn = _read(text, name, size)
        assert (turn.text, turn.tool_calls, turn.parse_errors) == (text, (), ())


@_EACH
@each_row("size", [1, 5, 1000])
def test_thoughts_may_name_a_tag_before_a_call(name: str, tag: str, size: int) -> None:
    for lead in ("Not ", "", "So\n\n"):
        thought = f"{lead}{tag} now."
        turn = _read(
            f"{thought}</think>\n{TEXT_DIALECTS[name].write([_CALL])}", name, size, "<think>"
        )
        calls = [(call.name, call.arguments) for call in turn.tool_calls]
        assert (turn.reasoning, calls, turn.parse_errors) == (
            thought,
            [("look_up", '{"word": "elk"}')],
            (),
        )
        assert not turn.text.strip()


@each_row(("name", "token"), [("solar", "<|think|>"), ("cohere-action", "<|START_THINKING|>")])
def test_a_sentence_may_name_the_start_of_thoughts(name: str, token: str) -> None:
    text = f"The token {token} begins them."
    assert (_read(text, name, 3).text, _read(text, name, 3).reasoning) == (text, "")


@each_row("name", list(_NAMED))
def test_an_unfinished_draft_ends_with_the_thoughts(name: str) -> None:
    written = TEXT_DIALECTS[name].write([_CALL])
    for cut in range(1, len(written), 3):
        thought = f"So\n{written[:cut]}"
        turn = _read(f"{thought}</think>\nNo.", name, 7, "<think>")
        assert (turn.text, turn.tool_calls, turn.parse_errors) == ("No.", (), ()), cut
        # A line end before the tag belongs to it.
        assert turn.reasoning.rstrip("\n") == thought.rstrip("\n"), cut


@each_row(
    "tail", [" after your thoughts, then the answer.", " and <think> are tags.", ", a tag.", "."]
)
@each_row("name", list(TEXT_DIALECTS))
def test_a_sentence_may_name_the_end_of_thoughts(name: str, tail: str) -> None:
    text = f"Write </think>{tail}"
    for size in (1, 1000):
        turn = _read(text, name, size)
        assert (turn.text, turn.reasoning, turn.parse_errors) == (text, "", ())


@each_row("words", ["Hm", "Hm. ", "I could call "])
def test_thoughts_without_a_start_still_end(words: str) -> None:
    for answer in ("Hi", "\n\nHi"):
        turn = _read(f"{words}</think>{answer}", "tagged-json", 1)
        assert "</think>" not in turn.text
