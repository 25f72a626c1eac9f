"""Dialects of special tokens: what is written comes out, what is quirky too, and no more."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.text_calls import TEXT_DIALECTS, WrittenCall
from harness.turns.turn import Turn
from tests.tables import each_row
from tests.text_calls.round_trip import SIZES, Piece, check_round_trip, conversations, read

_NAMES = (
    "deepseek",
    "kimi",
    "mistral-tool-calls",
    "cohere-action",
    "python-tag",
    "phi",
    "granite",
    "jamba",
    "internlm",
    "json-tags",
    "apertus",
    "solar",
    "plamo",
    "inkling",
    "functionary",
    "qwen-agent",
)
# All but the one that is read by a scanner of its own.
_ALL = tuple(name for name in TEXT_DIALECTS if name != "action-protocol")
# What may follow JSON as a part of the same block.
_WITHOUT = {"python-tag": "{[;,", "functionary": ">"}
_OSLO = '{"city": "Oslo"}'
_WEATHER: tuple[str, object] = ("get_weather", {"city": "Oslo"})
_TIME: tuple[str, object] = ("get_time", {})


def _token(words: str, bar: str = "\uff5c", join: str = "\u2581") -> str:
    return f"<{bar}{words.replace(' ', join)}{bar}>"


_BEGINS, _BEGIN, _SEP, _END, _ENDS, _EOS = map(
    _token,
    (
        "tool calls begin",
        "tool call begin",
        "tool sep",
        "tool call end",
        "tool calls end",
        "end of sentence",
    ),
)
_KIMI = "<|tool_call_begin|>{}<|tool_call_argument_begin|>{}<|tool_call_end|>"


def _called(turn: Turn) -> list[tuple[str, object]]:
    return [(call.name, json.loads(call.arguments)) for call in turn.tool_calls]


def _v3(name: str, arguments: str) -> str:
    return f"{_BEGIN}function{_SEP}{name}\n```json\n{arguments}\n```{_END}"


@pytest.mark.parametrize("name", _NAMES)
@given(st.data(), SIZES)
def test_what_is_written_comes_out_as_it_went_in(name: str, data: st.DataObject, size: int) -> None:
    dialect = TEXT_DIALECTS[name]
    said: tuple[list[Piece], str] = data.draw(
        conversations(dialect, without=_WITHOUT.get(name, ""))
    )
    check_round_trip(dialect, said, size)


@pytest.mark.parametrize("name", ["kimi", "solar"])
def test_a_line_end_after_the_token_that_ends_the_calls_belongs_to_it(name: str) -> None:
    said = [Piece("", (WrittenCall("get_weather", "{}"),))], "\n"
    check_round_trip(TEXT_DIALECTS[name], said, 1)


# Text dialect, text, the visible text without white space around it, calls
_GOOD = [
    ("deepseek", f"{_BEGINS}{_v3('get_weather', _OSLO)}{_ENDS}{_EOS}", "", [_WEATHER]),
    (
        "deepseek",
        f"So:{_BEGINS}{_v3('get_weather', _OSLO)}\n{_v3('get_time', '{}')}{_ENDS}",
        "So:",
        [_WEATHER, _TIME],
    ),
    ("deepseek", f"{_BEGIN}get_weather{_SEP}{_OSLO}{_END} Wait.", "Wait.", [_WEATHER]),
    ("deepseek", f"{_BEGINS}\n{_BEGIN}get_time{_SEP}{{}}{_EOS}", "", [_TIME]),
    (
        "deepseek",
        f"{_BEGINS}{_v3('get_time', '{}')}{_ENDS}\n```python\nx\n```",
        "```python\nx\n```",
        [_TIME],
    ),
    (
        "deepseek",
        (
            f"{_token('tool calls begin', join='_')}{_token('tool call begin', join='_')}get_time"
            f"{_token('tool sep', join='_')}{{}}{_token('tool call end', join='_')}"
        ),
        "",
        [_TIME],
    ),
    (
        "deepseek",
        (
            f"{_token('tool calls begin', '|')}{_token('tool call begin', '|')}get_time"
            f"{_token('tool sep', '|')}{{}}{_token('tool call end', '|')}"
        ),
        "",
        [_TIME],
    ),
    (
        "kimi",
        "<|tool_calls_section_begin|>"
        + _KIMI.format("functions.get_weather:0", _OSLO)
        + _KIMI.format("functions.get_time:1", "{}")
        + "<|tool_calls_section_end|>",
        "",
        [_WEATHER, _TIME],
    ),
    (
        "kimi",
        "Hm. <|tool_call_section_begin|>\n"
        + _KIMI.format(" get_weather:7 ", f"\n{_OSLO}\n")
        + "<|tool_call_section_end|><|im_end|>",
        "Hm.",
        [_WEATHER],
    ),
    (
        "kimi",
        _KIMI.format("functions.schema.list_tables:3", "{}"),
        "",
        [("schema.list_tables", {})],
    ),
    (
        "mistral-tool-calls",
        f'[TOOL_CALLS] [{{"name": "get_weather", "arguments": {_OSLO}, "id": "x"}}]</s>',
        "",
        [_WEATHER],
    ),
    (
        "mistral-tool-calls",
        f"A [TOOL_CALLS]get_weather[ARGS]{_OSLO}[TOOL_CALLS]get_time[CALL_ID]9[ARGS]{{}}",
        "A",
        [_WEATHER, _TIME],
    ),
    ("mistral-tool-calls", "[TOOL_CALLS]get_time{}", "", [_TIME]),
    (
        "mistral-tool-calls",
        f"[TOOL_CALLS]get_weather[ARGS]{_OSLO}, get_time[CALL_ID]9[ARGS]{{}},get_time{{}}</s>",
        "",
        [_WEATHER, _TIME, _TIME],
    ),
    (
        "mistral-tool-calls",
        f"[TOOL_CALLS]get_weather[ARGS]{_OSLO}, get_time [it says].",
        ", get_time [it says].",
        [_WEATHER],
    ),
    (
        "mistral-tool-calls",
        f"[TOOL_CALLS]get_weather[ARGS]{_OSLO}[TOOL_CALLS]get_time{{}}, and so on",
        ", and so on",
        [_WEATHER, _TIME],
    ),
    ("mistral-tool-calls", "[TOOL_CALLS][] Nothing.", "Nothing.", []),
    (
        "cohere-action",
        (
            "<|START_THINKING|>Hm.<|END_THINKING|><|START_ACTION|>[\n"
            f'{{"tool_call_id": "0", "tool_name": "get_weather", "parameters": {_OSLO}}},\n'
            '{"tool_call_id": "1", "tool_name": "get_time", "parameters": {}}]<|END_ACTION|>'
            "<|END_OF_TURN_TOKEN|>"
        ),
        "",
        [_WEATHER, _TIME],
    ),
    ("cohere-action", "<|START_RESPONSE|>Hi.<|END_RESPONSE|>", "Hi.", []),
    (
        "python-tag",
        (
            f'<|python_tag|>{{"name": "get_weather", "parameters": {_OSLO}}}; '
            '{"name": "get_time", "parameters": {}}<|eom_id|>'
        ),
        "",
        [_WEATHER, _TIME],
    ),
    ("python-tag", '<|python_tag|>search.call(query="a)b")', "", [("search", {"query": "a)b"})]),
    ("python-tag", "Hi.<|eot_id|>", "Hi.", []),
    (
        "granite",
        f'<|tool_call|>[{{"name": "get_weather", "arguments": {_OSLO}}}]<|end_of_text|>',
        "",
        [_WEATHER],
    ),
    ("granite", '<tool_call>[{"name": "get_time", "arguments": {}}]', "", [_TIME]),
    ("jamba", '<tool_calls>[{"name": "get_time", "arguments": {}}]</tool_calls>', "", [_TIME]),
    ("phi", '<|tool_call|>[{"name": "get_time", "arguments": {}}]<|/tool_call|>', "", [_TIME]),
    ("phi", 'functools[{"name": "get_time", "arguments": {}}]', "", [_TIME]),
    ("phi", "Well: functools[] Nothing.", "Well:  Nothing.", []),
    (
        "internlm",
        '<|action_start|> <|plugin|>\n{"name": "get_time", "parameters": {}}<|action_end|>',
        "",
        [_TIME],
    ),
]


@each_row(("name", "text", "visible", "calls"), _GOOD)
def test_calls_are_found_at_every_size(
    name: str, text: str, visible: str, calls: list[tuple[str, object]]
) -> None:
    for dialects in ([name], _ALL):
        for size in range(1, len(text) + 1):
            turn = read(text, dialects, size)
            assert turn.parse_errors == ()
            assert (turn.text.strip(), _called(turn)) == (visible, calls), size


# Text dialect, text, the visible text, what the report of the broken call says
_BROKEN = [
    ("deepseek", f'A{_BEGINS}{_BEGIN}get_weather{_SEP}{{"city": "Os', "A", "found the end"),
    ("deepseek", f"{_BEGINS}{_BEGIN}function{_SEP}get_ti", "", "no arguments"),
    ("deepseek", f"{_BEGINS}{_BEGIN}get_ti", "", "ended before"),
    ("deepseek", f"{_BEGINS}{_BEGIN}get_time{_SEP}{_END}{_ENDS}", "", "no arguments"),
    ("deepseek", f"{_BEGINS}{_BEGIN}get_time{_SEP}{{}}}}{_END}{_ENDS}", "}", "closing marker"),
    ("deepseek", f"{_BEGINS}{_BEGIN}get_time{_SEP}x {{}}{_END}", "", "not JSON"),
    ("deepseek", f"Done.{_END}{_ENDS}", "Done.", "closing marker"),
    ("kimi", "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_we", "", "ended"),
    ("kimi", _KIMI.format("functions.get_weather:0", "{city: 1}"), "", "expected"),
    ("kimi", _KIMI.format("functions.nobody:0", "{}"), "", "no tool 'nobody'"),
    ("kimi", _KIMI.format("functions.get_time:0", f"[{_OSLO}]"), "", "an array"),
    ("mistral-tool-calls", "[TOOL_CALLS]get_weather[ARGS]", "", "no arguments"),
    ("mistral-tool-calls", '[TOOL_CALLS] [{"name": "get_time", "argum', "", "ended inside"),
    ("mistral-tool-calls", '[TOOL_CALLS] [{"version": 1}]', "", "names no tool"),
    ("cohere-action", '<|START_ACTION|>[{"tool_name": "get_ti', "", "ended inside"),
    ("cohere-action", "<|START_ACTION|>[{}]<|END_ACTION|>", "", "names no tool"),
    ("python-tag", '<|python_tag|>search.call(query="a', "", "ended inside"),
    ("python-tag", "<|python_tag|>search.call(query=2+3)", "", "literal"),
    ("python-tag", "<|python_tag|>brave_search.call(query='x')", "", "no tool 'brave_search'"),
    ("granite", '<|tool_call|>[{"name": "get_time", "arguments": {x}}]', "", "not JSON"),
    ("jamba", '<tool_calls>[{"name": "get_time", "arg</tool_calls> B', "", "ended inside"),
    ("phi", '<|tool_call|>[{"name": "get_time", "n": 1}]<|/tool_call|>', "", "no arguments"),
    ("internlm", '<|action_start|><|plugin|>{"name": "f", ', "", "ended inside"),
]


@each_row(("name", "text", "visible", "says"), _BROKEN)
def test_broken_calls_are_reported_and_hidden(
    name: str, text: str, visible: str, says: str
) -> None:
    for size in range(1, len(text) + 1):
        turn = read(text, [name], size)
        assert turn.tool_calls == ()
        assert len(turn.parse_errors) == 1
        assert says in turn.parse_errors[0].error
        assert turn.parse_errors[0].mode == "json_fallback"
        assert turn.text.strip() == visible, size


_PROSE = [
    f"{_BEGINS} opens a section of calls",
    f"The token {_BEGIN} is followed by the name",
    "A section is <|tool_calls_section_begin|> and then the calls",
    "The model writes [TOOL_CALLS] before a call",
    "See [TOOL_CALLS] [1] for it",
    "It has <|START_ACTION|> before its actions",
    "The tag <|python_tag|> comes first",
    "<|python_tag|>import math\nprint(math.pi)",
    "Granite has <|tool_call|> where others have none",
    "Use functools.partial or functools[0]",
    "Give [functools] or functools",
    "It begins with functools[",
    "A <tool_calls> tag holds an array",
    "Tokens: <|action_start|><|plugin|> and more",
    "<s>old</s> price",
]


@each_row("text", _PROSE)
def test_prose_about_markers_stays_text(text: str) -> None:
    for size in range(1, len(text) + 1):
        turn = read(text, _ALL, size)
        assert (turn.text, turn.tool_calls, turn.parse_errors) == (text, (), ())


@pytest.mark.parametrize("rest", [",get_time[AR", ",get_time[ARGS]", ",get_time[ARGS]{x"])
def test_a_call_of_a_list_that_is_broken_does_not_take_the_one_before_it(rest: str) -> None:
    for size in (1, 5, 400):
        turn = read(f"[TOOL_CALLS]get_weather[ARGS]{_OSLO}{rest}", ["mistral-tool-calls"], size)
        assert (_called(turn), turn.text) == ([_WEATHER], "")
        assert [error.name for error in turn.parse_errors] == ["get_time"]


def test_the_id_of_a_call_is_kept() -> None:
    kimi = read(_KIMI.format("functions.get_time:0", "{}"), ["kimi"], 5)
    mistral = read("[TOOL_CALLS]get_time[CALL_ID]abc123def[ARGS]{}", ["mistral-tool-calls"], 5)
    assert [call.id for call in kimi.tool_calls] == ["functions.get_time:0"]
    assert [call.id for call in mistral.tool_calls] == ["abc123def"]


@each_row("name", _NAMES)
def test_its_own_markers_in_a_string_are_data(name: str) -> None:
    dialect = TEXT_DIALECTS[name]
    value = " ".join(dialect.markers)
    call = WrittenCall("search", json.dumps({"query": value}, ensure_ascii=False))
    turn = read(dialect.write([call]), [name], 4)
    assert _called(turn) == [("search", {"query": value})]
    assert turn.text == ""


_WORDS = st.sampled_from(
    [
        *(mark for name in _NAMES for mark in TEXT_DIALECTS[name].markers),
        *("get_weather", "functions.get_time:0", ".call(", "{", "}", "[", "]", '"', "\\", "\n"),
        *(_OSLO, '{"name": "get_time", "arguments": {}}', "```json", " ", ";"),
    ]
)


@given(st.lists(_WORDS | st.text(max_size=3), max_size=12).map("".join), SIZES)
def test_hostile_text_neither_raises_nor_depends_on_the_cut(text: str, size: int) -> None:
    whole = read(text, _ALL, len(text) or 1)
    cut = read(text, _ALL, size)
    assert (cut.text, cut.tool_calls, cut.parse_errors) == (
        whole.text,
        whole.tool_calls,
        whole.parse_errors,
    )


@each_row(
    "unit",
    [
        f"{_BEGIN}get_time{_SEP}",
        f'{_BEGIN}get_time{_SEP}{{"',
        "<|tool_calls_section_begin|><|tool_call_begin|>get_time<|tool_call_argument_begin|>{}",
        "[TOOL_CALLS]get_time",
        "[TOOL_CALLS][{",
        '<|START_ACTION|>[{"',
        "<|python_tag|>f.call('",
        '<|tool_call|>[{"',
    ],
)
def test_long_hostile_text_is_read_the_same_however_it_is_cut(unit: str) -> None:
    text = unit * 500
    assert read(text, _NAMES, 400) == read(text, _NAMES, len(text))


@each_row("size", [1, 3, 1000])
@each_row("token", ["<|endoftext|>", "</s>", "<eos>", "<|user|>", "<|im_end|>"])
def test_end_tokens_of_any_template_are_not_shown(token: str, size: int) -> None:
    for name in _ALL:
        assert read(token, [name], size).text == ""
        assert read(f"Hi.{token}\n", [name], size).text == "Hi."
        turn = read(TEXT_DIALECTS[name].write([WrittenCall("f", "{}")]) + token, [name], size)
        assert (turn.text, [it.name for it in turn.tool_calls]) == ("", ["f"]), name
    for text in (f"The token {token} ends a turn.", f"`{token}`", "<s>old</s> new"):
        assert read(text, ["tagged-json"], size).text == text
