"""Five families that peers read: nasty values, texts of peers, and a prompt that ends anywhere."""

import json
from itertools import product

from harness.text_calls import TEXT_DIALECTS, TextPolicy, WrittenCall, read_text_calls
from harness.text_calls.early import Emit
from harness.turns.deltas import Finish, FinishReason, TextDelta
from harness.turns.fold import fold
from harness.turns.turn import Tool, Turn
from tests.tables import each_row

_FAMILIES = ("functionary", "inkling", "k2-horizon", "plamo", "step")
_TOOLS = (
    Tool(
        "write",
        "",
        {
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "count": {"type": "integer"},
                "ok": {"type": "boolean"},
                "tags": {"type": "array"},
            },
        },
    ),
    Tool("ping", "", {"type": "object", "properties": {}}),
)
# Without the format whose replies are one object.
_ALL = frozenset(TEXT_DIALECTS) - {"action-protocol"}
_MODES: tuple[Emit, ...] = ("at_end", "as_read")
_STRINGS = (
    "",
    " ",
    "\n",
    "a\n\n  b\n",
    "\ttab",
    "007",
    "null",
    "true",
    "3.5",
    '{"a": 1}',
    "[1, 2]",
    'say "hi"',
    "it's",
    "a \\ b \\n",
    "<b>bold</b>",
    "a < b && c > d",
    "<!-- x -->",
    "Grüße 文字 😀",
    "```\ncode\n```",
    "> quoted",
    ">>>ping",
    "<tool_call>x</tool_call>",
    "<|end|> is a token",
    "<think>no</think>",
    "{{ x }}",
    "x" * 3000,
    "</parameter> and more",
    "&lt;&amp;",
    "a\r\nb",
    "- one\n- two",
    "<｜tool▁sep｜> too",
    "functions.ping({})",
    "ends with <",
    "]]>",
    "“quoted”",
)
_VALUES: tuple[dict[str, object], ...] = (
    *(dict[str, object](path=it) for it in _STRINGS),
    {},
    {"count": -7, "ok": False},
    {"tags": []},
    {"tags": ["a", {"b": [1, None]}], "path": "x"},
    {"path": "x", "count": 12345678901234567890, "ok": True, "tags": [""]},
)


def _read(  # noqa: PLR0913 - a text, and what changes how it is read
    text: str,
    dialects: frozenset[str],
    size: int,
    *,
    emit: Emit = "at_end",
    prompt_end: str = "",
    reason: FinishReason = FinishReason.STOP,
) -> Turn:
    deltas = [TextDelta(text[at : at + size]) for at in range(0, len(text), size)]
    known = read_text_calls(
        [*deltas, Finish(reason)], _TOOLS, TextPolicy(dialects), emit=emit, prompt_end=prompt_end
    )
    return fold(known)


def _calls(turn: Turn) -> list[tuple[str, object]]:
    return [(call.name, json.loads(call.arguments or "{}")) for call in turn.tool_calls]


def test_there_are_forty_values() -> None:
    assert len(_VALUES) >= 40


@each_row("name", _FAMILIES)
def test_each_value_comes_out_as_it_was_written(name: str) -> None:
    for value, emit in product(_VALUES, _MODES):
        said = [WrittenCall("write", json.dumps(value, ensure_ascii=False)), WrittenCall("ping")]
        text = "I look.\n" + TEXT_DIALECTS[name].write(said)
        for dialects, size in ((frozenset([name]), 3), (_ALL, 1000)):
            turn = _read(text, dialects, size, emit=emit)
            assert _calls(turn) == [("write", value), ("ping", {})], (value, emit, size)
            assert (turn.text.rstrip("\n"), turn.parse_errors) == ("I look.", ()), (value, size)


@each_row("name", _FAMILIES)
def test_a_prompt_may_end_at_each_place_of_a_call(name: str) -> None:
    said = [WrittenCall("write", '{"path": "a <b>", "count": 3}'), WrittenCall("ping")]
    text = TEXT_DIALECTS[name].write(said)
    for end, dialects in product(range(1, len(text)), (frozenset([name]), _ALL)):
        turn = _read(text[end:], dialects, 7, prompt_end=text[:end])
        calls = _calls(turn)
        # What the prompt contains of a call that is complete is not a call of the reply.
        assert calls[-1:] in ([("ping", {})], []), end
        assert len(calls) >= (2 if end < len(text) // 2 else 0), end
        assert turn.text.strip() == "", end


@each_row("name", _FAMILIES)
def test_no_cut_of_a_call_alters_it(name: str) -> None:
    value = {"path": "a </b> b", "count": 31}
    text = TEXT_DIALECTS[name].write([WrittenCall("write", json.dumps(value))])
    for end, emit in product(range(1, len(text)), _MODES):
        turn = _read(text[:end], _ALL, 5, emit=emit, reason=FinishReason.LENGTH)
        assert _calls(turn) in ([], [("write", value)]), end


_MODEL, _TEXT, _THINKING = "<|message_model|>", "<|content_text|>", "<|content_thinking|>"
_JSON, _END = "<|content_invoke_tool_json|>", "<|end_message|>"
_STEP = "<｜tool_call_begin｜>function<｜tool_sep｜>"
_PING = '<steptml:invoke name="ping"></steptml:invoke>'
_REQUEST = "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>"
_PLAMO = f"{_REQUEST}{{}}<|plamo:end_tool_name:plamo|>"
_IFM = "<ifm|arg_key>count</ifm|arg_key>"
_GROUP = "<ifm|tool_calls>{}</ifm|tool_calls>"
_TYPED = f"{_IFM}<ifm|arg_type>integer</ifm|arg_type><ifm|arg_value>3</ifm|arg_value>"
_IN_JSON = '<ifm|tool_call>{"name": "ping", "arguments": {}}</ifm|tool_call>'
_DONE: list[tuple[str, object]] = [("ping", {})]
_THREE: list[tuple[str, object]] = [("write", {"count": 3})]


@each_row("size", [1, 4, 1000])
@each_row(
    ("name", "text", "shown", "reasoning", "calls", "errors"),
    [
        ("step", f"Hi. {_STEP}{_PING}<｜tool_call_end｜>", "Hi. ", "", _DONE, 0),
        ("step", f"<｜tool_calls_begin｜>\n{_STEP}{_PING}<｜tool_call_end｜>\n", "", "", _DONE, 0),
        ("step", f"<steptml:toolcall>\n{_PING}\n</steptml:toolcall>", "", "", _DONE, 0),
        ("step", f"{_PING}{_PING}", "", "", _DONE * 2, 0),
        ("step", _STEP + _PING.replace("ping", "pong"), "", "", [], 1),
        ("step", f'{_STEP}<steptml:invoke name="write">', "", "", [], 1),
        ("k2-horizon", "<ifm|tool_call>ping</ifm|tool_call>", "", "", _DONE, 0),
        (
            "k2-horizon",
            f"<ifm|tool_call>write{_IFM}<ifm|arg_value>3</ifm|arg_value></ifm|tool_call>",
            "",
            "",
            _THREE,
            0,
        ),
        (
            "k2-horizon",
            _GROUP.format(f"<ifm|tool_call>write{_TYPED}</ifm|tool_call>"),
            "",
            "",
            _THREE,
            0,
        ),
        ("k2-horizon", "<ifm|tool_calls></ifm|tool_calls>Hi", "Hi", "", [], 0),
        ("k2-horizon", "<ifm|think>\nHm.\n</ifm|think>\n\nHi", "Hi", "Hm.", [], 0),
        (
            "json-tags",
            _GROUP.format(_IN_JSON),
            "",
            "",
            _DONE,
            0,
        ),
        ("plamo", "<|plamo:begin_think:plamo|>Hm.<|plamo:end_think:plamo|>Hi", "Hi", "Hm.", [], 0),
        ("plamo", "Hi<|plamo:tag|>", "Hi", "", [], 0),
        (
            "plamo",
            _PLAMO.format("write") + '<|plamo:begin_tool_arguments:plamo|>{"count": 3}'
            "<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>",
            "",
            "",
            _THREE,
            0,
        ),
        ("plamo", f"{_PLAMO.format('ping')}", "", "", [], 1),
        ("plamo", f"{_PLAMO.format('ping')}{{}}", "", "", [], 1),
        ("inkling", f"{_MODEL}{_THINKING}Hm.{_END}{_MODEL}{_TEXT}Hi{_END}", "Hi", "Hm.", [], 0),
        ("inkling", f"{_THINKING}Hm.{_END}{_MODEL}{_TEXT}Hi", "Hi", "Hm.", [], 0),
        ("inkling", f'{_JSON}{{"name": "ping", "args": {{}}}}{_END}', "", "", _DONE, 0),
        (
            "inkling",
            f'{_MODEL}write{_JSON}{{"name": "write", "arguments": {{"count": 3}}}}{_END}',
            "",
            "",
            _THREE,
            0,
        ),
        ("inkling", f'{_MODEL}write{_JSON}{{"name": "ping", "args": {{}}}}{_END}', "", "", [], 1),
        ("inkling", f"{_MODEL}write{_JSON}{{", "", "", [], 1),
        ("functionary", ">>>all\nHi", "Hi", "", [], 0),
        ("functionary", ">>>all\nHi>>>ping\n{}", "Hi", "", _DONE, 0),
        ("functionary", '>>>write\r\n{"count": 3}>>>ping\n{}\n', "", "", [*_THREE, *_DONE], 0),
        ("functionary", ">>> ping\n{}", ">>> ping\n{}", "", [], 0),
        ("functionary", ">>>pong\n{}", ">>>pong\n{}", "", [], 0),
        ("functionary", ">>>write\n{'count': 3}", "", "", [], 1),
    ],
)
def test_what_peers_read_is_read(  # noqa: PLR0913, PLR0917 - one row of the table
    name: str,
    text: str,
    shown: str,
    reasoning: str,
    calls: list[tuple[str, object]],
    errors: int,
    size: int,
) -> None:
    for emit in _MODES:
        turn = _read(text, frozenset([name]), size, emit=emit)
        assert (turn.text, turn.reasoning) == (shown, reasoning)
        assert (_calls(turn), len(turn.parse_errors)) == (calls, errors)


@each_row(
    ("name", "prompt_end", "reply"),
    [
        ("functionary", ">>>", "ping\n{}"),
        ("inkling", _MODEL, f'ping{_JSON}{{"name": "ping", "args": {{}}}}{_END}'),
    ],
)
def test_the_prompt_contains_the_marker_before_the_name(
    name: str, prompt_end: str, reply: str
) -> None:
    for size, dialects in product((1, 1000), (frozenset([name]), _ALL)):
        turn = _read(reply, dialects, size, prompt_end=prompt_end)
        assert (turn.text, _calls(turn)) == ("", _DONE)
