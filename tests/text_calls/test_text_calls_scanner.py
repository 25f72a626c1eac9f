"""The scanner: the same for every cut, nothing lost, examples and drafts left alone."""

import re
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.text_calls import MARKERS, TEXT_DIALECTS, TextPolicy, WrittenCall, read_text_calls
from harness.text_calls.boundaries import Ending
from harness.text_calls.dialect import TextDialect
from harness.text_calls.dialects.think import THINK
from harness.turns.deltas import Delta, Finish, FinishReason, TextDelta
from harness.turns.turn import Tool
from tests.tables import each_row
from tests.text_calls.round_trip import SIZES, TOOLS, read

_CALL = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
_ALL = tuple(TEXT_DIALECTS)
_SNIPPETS = st.sampled_from(
    (
        *MARKERS,
        *(marker[: len(marker) // 2] for marker in MARKERS),
        _CALL,
        '{"name": "f", "arguments": {}}',
        '{"name": "f", "argu',
        '{"tool": "search", "query": "x"}',
        "```",
        "```json\n",
        "~~~",
        "`",
        '"',
        "> ",
        "\n",
        "\n\n    ",
        "- ",
        "```\nx\n```",
        "<code>",
        "</code>",
        "<pre>",
        "<parameter name=",
        "<tool_call>get_time</tool_call>",
        "'",
        "“",
        " ",
        "f",
        "get_weather",
        "word",
        "中",
        "{",
        "[",
        "}",
        "]",
    )
)
TEXTS = st.lists(_SNIPPETS | st.text(max_size=3), max_size=12).map("".join)


@given(TEXTS, SIZES, st.sampled_from(["whole", "anywhere"]))
def test_any_text_means_the_same_however_it_is_cut(text: str, size: int, bare: str) -> None:
    def policy(policy: TextPolicy) -> TextPolicy:
        return TextPolicy(policy.dialects, bare=bare)  # type: ignore[arg-type]  # one of its values

    whole = read(text, _ALL, max(1, len(text)), policy=policy)
    assert read(text, _ALL, size, policy=policy) == whole


# What is read without tools, too: thoughts, the headers of messages, and tokens without a meaning.
_WITHOUT_TOOLS = {
    *THINK.openers,
    *THINK.closers,
    *(token for dialect in TEXT_DIALECTS.values() for token in dialect.noise),
    *(
        opener
        for dialect in TEXT_DIALECTS.values()
        if type(dialect).section is not TextDialect.section
        for opener in dialect.openers
    ),
}


@given(TEXTS, SIZES)
def test_without_tools_nothing_is_a_call_and_plain_text_stays(text: str, size: int) -> None:
    """Thoughts are separated, and a token of the template that means nothing is not shown."""
    turn = read(text, _ALL, size, tools=())
    assert (turn.tool_calls, turn.parse_errors) == ((), ())
    if not any(token in text for token in _WITHOUT_TOOLS):
        assert turn.text == text


# Of a text, what may belong to a call that follows: two line ends, and half of a third.
_WAITING = re.compile(r"(?:\r?\n){0,2}\r?\Z")


@example("0\n", 1000)
@example("\n\n\n0", 1)
@given(st.text(st.characters(codec="utf-8", exclude_characters="<[{`~|]"), max_size=60), SIZES)
def test_of_text_without_a_character_of_markup_only_line_ends_wait(text: str, size: int) -> None:
    """The rest is passed on before the next piece is asked for."""
    taken, said = "", ""

    def deltas() -> Iterator[Delta]:
        nonlocal taken
        for at in range(0, len(text), size):
            yield TextDelta(text[at : at + size])
            taken = text[: at + size]
            waiting = _WAITING.search(taken)
            assert waiting
            assert said == taken[: waiting.start()]
        yield Finish(FinishReason.STOP)

    for delta in read_text_calls(deltas(), TOOLS, TextPolicy(frozenset({"tagged-json"}))):
        said += delta.text if isinstance(delta, TextDelta) else ""
    assert said == taken == text


@each_row("size", [1, 2, 5, 1000])
@each_row(
    "text",
    [
        f"Like so:\n```\n{_CALL}\n```\nDo you see?",
        f"Like so:\n~~~~ xml\n~~~\n{_CALL}\n~~~~\nDo you see?",
        f"Write `{_CALL}` to call.",
        f"> {_CALL}\n\nwas the quotation.",
        f'Write "{_CALL}" to call.',
        f"写“{_CALL}”即可。",
        "The <tool_call> tag begins a call. It is followed by JSON.",
        "Between <tool_call> and </tool_call> stands JSON.",
        "<tool_call>...</tool_call>",
        '{"name": "my-app", "version": "1.0.0"}',
        '```json\n{"name": "my-app", "version": "1.0.0"}\n```',
        '{"name": "f", "arguments": {}} is what a call looks like.',
        'A call: {"name": "f", "arguments": {}}',
        '```json\n{"name": "f", "arguments": {}}\n```\nis an example.',
    ],
)
def test_what_is_no_call_is_shown_as_it_is(text: str, size: int) -> None:
    turn = read(text, ("tagged-json", "bare-json", "fenced-json"), size)
    assert (turn.text, turn.tool_calls, turn.parse_errors) == (text, (), ())


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_code_block_ends_where_markdown_says(size: int) -> None:
    text = f"```\n{_CALL}\n``` not yet\n{_CALL}\n```\n{_CALL}"
    turn = read(text, ("tagged-json",), size)
    assert len(turn.tool_calls) == 1
    assert turn.text == text.removesuffix(f"\n{_CALL}")


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_draft_in_closed_reasoning_does_not_run(size: int) -> None:
    turn = read(f"<think>maybe {_CALL} hm</think>\n\nNo.", ("tagged-json",), size)
    assert turn.tool_calls == ()
    assert turn.reasoning == f"maybe {_CALL} hm"
    assert turn.text == "No."


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_reasoning_that_ends_in_a_call_and_is_never_closed_makes_it_one(size: int) -> None:
    turn = read(f"<think>I need it.\n{_CALL}\n", ("tagged-json",), size)
    assert [call.name for call in turn.tool_calls] == ["f"]
    assert (turn.reasoning, turn.text) == ("I need it.", "")


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_calls_before_a_closing_think_tag_without_its_start_were_drafts(size: int) -> None:
    turn = read(f"Maybe {_CALL} hm</think>Real: {_CALL}", ("tagged-json",), size)
    assert len(turn.tool_calls) == 1


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_call_in_the_reasoning_channel_counts_only_where_nothing_follows(size: int) -> None:
    alone = read("", ("tagged-json",), size, reasoning=f"So: {_CALL}")
    beside = read("Done.", ("tagged-json",), size, reasoning=f"So: {_CALL}")
    assert ([call.name for call in alone.tool_calls], alone.reasoning) == (["f"], "So: ")
    assert (beside.tool_calls, beside.reasoning) == ((), f"So: {_CALL}")


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_broken_json_ends_at_the_closing_tag_and_spares_the_next_call(size: int) -> None:
    broken = '<tool_call>{"name": "f", "arguments": {"a": "b}}</tool_call>'
    turn = read(f"A {broken} B {_CALL} C", ("tagged-json",), size)
    assert [call.name for call in turn.tool_calls] == ["f"]
    assert [error.name for error in turn.parse_errors] == ["f"]
    assert turn.text == "A  B  C"


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_closing_tag_that_is_left_over_is_hidden_and_reported(size: int) -> None:
    turn = read("Done.</tool_call>\nGood.", ("tagged-json",), size)
    assert turn.text == "Done.\nGood."
    assert len(turn.parse_errors) == 1
    assert turn.finish == Finish(FinishReason.STOP, "stop")


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_broken_json_ends_at_its_closer_although_tokens_and_a_call_follow(size: int) -> None:
    begin, arguments, end = (
        "<|tool_call_begin|>",
        "<|tool_call_argument_begin|>",
        "<|tool_call_end|>",
    )
    text = f'{begin}f:0{arguments}{{"q" ""x"}}{end}<|tool_calls_section_end|>\n\n\n{begin}f:1'
    turn = read(text, ("kimi",), size)
    assert [error.snippet for error in turn.parse_errors] == ['{"q" ""x"}', f"{begin}f:1"]
    assert (turn.text, turn.tool_calls) == ("\n\n\n", ())


_DEEPSEEK = TEXT_DIALECTS["deepseek"].write([WrittenCall("f", "{}")])
_KIMI = TEXT_DIALECTS["kimi"].write([WrittenCall("f", "{}")])


@each_row("size", [1, 3, 1000])
@each_row("call", [_CALL, _DEEPSEEK, _KIMI])
@each_row(
    "words",
    [
        "Let me look at `main.py`",
        'I will search for "Paris"',
        "It's in 'Paris'",
        "„Paris“",
        "»Paris«",
        "查询“巴黎”",
        '查询"巴黎"',
        "```python\nx = 1\n```",
        "~~~\nx = 1\n~~~ ",
    ],
)
def test_a_call_right_after_a_closing_mark_is_a_call(words: str, call: str, size: int) -> None:
    turn = read(words + call, _ALL, size)
    assert [made.name for made in turn.tool_calls] == ["f"]
    assert (turn.text, turn.parse_errors) == (words, ())


@each_row("size", [1, 3, 1000])
@each_row("words", ["it's ('", 'Say:"', "写“", '写"', "``a` ", "“", "`"])
def test_a_call_right_after_an_opening_mark_is_an_example(words: str, size: int) -> None:
    turn = read(words + _CALL, _ALL, size)
    assert (turn.text, turn.tool_calls) == (words + _CALL, ())


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_the_code_block_is_over_once_a_call_follows_its_closing_marks(size: int) -> None:
    turn = read(f"```\nx\n```{_CALL} and\n{_CALL}", ("tagged-json",), size)
    assert (turn.text, len(turn.tool_calls)) == ("```\nx\n``` and", 2)
    turn = read("```\nx\n```<|im_end|>", _ALL, size)
    assert turn.text == "```\nx\n```"


@each_row("size", [1, 3, 1000])
@each_row(
    ("opener", "closer"),
    [
        ("<thought>", "</thought>"),
        ("<reasoning>", "</reasoning>"),
        ("<seed:think>", "</seed:think>"),
        ("◁think▷", "◁/think▷"),
        ("[THINK]", "[/THINK]"),
        ("Hm. [THINK]", "[/THINK]"),
    ],
)
def test_drafts_between_other_thinking_markers_do_not_run(
    opener: str, closer: str, size: int
) -> None:
    turn = read(f"{opener}maybe {_CALL} </think> hm{closer}No.", _ALL, size)
    assert turn.tool_calls == ()
    assert turn.reasoning.startswith(f"maybe {_CALL} ")
    assert turn.text in {"No.", "Hm. No."}


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_calls_before_a_closing_think_tag_count_only_if_nothing_else_is_said(size: int) -> None:
    alone = read(f"{_CALL}\n</think>\n", _ALL, size)
    then = read(f"{_CALL}\n</think>\n\nNo.", _ALL, size)
    before = read(f"Hm {_CALL}\n</think>\n", _ALL, size)
    assert [call.name for call in alone.tool_calls] == ["f"]
    assert (then.tool_calls, then.reasoning, then.text.strip()) == ((), _CALL, "No.")
    assert (before.tool_calls, before.reasoning, before.text.strip()) == ((), _CALL, "Hm")


@each_row("size", [1, 3, 1000])
@each_row(
    "text",
    [
        'Set <parameter name="foo">1</parameter> in the file.',
        'Set <parameter name="foo">1</parameter>',
        "You forgot the closing </tool_call> tag.",
        "The closing tag is </invoke>.",
        "</tool_call> closes a call.",
        "Done.</tool_call> Good.",
        "The token <|im_end|> ends a turn.",
        "<|eot_id|> ends a turn, <|end|> too.",
        "Use <tool_call>get_time</tool_call> to ask for the time.",
        f"<code>{_CALL}</code> calls.",
        f"So <pre>\n{_CALL}\n</pre> calls.",
        f"So:\n\n    {_CALL}\n    {_CALL}\n\nThat is all.",
    ],
)
def test_a_sentence_about_markup_keeps_it(text: str, size: int) -> None:
    turn = read(text, _ALL, size)
    assert (turn.text, turn.tool_calls, turn.parse_errors) == (text, (), ())
    assert turn.finish == Finish(FinishReason.STOP, "stop")


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_closing_tag_in_words_after_a_call_leaves_the_call_alone(size: int) -> None:
    call = '<invoke name="f">\n</invoke>'
    turn = read(f"{call}\nThe closing tag is </invoke>.", _ALL, size)
    assert (len(turn.tool_calls), turn.parse_errors) == (1, ())
    assert turn.text == "\nThe closing tag is </invoke>."


@each_row("size", [1, 3, 1000])
@each_row(
    ("text", "shown"),
    [
        ("Done.<|im_end|>", "Done."),
        ("Done. <|im_end|>\nMore", "Done. \nMore"),
        ("Done.<|eot_id|> More", "Done. More"),
        ("<|START_RESPONSE|>Hi<|END_RESPONSE|>", "Hi"),
        ("Hi <|im_end|><|im_end|> ", "Hi  "),
    ],
)
def test_end_tokens_at_the_edge_of_words_are_hidden(text: str, shown: str, size: int) -> None:
    turn = read(text, _ALL, size)
    assert (turn.text, turn.parse_errors) == (shown, ())


@each_row("size", [1, 3, 1000])
@each_row(
    ("text", "calls"),
    [
        ('{"name": "f", "arguments": {}}<|eot_id|>', 1),
        ("[f(n=1)]\n<|eot_id|>\n", 1),
        ('{"name": "f", "arguments": {}}<|eot_id|> Done.', 0),
        ('```json\n{"name": "f", "arguments": {}}\n```\n' * 2, 2),
        (f"<think>So\n{_CALL}<|im_end|>", 1),
    ],
)
def test_end_tokens_after_a_whole_reply_leave_it_a_call(text: str, calls: int, size: int) -> None:
    dialects = [name for name in _ALL if name != "action-protocol"]
    assert len(read(text, dialects, size).tool_calls) == calls


@each_row("size", [1, 3, 1000])
@each_row(
    ("text", "calls"),
    [
        ("Ok.<tool_call>get_time</tool_call>", 1),
        ("Ok.\n<tool_call>get_time</tool_call> is on its way.", 1),
        ("Ok. <tool_call>get_time</tool_call><tool_call>get_time</tool_call>\n", 2),
    ],
)
def test_a_name_alone_in_the_tags_is_a_call_at_the_edge_of_words(
    text: str, calls: int, size: int
) -> None:
    turn = read(text, ("glm", "tagged-json"), size)
    assert (len(turn.tool_calls), turn.parse_errors) == (calls, ())


# The cost of many blocks


@pytest.mark.parametrize("name", sorted(TEXT_DIALECTS))
def test_short_blocks_in_a_long_text_do_not_cost_the_rest_of_it(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialect = TEXT_DIALECTS[name]
    block = dialect.write([WrittenCall("f", '{"a": "b"}', "c")])
    fed = 0

    def scanned(times: int) -> int:
        nonlocal fed
        fed = 0
        policy = TextPolicy(dialects=frozenset({name}))
        list(read_text_calls([TextDelta(block * times)], (Tool("f"),), policy))
        return fed

    ending = dialect.ending

    def counting(opener: str) -> Ending:
        found = ending(opener)
        feed = found.feed

        def counted(text: str, start: int) -> int:
            nonlocal fed
            fed += len(text) - start
            return feed(text, start)

        monkeypatch.setattr(found, "feed", counted, raising=False)
        return found

    monkeypatch.setattr(dialect, "ending", counting)
    assert scanned(160) <= 6 * scanned(40) + 2_000
