"""Response templates: what models declare, read as transformers documents it, and untrusted."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UnreadableError
from harness.text_calls import (
    ResponseTemplate,
    TextPolicy,
    load_response_template,
    read_text_calls,
)
from harness.text_calls.early import Emit
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    TextDelta,
    ToolCallStart,
)
from harness.turns.fold import fold
from harness.turns.turn import Tool, Turn
from tests.tables import each_row
from tests.text_calls.round_trip import SIZES

pytest.importorskip("regex")

_CALL = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
# The examples of the page on response parsing of transformers, and Gemma's delimiters.
_SPECS: dict[str, dict[str, Any]] = {
    "smollm": {
        "defaults": {"role": "assistant"},
        "start_anchor": "<|im_start|>assistant\n",
        "fields": {
            "thinking": {"open": "<think>", "close": "</think>"},
            "tool_calls": {
                "open": "<tool_call>",
                "close": "</tool_call>",
                "repeats": True,
                "content": "json",
                "transform": {"type": "function", "function": "{content}"},
            },
            "content": {"close": "<|im_end|>", "content": "text"},
        },
    },
    "qwen": {
        "start_anchor": "<|im_start|>assistant\n",
        "fields": {
            "thinking": {"open": "<think>", "close": "</think>"},
            "tool_calls": {
                "open_pattern": r"<tool_call>\s*<function=(?P<name>\w+)>",
                "close": "</tool_call>",
                "repeats": True,
                "content": "xml-inline",
                "content_args": {
                    "tag_pattern": r"<parameter=(?P<key>\w+)>\s*(?P<value>.*?)\s*</parameter>",
                },
                "transform": _CALL,
            },
            "content": {"close": "<|im_end|>"},
        },
    },
    "gpt-oss": {
        "start_anchor": "<|start|>assistant",
        "fields": {
            "thinking": {"open": "<|channel|>analysis<|message|>", "close": "<|end|>"},
            "content": {"open": "<|channel|>final<|message|>", "close": ["<|return|>", "<|end|>"]},
            "tool_calls": {
                "open_pattern": (
                    r"<\|channel\|>commentary to=functions\.(?P<name>\w+).*?<\|message\|>"
                ),
                "close": "<|call|>",
                "repeats": True,
                "content": "json",
                "transform": _CALL,
            },
        },
    },
    "cohere": {
        "start_anchor": "<|CHATBOT_TOKEN|>",
        "fields": {
            "reasoning_content": {"open": "<|START_THINKING|>", "close": "<|END_THINKING|>"},
            "tool_calls": {
                "open": "<|START_ACTION|>",
                "close": "<|END_ACTION|>",
                "content": "json",
                "transform_each": True,
                "transform": {"function": {"name": "{tool_name}", "arguments": "{parameters}"}},
            },
            "content": {"open": "<|START_RESPONSE|>", "close": "<|END_RESPONSE|>"},
        },
    },
    "gemma": {
        "start_anchor": "<|turn>model\n",
        "fields": {
            "thinking": {"open": "<|channel>thought\n", "close": "<channel|>"},
            "tool_calls": {
                "open_pattern": r"<\|tool_call>call:(?P<name>\w+)",
                "close": "<tool_call|>",
                "repeats": True,
                "content": "json",
                "content_args": {
                    "unquoted_keys": True,
                    "string_delims": [['<|"|>', '<|"|>']],
                },
                "transform": _CALL,
            },
            "content": {"close": "<turn|>"},
        },
    },
    "lines": {
        "start_anchor_pattern": r"\[(?:model|assistant)\]",
        "fields": {
            "tool_calls": {
                "open_pattern": r"CALL (?P<name>\w+)\n",
                "close_pattern": r"END(?P<id>\d)?(?=\n|\Z)",
                "content": "kv-lines",
                "content_args": {
                    "value_parser": {"name": "json", "args": {"allow_non_json": True}}
                },
                "transform": [_CALL],
            },
            "content": {"repeats": True, "join": " / ", "close": "---"},
        },
    },
    "python": {
        "start_anchor": "A:",
        "fields": {
            "tool_calls": {
                "open": "<calls>",
                "close": "</calls>",
                "content": "python-call-list",
                "transform_each": True,
                "transform": {"function": {"name": "{name}", "arguments": "{arguments}"}},
            },
            "content": {"content_args": {"strip": False}},
            "score": {"open": "<score>", "close": "</score>", "content": "int"},
        },
    },
}
_TOOLS = (
    Tool(
        "f",
        "",
        {
            "type": "object",
            "properties": {
                "a": {"type": "string"},
                "n": {"type": "integer"},
                "ok": {"type": "boolean"},
                "items": {"type": "array"},
            },
        },
    ),
    Tool("g"),
)
_STOP = Finish(FinishReason.STOP)


def _load(spec: Mapping[str, Any]) -> ResponseTemplate:
    return load_response_template(json.dumps({"response_template": spec}).encode(), "config.json")


_TEMPLATES = {name: _load(spec) for name, spec in _SPECS.items()}


def _read(
    name: str, text: str, size: int = 5, emit: Emit = "at_end", tools: Sequence[Tool] = _TOOLS
) -> Turn:
    prompt_end, bar, reply = text.rpartition("||")
    pieces: list[Delta] = [TextDelta(reply[at : at + size]) for at in range(0, len(reply), size)]
    return fold(
        read_text_calls(
            [*pieces, _STOP],
            tools,
            TextPolicy(frozenset()),
            prompt_end=prompt_end if bar else "",
            emit=emit,
            template=_TEMPLATES[name],
        )
    )


_F = '<tool_call>{"name": "f", "arguments": {"a": "x"}}</tool_call>'
_Q = "<tool_call>\n<function=f>\n{}</function>\n</tool_call>"
_OSS = '<|channel|>commentary to=functions.f <|constrain|>json<|message|>{"n": 1}<|call|>'
_GEMMA = "<|tool_call>call:f{}<tool_call|>"


@each_row(
    ("name", "text", "said", "thought", "calls"),
    [
        ("smollm", "Hi. <|im_end|>", "Hi.", "", []),
        ("smollm", "<think>\nhm\n</think>\n\nHi.", "Hi.", "hm", []),
        ("smollm", _F, "", "", [("f", '{"a": "x"}')]),
        ("smollm", f"{_F}\n{_F}<|im_end|>", "", "", [("f", '{"a": "x"}')] * 2),
        ("smollm", f"<think>{_F}</think>Hi.", "Hi.", _F, []),
        ("smollm", f"Hi. {_F} Bye.", "Hi.Bye.", "", [("f", '{"a": "x"}')]),
        ("smollm", _F.removesuffix("</tool_call>"), "", "", [("f", '{"a": "x"}')]),
        ("smollm", _F.replace('"x"', '"<think> 1.50"'), "", "", [("f", '{"a": "<think> 1.50"}')]),
        ("smollm", _F.replace('"x"', "1.50"), "", "", [("f", '{"a": 1.50}')]),
        ("smollm", "old<|im_start|>assistant\n<think>||hm</think>Hi", "Hi", "hm", []),
        ("smollm", "<|im_start|>assistant\nno<|im_start|>assistant\n||Hi", "Hi", "", []),
        ("smollm", f"<|im_start|>assistant\n{_F[:20]}||{_F[20:]}", "", "", [("f", '{"a": "x"}')]),
        ("smollm", "a < b <tool", "a < b <tool", "", []),
        ("smollm", "<think>hm", "", "hm", []),
        ("qwen", _Q.format("<parameter=a>\nx\n</parameter>\n"), "", "", [("f", '{"a": "x"}')]),
        ("qwen", _Q.format(""), "", "", [("f", "{}")]),
        ("qwen", _Q.format("<parameter=a>007</parameter>"), "", "", [("f", '{"a": "007"}')]),
        ("qwen", _Q.format("<parameter=n>7</parameter>"), "", "", [("f", '{"n": 7}')]),
        ("qwen", _Q.format("<parameter=n>x</parameter>"), "", "", [("f", '{"n": "x"}')]),
        (
            "qwen",
            _Q.format("<parameter=items>[1, 2]</parameter>"),
            "",
            "",
            [("f", '{"items": [1, 2]}')],
        ),
        ("qwen", _Q.format("<parameter=ok>true</parameter>"), "", "", [("f", '{"ok": true}')]),
        ("qwen", "<tool_call>no<|im_end|>", "<tool_call>no", "", []),
        (
            "gpt-oss",
            f"<|channel|>analysis<|message|>hm<|end|><|start|>assistant{_OSS}",
            "",
            "hm",
            [("f", '{"n": 1}')],
        ),
        ("gpt-oss", "<|channel|>final<|message|>Hi<|return|>", "Hi", "", []),
        ("gpt-oss", f"<|channel|>final<|message|>{_OSS}<|end|>", _OSS, "", []),
        ("gpt-oss", f"{_OSS}{_OSS}", "", "", [("f", '{"n": 1}')] * 2),
        ("gpt-oss", "lost<|channel|>final<|message|>Hi", "Hi", "", []),
        (
            "cohere",
            (
                "<|START_THINKING|>hm<|END_THINKING|><|START_ACTION|>"
                '[{"tool_name": "f", "parameters": {"a": "1"}}, '
                '{"tool_name": "g", "parameters": {}}]<|END_ACTION|>'
            ),
            "",
            "hm",
            [("f", '{"a": "1"}'), ("g", "{}")],
        ),
        ("cohere", "<|START_RESPONSE|> Hi <|END_RESPONSE|>", "Hi", "", []),
        ("cohere", "<|START_ACTION|>[]<|END_ACTION|>", "", "", []),
        (
            "gemma",
            _GEMMA.format('{a:<|"|>x "y" {z:1}<|"|>,n:1}'),
            "",
            "",
            [("f", '{"a": "x \\"y\\" {z:1}", "n": 1}')],
        ),
        (
            "gemma",
            _GEMMA.format("{items:[1,{b:true}]}"),
            "",
            "",
            [("f", '{"items": [1, {"b": true}]}')],
        ),
        ("gemma", "<|channel>thought\nhm<channel|>Hi<turn|>", "Hi", "hm", []),
        ("gemma", _GEMMA.format('{"a": "k: 1, b: 2"}'), "", "", [("f", '{"a": "k: 1, b: 2"}')]),
        (
            "lines",
            "Hi\nCALL f\na: x\n\nno pair\nn: 2\nEND\n",
            "Hi",
            "",
            [("f", '{"a": "x", "n": 2}')],
        ),
        ("lines", "CALL f\nn: 3\nEND", "", "", [("f", '{"n": 3}')]),
        ("lines", "ENDCALL g\nx: a:b\nEND7", "END", "", [("g", '{"x": "a:b"}')]),
        ("lines", "one---two---", "one / two", "", []),
        ("lines", "[model]x[assistant]one---||two", "two", "", []),
        (
            "python",
            "Hi <calls>[f(a='x', n=-1), g()]</calls>",
            "Hi ",
            "",
            [("f", '{"a": "x", "n": -1}'), ("g", "{}")],
        ),
        ("python", " Hi <score> 7 </score>\n", " Hi \n", "", []),
        (
            "python",
            "<calls>[f(items=[1, 'b', None, {'k': True}])]</calls>",
            "",
            "",
            [("f", '{"items": [1, "b", null, {"k": true}]}')],
        ),
    ],
)
def test_a_template_reads_a_reply(
    name: str, text: str, said: str, thought: str, calls: list[tuple[str, str]]
) -> None:
    for size, emit in ((1, "at_end"), (3, "as_read"), (1_000, "at_end")):
        turn = _read(name, text, size, emit)  # type: ignore[arg-type]  # its two values
        assert (turn.text, turn.reasoning, turn.parse_errors) == (said, thought, ())
        assert [(it.name, it.arguments) for it in turn.tool_calls] == calls


@each_row(
    ("name", "text", "error"),
    [
        ("smollm", "<tool_call>{</tool_call>", "not json"),
        ("smollm", '<tool_call>{"name": "f", "argu', "not json"),
        ("smollm", _F.replace('"f"', '"h"'), "no tool 'h' was offered"),
        ("smollm", "<tool_call>[1]</tool_call>", "no name"),
        ("smollm", '<tool_call>{"name": "f", "arguments": {"n": 1, "n": 2}}</tool_call>', "twice"),
        ("smollm", '<tool_call>{"name": "f", "arguments": 7}</tool_call>', "object"),
        ("smollm", f"<tool_call>{'[' * 30_000}</tool_call>", "not json"),
        ("qwen", "<tool_call><function=f><parameter=a>x</parameter>", "never closed"),
        ("qwen", _Q.format("<parameter=a>1</parameter><parameter=a>2</parameter>"), "comes twice"),
        ("cohere", '<|START_ACTION|>[{"tool_name": "f"}]<|END_ACTION|>', "parameters"),
        ("cohere", '<|START_ACTION|>{"tool_name": "f"}<|END_ACTION|>', "list"),
        ("python", "<calls>[f(x)]</calls>", "keyword"),
        ("python", "<calls>f()</calls>", "list of calls"),
        ("gemma", _GEMMA.format("{a:\x01}"), "control character"),
    ],
)
def test_a_broken_region_is_reported_and_not_executed(name: str, text: str, error: str) -> None:
    for size in (1, 10_000):
        turn = _read(name, text, size if len(text) < 1_000 else 10_000)
        assert (turn.tool_calls, turn.text) == ((), "")
        assert [error in it.error for it in turn.parse_errors] == [True]


_WORDS = st.sampled_from(
    (
        *("Hi ", "\n", "<think>", "</think>", _F, _F[:30], "<|im_end|>", _Q.format(""), _OSS),
        *("CALL f\n", "END", "a: 1\n", "---", "<calls>[g()]</calls>", "<score>1</score>"),
        _GEMMA.format("{n:1}"),
    )
)


@given(st.sampled_from(list(_SPECS)), st.lists(_WORDS, max_size=6).map("".join), SIZES)
def test_a_template_reads_the_same_however_the_text_is_cut(name: str, text: str, size: int) -> None:
    whole = _read(name, text, max(1, len(text)))
    assert _read(name, text, size) == whole
    early = _read(name, text, size, "as_read")
    assert (early.text, early.reasoning) == (whole.text, whole.reasoning)
    assert [(it.name, it.arguments) for it in early.tool_calls] == [
        (it.name, it.arguments) for it in whole.tool_calls
    ]
    without = _read(name, text, size, tools=())
    assert (without.tool_calls, without.parse_errors) == ((), ())


def test_calls_start_when_their_region_ends() -> None:
    deltas: list[Delta] = [TextDelta(_F), TextDelta("Hi."), _STOP]
    policy = TextPolicy(frozenset())
    read = read_text_calls(deltas, _TOOLS, policy, emit="as_read", template=_TEMPLATES["smollm"])
    assert [type(it) for it in read][:3] == [ToolCallStart, ArgumentsDelta, TextDelta]


def _field(**keys: Any) -> dict[str, Any]:  # noqa: ANN401 - any JSON
    return {"start_anchor": "A", "fields": {"tool_calls": keys}}


@each_row(
    ("data", "error"),
    [
        (b"{", "not JSON"),
        (b"[]", "not valid"),
        (b"{}", "there is no `response_template`"),
        (b'{"response_schema": {}}', "older form"),
        (b"[" * 100_000, "not JSON"),
        ({"start_anchor": "A", "fields": {}}, "1 to 64 fields"),
        ({"fields": {"content": {}}}, "`start_anchor`"),
        ({"start_anchor": "A", "version": 2, "fields": {"content": {}}}, "version"),
        ({"start_anchor": "A", "other": 1, "fields": {"content": {}}}, "other"),
        ({"start_anchor": "A", "fields": {"content": {}, "thinking": {}}}, "several fields"),
        (_field(open="", close="b"), "not empty"),
        (_field(open=[], close="b"), "not empty"),
        (_field(open="a", open_pattern="b"), "a literal text and a pattern"),
        (_field(open_pattern="("), "not a pattern"),
        (_field(open_pattern="a" * 5_000), "more than 4000"),
        (_field(open="a", content="yaml"), "yaml"),
        (_field(open="a", content="json", content_args={"x": 1}), "no argument 'x'"),
        (_field(open="a", content="xml-inline"), "group `key`"),
        (_field(open="a", content="xml-inline", content_args={"tag_pattern": "x"}), "group `key`"),
        (_field(open="a", content="kv-lines", content_args={"kv_sep": ""}), "separator is empty"),
        (_field(open="a", transform_each=True), "without `transform`"),
        (_field(open="a", join=","), "without `repeats`"),
        (_field(open="a", transform=json.loads("[" * 40 + "]" * 40)), "nested too deep"),
    ],
)
def test_a_template_that_is_not_valid_is_refused(data: bytes | dict[str, Any], error: str) -> None:
    file = data if isinstance(data, bytes) else json.dumps({"response_template": data}).encode()
    with pytest.raises(UnreadableError) as raised:
        load_response_template(file, "config.json")
    assert error in str(raised.value)
    assert "config.json" in str(raised.value)


@each_row(
    ("keys", "text"),
    [
        ({"open_pattern": r"(?:a+)+(?:a+)+b"}, "a" * 4_000),
        ({"open": "<", "close_pattern": r"(x+x+)+y"}, "<" + "x" * 4_000),
        (
            {
                "open": "<",
                "close": ">",
                "content": "xml-inline",
                "content_args": {"tag_pattern": r"(?P<key>(?:a|aa)+)+$"},
                "transform": _CALL,
            },
            "<" + "a" * 4_000 + "b>",
        ),
    ],
)
def test_a_pattern_without_a_limit_stops_the_reading(keys: dict[str, Any], text: str) -> None:
    template = msgspec.structs.replace(_load(_field(**keys)), seconds=0.05)
    deltas: list[Delta] = [TextDelta(text), _STOP]
    policy = TextPolicy(frozenset())
    with pytest.raises(UnreadableError, match="take too long"):
        list(read_text_calls(deltas, _TOOLS, policy, template=template))
