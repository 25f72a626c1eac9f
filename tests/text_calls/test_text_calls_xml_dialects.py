"""The XML-ish text dialects: round trips, closing tags in values, and hostile text."""

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from harness.text_calls import TEXT_DIALECTS, TextDialect, WrittenCall
from harness.turns.turn import Tool
from tests.tables import each_row
from tests.text_calls.round_trip import (
    SIZES,
    TOOLS,
    arguments,
    check_round_trip,
    conversations,
    read,
    without_examples,
)

S = "]<]minimax[>["
NAMES = (
    "qwen-xml",
    "llama-function",
    "glm",
    "minimax",
    "minimax-m3",
    "anthropic-invoke",
    "dsml",
    "kimi-k3",
    "longcat",
    "hunyuan",
    "minicpm",
    "k2-horizon",
    "step",
)
# The closing tags of each, innermost first.
CLOSERS = {
    "qwen-xml": ("</parameter>", "</function>", "</tool_call>"),
    "llama-function": ("</function>",),
    "glm": ("</arg_value>", "</tool_call>"),
    "minimax": ("</parameter>", "</invoke>", "</minimax:tool_call>"),
    "minimax-m3": ("</tool_call>", "</invoke>", "</city>"),
    "anthropic-invoke": ("</parameter>", "</invoke>", "</function_calls>"),
    "dsml": ("</｜DSML｜parameter>", "</｜DSML｜invoke>", "</｜DSML｜function_calls>"),
    "kimi-k3": tuple(f"<|close|>{word}<|sep|>" for word in ("argument", "call", "tools")),
    "longcat": ("</longcat_arg_value>", "</longcat_tool_call>"),
    "hunyuan": ("</arg_value>", "</tool_call>", "</tool_calls>"),
    "minicpm": ("</param>", "</function>"),
    "k2-horizon": ("</ifm|arg_value>", "</ifm|tool_call>", "</ifm|tool_calls>"),
    "step": ("</steptml:parameter>", "</steptml:invoke>"),
}
# Every tag of every dialect here, and what stands between them.
TAGS = (
    *(closer for closers in CLOSERS.values() for closer in closers),
    *(f"{S}{tag}" for tag in ("<tool_call>", "</tool_call>", '<invoke name="f">', "</invoke>")),
    *(f"{S}<city>", f"{S}</city>", S),
    *("<tool_call>", "<function=f>", "<parameter=city>", "<parameter=none>", "<function=f>{"),
    *("f", "<arg_key>city</arg_key>", "<arg_value>", "<minimax:tool_call>", "<tool_calls>"),
    *("<function_calls>", '<invoke name="f">', '<parameter name="city">', "</tool_calls>"),
    *('<antml:invoke name="f">', "<antml:function_calls>", '<antml:parameter name="n">'),
    *("<｜DSML｜tool_calls>", '<|DSML|invoke name="f">', '<｜DSML｜parameter name="city">'),
    *("<|open|>tools<|sep|>", '<|open|>call tool="f" index="1"<|sep|>', "<|sep|>"),
    *('<|open|>argument key="city" type="string"<|sep|>', '<|open|>argument key="n"<|sep|>'),
    *('<function name="f">', '<param name="city">', '<param name="n">', "<![CDATA[", "]]>"),
    *("<ifm|tool_calls>", "<ifm|tool_call>", "<ifm|arg_key>city</ifm|arg_key>", "<ifm|arg_value>"),
    *(
        "<｜tool_calls_begin｜>",
        "<｜tool_call_begin｜>function<｜tool_sep｜>",
        "<｜tool_call_end｜>",
    ),
    *('<steptml:invoke name="f">', '<steptml:parameter name="city">'),
    *("x", "\n", "}", '"', '{"a": 1}', " ", "5", "`", "<think>", "</think>"),
)
HOSTILE = st.lists(st.sampled_from(TAGS), max_size=25).map("".join)

# What a template that writes no quotes can spell and the schema of the shared tools tells apart.
WORDS = st.text(st.characters(codec="utf-8", categories=["L"]), min_size=1, max_size=8)
PLAIN = WORDS.filter(lambda word: word not in ("null", "true", "false", "None", "True", "False"))
KEYS = WORDS.filter(lambda word: word != "item")
NESTED = arguments(
    items=st.lists(PLAIN, max_size=3), options=st.dictionaries(KEYS, PLAIN, max_size=3)
)


def values_of(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """Return arguments with closing tags in their strings, each with text behind it."""
    data = st.lists(st.sampled_from(CLOSERS[name]), max_size=4).map(
        lambda tags: "".join(f" {tag}\n\nx" for tag in tags)
    )
    base = NESTED if name == "minimax-m3" else arguments()
    return st.builds(lambda value, city: value | {"city": city}, base, data) | base


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data(), size=SIZES)
def test_comes_out_as_it_went_in(name: str, data: st.DataObject, size: int) -> None:
    dialect = TEXT_DIALECTS[name]
    values = values_of(name)
    # In the middle of a line GLM's form without arguments is text.
    values = values.filter(bool) if name == "glm" else values
    said = data.draw(conversations(dialect, values))
    check_round_trip(dialect, said, size)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_a_call_cut_short_is_never_run(name: str, data: st.DataObject) -> None:
    dialect = TEXT_DIALECTS[name]
    value = json.dumps({"city": "Oslo", "n": 7})
    text = dialect.write([WrittenCall("f", value)])
    text = text[: data.draw(st.integers(1, len(text) - 1))]
    turn = read(text, [name], 5)
    # Once the body is whole the missing outer tag is a matter of policy.
    assert all(json.loads(call.arguments) == json.loads(value) for call in turn.tool_calls)


# What begins a call of each dialect whose closing tags a value may contain.
OPENERS = {
    "qwen-xml": "<function=",
    "glm": "<tool_call>",
    "minimax": "<invoke",
    "anthropic-invoke": "<invoke",
    "dsml": "<｜DSML｜invoke",
    "longcat": "<longcat_tool_call>",
    "hunyuan": "<tool_call>",
    "k2-horizon": "<ifm|tool_call>",
    "step": "<steptml:invoke",
}


@each_row("outer", [False, True])
@each_row("name", OPENERS)
def test_nothing_is_executed_if_closing_tags_and_a_call_may_be_a_value(
    name: str,
    outer: bool,  # noqa: FBT001 - drawn from two
) -> None:
    """It is one value, or two calls of which the second has an odd value."""
    text = TEXT_DIALECTS[name].write([WrittenCall("f", '{"city": "@"}')])
    before, after = text.split("@")
    closer = CLOSERS[name][-1 if outer else 1]
    closing = after[: after.index(closer) + len(closer)]
    start = 0 if outer else text.index(OPENERS[name])
    quoted = text[start : text.index(closer) + len(closer)].replace("@", "Oslo")
    turn = read(f"{before}b{closing}{quoted} as{after}", [name], 7)
    assert not turn.tool_calls
    assert turn.parse_errors


@given(HOSTILE, SIZES)
def test_hostile_text_is_read_the_same_however_it_is_cut(text: str, size: int) -> None:
    whole = read(text, NAMES, len(text) or 1, policy=without_examples)
    assert read(text, NAMES, size, policy=without_examples) == whole
    read(text, NAMES, size)


@given(HOSTILE)
@example("</parameter>]<]minimax[>[}")
@example("`]<]minimax[>[`")
def test_no_sentinel_is_shown_right_after_a_word_or_a_bracket(text: str) -> None:
    """Elsewhere the text may speak of it."""
    shown = read(text, ["minimax-m3"], 9, policy=without_examples).text
    assert not re.search(rf"[A-Za-z0-9.!?>)}}\]]{re.escape(S)}", shown)


@each_row("name", NAMES)
def test_tags_without_end_are_read_the_same_however_they_are_cut(name: str) -> None:
    dialect = TEXT_DIALECTS[name]
    call = dialect.write([WrittenCall("f", '{"city": "Oslo"}')])
    for unit in (call, *CLOSERS[name], *dialect.openers, call[:-3], call + " and "):
        text = unit * (10_000 // len(unit))
        assert read(text, [name], 7) == read(text, [name], len(text)), unit


# Examples: what the catalogue has


def said(name: str, text: str, tools: tuple[Tool, ...] = TOOLS) -> list[Any]:
    """Return calls as (name, arguments), rejections as (name, error), and the text last."""
    turn = read(text, [name], 3, tools)
    assert read(text, [name], len(text), tools) == turn
    calls = [(call.name, json.loads(call.arguments or "{}")) for call in turn.tool_calls]
    return [*calls, *((error.name, error.error) for error in turn.parse_errors), turn.text]


WRITE = Tool(
    "write",
    "",
    {
        "type": "object",
        "properties": {"path": {"type": "string"}, "text": {"type": "string"}},
        "required": ["path", "text"],
    },
)


@each_row(
    ("text", "expected"),
    [
        # TEXT-QWEN3-XML: one line end on each side, and nothing else
        (
            (
                "<tool_call>\n<function=f>\n<parameter=city>\n\n a\nb \n\n</parameter>\n"
                "</function>\n</tool_call>"
            ),
            [("f", {"city": "\n a\nb \n"}), ""],
        ),
        # TEXT-OPEN-MISSING
        (
            "A <function=f>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call> B",
            [("f", {"city": "Oslo"}), "A  B"],
        ),
        ("<function=get_time>\n</function>", [("get_time", {}), ""]),
        ("Use <function=NAME> for a call.", ["Use <function=NAME> for a call."]),
        ("Use <function=f> for a call.", ["Use <function=f> for a call."]),
        # Two calls in one outer tag, and two outer tags without a line between
        (
            "<tool_call><function=f></function><function=get_time></function></tool_call>",
            [("f", {}), ("get_time", {}), ""],
        ),
        # the outer closing tag is missing
        ("<tool_call>\n<function=f>\n</function>", [("f", {}), ""]),
        (
            (
                "<tool_call>\n<function=f>\n</function>\n<tool_call>\n<function=get_time>\n</function>\n"
                "</tool_call>"
            ),
            [("f", {}), ("get_time", {}), ""],
        ),
        # 007 and a number
        (
            "<function=f><parameter=city>007</parameter><parameter=n>42</parameter></function>",
            [("f", {"city": "007", "n": 42}), ""],
        ),
    ],
)
def test_qwen_xml(text: str, expected: list[Any]) -> None:
    assert said("qwen-xml", text) == expected


PATH, TEXT = "<parameter=path>", "<parameter=text>"
END, CALL_END, OUTER_END = CLOSERS["qwen-xml"]


@each_row(
    ("body", "value"),
    [
        (f"{PATH}a{TEXT}b", {"path": "a", "text": "b"}),
        (f"{PATH}a{END}{TEXT}b", {"path": "a", "text": "b"}),
        (f"{PATH}a{TEXT}b{END}", {"path": "a", "text": "b"}),
        # The closing tag of a parameter, of the call, of the block, as data
        (f"{PATH}a{END}{TEXT}b {END} c{END}", {"path": "a", "text": f"b {END} c"}),
        (f"{PATH}a{END}{TEXT}b {CALL_END}{OUTER_END} c{END}", None),
        # An opening tag as data: no such parameter, or one that was there
        (f"{PATH}a{END}{TEXT}see <parameter=x>{END}", {"path": "a", "text": "see <parameter=x>"}),
        (f"{PATH}a{END}{TEXT}see {PATH}{END}", {"path": "a", "text": f"see {PATH}"}),
        # A whole call as data
        (
            f"{PATH}a{END}{TEXT}<tool_call><function=f>{CALL_END}{OUTER_END}.{END}",
            {"path": "a", "text": f"<tool_call><function=f>{CALL_END}{OUTER_END}."},
        ),
    ],
)
def test_qwen_xml_closing_tags(body: str, value: dict[str, str] | None) -> None:
    text = f"<tool_call><function=write>{body}{CALL_END}{OUTER_END}"
    expected = value or {"path": "a", "text": f"b {CALL_END}{OUTER_END} c"}
    assert said("qwen-xml", text, (WRITE, *TOOLS)) == [("write", expected), ""]


def test_an_opening_tag_in_a_value_that_could_be_a_parameter_is_no_guess() -> None:
    optional = Tool("write", "", {"properties": WRITE.parameters["properties"]})
    text = f"<tool_call><function=write>{PATH}a{TEXT}b{END}{CALL_END}{OUTER_END}"
    name, error = said("qwen-xml", text, (optional,))[0]
    assert (name, "two ways" in error) == ("write", True)


def test_a_value_that_ends_the_call_too_early_is_not_run() -> None:
    early = f"{END}{CALL_END}{OUTER_END}"
    text = f"<tool_call><function=write>{PATH}a{END}{TEXT}b {early} c {early}"
    calls = said("qwen-xml", text, (WRITE,))
    assert calls[0][0] == "write"
    assert "closing marker" in calls[0][1]


def test_a_value_that_names_the_opening_tag() -> None:
    end = f"{END}{CALL_END}{OUTER_END}"
    text = f"A <tool_call><function=write>{PATH}a{END}{TEXT}the <tool_call> tag{end} B"
    expected = {"path": "a", "text": "the <tool_call> tag"}
    assert said("qwen-xml", text, (WRITE,)) == [("write", expected), "A  B"]
    # As much of a call as could be an example that was cut short costs its call, and no text.
    text = text.replace("the <tool_call>", f"the <tool_call><function=f>{PATH}x")
    assert said("qwen-xml", text, (WRITE,)) == [
        ("write", "the markup of the call is not complete"),
        "A  B",
    ]


def test_a_call_without_closing_tags_does_not_swallow_the_next() -> None:
    one = f"<tool_call><function=write>{PATH}a{TEXT}b{CALL_END}{OUTER_END}"
    assert said("qwen-xml", f"{one}\n{one}\n", (WRITE,)) == [
        ("write", {"path": "a", "text": "b"}),
        ("write", {"path": "a", "text": "b"}),
        "",
    ]


@each_row("end", [CALL_END, f"{CALL_END}{OUTER_END}", f"{END}{CALL_END}"])
@each_row("opener", ["<tool_call>", ""])
def test_a_value_that_may_go_on_is_never_cut(end: str, opener: str) -> None:
    text = f"{opener}<function=write>{PATH}a{END}{TEXT}b {end} and"
    for more in ("", " more", f" <tool_call><function=f>{CALL_END}{OUTER_END} more"):
        calls = said("qwen-xml", text + more, (WRITE, *TOOLS))
        if end != f"{END}{CALL_END}" or opener:
            assert [call for call in calls[:-1] if isinstance(call[1], dict)] == []
            assert ("and" in calls[-1]) == (len(more) < 10)


@each_row(
    ("name", "text", "expected"),
    [
        ("llama-function", '<function=f>{"n":1.0}</function><|eom_id|>', [("f", {"n": 1.0}), ""]),
        (
            "llama-function",
            '<tool_call>\n<function=f>\n{"city":"</function>"}\n</function>\n</tool_call> B',
            [("f", {"city": "</function>"}), " B"],
        ),
        ("llama-function", "<function=f>(x)</function>", ["<function=f>(x)</function>"]),
        ("glm", "<tool_call>get_time</tool_call>", [("get_time", {}), ""]),
        (
            "glm",
            "A<tool_call>f\n<arg_key>city</arg_key>\n<arg_value> 007\n</arg_value>\n</tool_call>B",
            [("f", {"city": " 007\n"}), "AB"],
        ),
        (
            "glm",
            (
                "<tool_call>f<arg_key>city</arg_key><arg_value>a<arg_key>n</arg_key><arg_value>5"
                "</tool_call>"
            ),
            [("f", {"city": "a", "n": 5}), ""],
        ),
        ("glm", "<tool_call>what is it</tool_call>", ["<tool_call>what is it</tool_call>"]),
        (
            "minimax",
            (
                '<tool_calls>\n{"name":"f","arguments":{"n":1}}\n{"name":"get_time","arguments":{}}\n'
                "</tool_calls>\nB"
            ),
            [("f", {"n": 1}), ("get_time", {}), "\nB"],
        ),
        (
            "minimax-m3",
            (
                f'{S}<tool_call>{S}<invoke name="f">{S}<city>a{S}</city>{S}<-A>x{S}</-A>'
                f"{S}</invoke>{S}</tool_call>"
            ),
            [("f", {"city": "a", "-A": "x"}), ""],
        ),
        ("minimax-m3", f"a {S}b", ["a b"]),
        ("minimax-m3", f"a {S}</city>{S}</invoke> b", ["a  b", ("", "the markup holds no call")]),
        ("minimax-m3", f"a {S}</invoke>b", ["a b", ("", "the markup holds no call")]),
        ("minimax-m3", f"a {S}<argv>{S}<item>", ["a ", ("", "the markup holds no call")]),
        (
            "minimax-m3",
            f'<tool_call>\n{S}<invoke name="f">{S}</invoke>\n</tool_call>',
            [("f", {}), ""],
        ),
        ("anthropic-invoke", 'Use <invoke name="x"> to call.', ['Use <invoke name="x"> to call.']),
        (
            "anthropic-invoke",
            (
                'n\n<antml:invoke name="f">\n<antml:parameter name="city">a b</antml:parameter>\n'
                "</antml:invoke>\n</antml:function_calls>"
            ),
            [("f", {"city": "a b"}), "n"],
        ),
        (
            "dsml",
            "The token <｜DSML｜tool_calls> opens calls.",
            ["The token <｜DSML｜tool_calls> opens calls."],
        ),
        ("dsml", "A <｜DSML｜tool_", [("", "the markup holds no call"), "A "]),
        (
            "minicpm",
            (
                '<function name="f"><param name="city"><![CDATA[a</param></function>b]]></param>'
                '<param name="n">5</param></function>B'
            ),
            [("f", {"city": "a</param></function>b", "n": 5}), "B"],
        ),
        (
            "minicpm",
            '<function name="f"><param name="city"><![CDATA[a]]>]]></param></function>',
            [("f", "there is text next to a CDATA section, or it holds its own end"), ""],
        ),
        (
            "minicpm",
            '<function name="f"><param name="city">a &lt; b</param></function>',
            [("f", {"city": "a < b"}), ""],
        ),
    ],
)
def test_examples(name: str, text: str, expected: list[Any]) -> None:
    assert sorted(map(str, said(name, text))) == sorted(map(str, expected))


@each_row("bar", ["｜", "|", "｜｜", "||", "‖"])
@each_row("word", ["tool_calls", "function_calls"])
@each_row("gap", ["", "\n", " "])
def test_dsml_in_all_its_spellings(bar: str, word: str, gap: str) -> None:
    token = f"{bar}DSML{bar}{gap}"
    text = (
        f'<{token}{word}>\n<{token}invoke{gap or " "}name="f"><{token}parameter name="city" '
        f'string="true">5</{token}parameter><{token}parameter name="n" string="false">5'
        f"</{token}parameter></{token}invoke></{token}{word}>"
    )
    assert said("dsml", f"A {text} B") == [("f", {"city": "5", "n": 5}), "A  B"]


@each_row("name", NAMES)
def test_only_closing_tags_are_hidden_and_reported(name: str) -> None:
    dialect: TextDialect = TEXT_DIALECTS[name]
    for closer in dialect.orphans:
        turn = read(f"Done.{closer}", [name], 4)
        assert (turn.text, len(turn.parse_errors), turn.tool_calls) == ("Done.", 1, ())
