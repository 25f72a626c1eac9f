"""Harmony: round trips, recipients, channels, and what is no call."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.text_calls.dialect import BlockStart, Offered, RawBlock
from harness.text_calls.dialects.harmony import Harmony
from harness.turns.turn import Turn
from tests.text_calls.round_trip import SIZES, TOOLS, Piece, check_round_trip, conversations, read

HARMONY = Harmony()

_ARGUMENTS = '{"city": "Oslo"}'
_SIZES = (1, 7, 4000)


def _read(text: str, size: int = 3) -> Turn:
    return read(text, ("harmony",), size)


def _called(turn: Turn) -> list[tuple[str, object]]:
    return [(call.name, json.loads(call.arguments or "{}")) for call in turn.tool_calls]


@given(conversations(HARMONY), SIZES)
def test_harmony_comes_out_as_it_went_in(said: tuple[list[Piece], str], size: int) -> None:
    check_round_trip(HARMONY, said, size)


@pytest.mark.parametrize(
    "header",
    [
        "<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>",
        "<|channel|>commentary to=get_weather<|message|>",
        "<|channel|>commentary to=functions.get_weather<|constrain|>json<|message|>",
        "<|channel|>commentary to=functions.get_weather json<|message|>",
        "<|start|>assistant to=functions.get_weather<|channel|>commentary json<|message|>",
        "<|start|>assistant<|channel|>commentary to=get_weather <|constrain|>json<|message|>",
        "<|start|>assistant<|channel|>analysis to=functions.get_weather code<|message|>",
        "<|start|>assistant to=get_weather<|message|>",
    ],
)
def test_the_recipient_stands_in_several_places(header: str) -> None:
    for size in _SIZES:
        turn = _read(f"{header}{_ARGUMENTS}<|call|>", size)
        assert _called(turn) == [("get_weather", {"city": "Oslo"})]
        assert (turn.text, turn.reasoning, turn.parse_errors) == ("", "", ())


def test_channels_are_reasoning_preamble_call_and_answer() -> None:
    text = (
        "<|channel|>analysis<|message|>Need weather.<|end|>"
        "<|start|>assistant<|channel|>commentary<|message|>I will look.<|end|>"
        "<|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json"
        f"<|message|>{_ARGUMENTS}<|call|>"
        "<|start|>assistant<|channel|>final<|message|>It rains.<|return|>"
    )
    for size in _SIZES:
        turn = _read(text, size)
        assert turn.reasoning == "Need weather."
        assert turn.text == "I will look.It rains."
        assert _called(turn) == [("get_weather", {"city": "Oslo"})]


@pytest.mark.parametrize("end", ["<|end|>", "<|return|>", ""])
def test_a_call_on_analysis_without_call_token_is_reasoning(end: str) -> None:
    for size in _SIZES:
        turn = _read(
            f"<|channel|>analysis to=functions.get_weather code<|message|>{_ARGUMENTS}{end}", size
        )
        assert (turn.reasoning, turn.text) == (_ARGUMENTS, "")
        assert (turn.tool_calls, turn.parse_errors) == ((), ())


@pytest.mark.parametrize(
    ("recipient", "body"),
    [
        ("browser.get_time", "{}"),
        ("browser.search", '{"query": "x"}'),
        ("python", "print(1)\nprint('a')"),
        ("functions.rm", "{}"),
    ],
)
def test_tools_of_the_server_and_unknown_ones_are_rejected(recipient: str, body: str) -> None:
    turn = _read(f"<|channel|>commentary to={recipient} code<|message|>{body}<|call|>")
    assert [error.name for error in turn.parse_errors] == [recipient]
    assert (turn.text, turn.tool_calls) == ("", ())


@pytest.mark.parametrize(
    "message",
    [
        "<|channel|>commentary <|constrain|>json<|message|>{}<|call|>",
        '<|channel|>commentary to=f<|message|>{"n": 1<|call|>',
        '<|channel|>commentary to=f<|message|>{"city": "a\nb"}<|call|>',
        '<|channel|>commentary to=f json{"n": 1}<|call|>',
        '<|channel|>commentary to=f<|message|>{"n": 1',
        "<|channel|>commentary to=functions.get_ti",
    ],
)
def test_broken_calls_are_rejected_and_hidden(message: str) -> None:
    for size in _SIZES:
        turn = _read(f"a {message}", size)
        assert (turn.text, turn.tool_calls, len(turn.parse_errors)) == ("a ", (), 1)


def test_markers_inside_a_string_are_data() -> None:
    value = {"city": "<|call|> and <|end|> and <|start|>"}
    for size in _SIZES:
        turn = _read(f"<|channel|>commentary to=f<|message|>{json.dumps(value)}<|call|>Done.", size)
        assert _called(turn) == [("f", value)]
        assert turn.text == "Done."


def test_a_missing_end_token_ends_at_the_next_message() -> None:
    text = (
        "<|channel|>analysis<|message|>Hm.<|start|>assistant<|channel|>commentary to=f<|message|>"
        '{"n": 1}<|start|>assistant<|channel|>final<|message|>Yes.'
    )
    for size in _SIZES:
        turn = _read(text, size)
        assert (turn.reasoning, turn.text) == ("Hm.", "Yes.")
        assert _called(turn) == [("f", {"n": 1})]


def test_a_made_up_result_is_not_the_answer() -> None:
    turn = _read(
        '<|channel|>commentary to=f<|message|>{"n": 1}<|call|>'
        '<|start|>functions.f to=assistant<|channel|>commentary<|message|>{"ok": true}<|end|>'
        "<|start|>assistant<|channel|>final<|message|>Fine."
    )
    assert _called(turn) == [("f", {"n": 1})]
    assert (turn.text, turn.reasoning) == ("Fine.", '{"ok": true}')


def test_an_example_in_the_final_answer_is_text() -> None:
    example = f"```\n<|channel|>commentary to=get_weather<|message|>{_ARGUMENTS}<|call|>\n```\n"
    turn = _read(f"<|channel|>final<|message|>So:\n{example}Done.<|return|>")
    assert turn.text == f"So:\n{example}Done."
    assert turn.tool_calls == ()


@pytest.mark.parametrize(
    "text",
    [
        "The token <|channel|> stands before the name of a channel, such as final.",
        "A message begins with <|start|> and then a role.",
        "`<|channel|>final<|message|>` opens the answer.",
        "analysisWe need to answer. The answer is four.assistantfinalfour",
        'analysisCall.assistantcommentary to=functions.f json{"n": 1}',
        "to=functions.f is a recipient.",
    ],
)
def test_words_about_markers_and_stripped_markers_stay_text(text: str) -> None:
    for size in _SIZES:
        turn = _read(text, size)
        assert (turn.text, turn.reasoning) == (text, "")
        assert (turn.tool_calls, turn.parse_errors) == ((), ())


_PARTS = st.sampled_from(
    [
        *HARMONY.openers,
        *HARMONY.noise,
        "assistant",
        "analysis",
        "final",
        "commentary",
        " to=functions.f",
        "functions.f",
        "json",
        '{"n": 1}',
        '{"city": "',
        '"}',
        "```\n",
        "\n",
        " ",
        "x",
    ]
)


@given(st.lists(_PARTS, max_size=12).map("".join), SIZES)
def test_no_text_raises_and_no_cut_matters(text: str, size: int) -> None:
    assert _read(text, size) == _read(text, 4000)
    for opener in HARMONY.openers:
        block = RawBlock(opener, text, Offered(TOOLS), closed=True)
        HARMONY.calls(block)
        HARMONY.shown(block)
        HARMONY.section(BlockStart(opener, text, Offered(TOOLS), final=False))


@pytest.mark.parametrize(
    "text",
    [
        "<|start|>" * 5_000,
        "<|channel|>analysis<|message|>" * 1_500,
        "<|channel|>commentary to=f" * 1_500,
        '<|channel|>commentary to=f<|message|>{"city": "' + "<|call|>" * 5_000,
        "<|channel|>final<|message|>" + "<|end|>" * 5_000,
    ],
)
def test_long_hostile_text_is_read_the_same_however_it_is_cut(text: str) -> None:
    assert _read(text, 1000) == _read(text, len(text))


_REST = '{"city": "Oslo"}<|call|>'


@pytest.mark.parametrize(
    ("text", "calls", "shown"),
    [
        (f"commentary to=functions.get_weather <|constrain|>json<|message|>{_REST}", 1, ""),
        (f"to=functions.get_weather<|channel|>commentary json<|message|>{_REST}", 1, ""),
        (f"functions.get_weather <|constrain|>json<|message|>{_REST}", 1, ""),
        ("assistant<|channel|>final<|message|>It rains.<|return|>", 0, "It rains."),
        ("final<|message|>It rains.", 0, "It rains."),
        ("final, it rains.", 0, "final, it rains."),
        (
            f"So commentary to=get_weather<|message|>{_REST}",
            0,
            f"So commentary to=get_weather{_REST[:-8]}",
        ),
    ],
)
def test_the_text_may_begin_within_a_header(text: str, calls: int, shown: str) -> None:
    for size in _SIZES:
        turn = _read(text, size)
        assert (len(turn.tool_calls), turn.text, turn.reasoning) == (calls, shown, "")


_CALL = f"<|start|>assistant<|channel|>commentary to=get_weather<|message|>{_ARGUMENTS}<|call|>"


@pytest.mark.parametrize("quoted", [_CALL, _CALL.removeprefix("<|start|>assistant")])
@pytest.mark.parametrize("end", ["<|return|>", "<|end|>", ""])
def test_what_the_answer_quotes_is_text(quoted: str, end: str) -> None:
    for size in _SIZES:
        turn = _read(f"<|channel|>final<|message|>Use {quoted} so.{end}", size)
        assert (turn.text, turn.tool_calls, turn.parse_errors) == (f"Use {quoted} so.", (), ())


def test_tokens_in_a_string_are_data_if_the_stop_token_was_removed() -> None:
    arguments = json.dumps({"city": f"{_CALL}{_CALL}"})
    text = f"<|channel|>commentary to=get_weather<|message|>{arguments}"
    for size in _SIZES:
        assert _called(_read(text, size)) == [("get_weather", json.loads(arguments))]
        cut = _read(text[:-3], size)
        assert (cut.text, cut.tool_calls, len(cut.parse_errors)) == ("", (), 1)
