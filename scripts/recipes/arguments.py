"""What models put into the arguments: cut short, not JSON, nearly JSON, JSON that looks odd."""

from typing import Literal

from harness.dialects.openai_chat.writer_options import WriterOptions
from harness.turns.deltas import ArgumentsDelta, ToolCallStart
from scripts.recipes.kit import Recipe, call, finish, stream, swap

# Where a call is cut -> the arguments that arrive.
_TRUNCATED = {
    "in-key": '{"path": "a.txt", "cont',
    "in-string": '{"path": "a.txt", "content": "Dear all, we wo',
    "in-escape": '{"path": "a.txt", "content": "caf\\u00',
    "after-colon": '{"path": "a.txt", "content":',
    "in-number": '{"path": "a.txt", "content": "x", "mode": 64',
    "before-brace": '{"path": "a.txt", "content": "x"',
}

# name -> tool, arguments: a model's fault, or text that only looks like one
_TEXTS = {
    "chinese-prose": ("get_weather", "查询奥斯陆的天气"),
    "english-prose": ("get_weather", "I would like to know the weather in Oslo."),
    "concatenated-different": ("get_weather", '{"city": "Oslo"}{"city": "Bergen"}'),
    "double-encoded": ("get_weather", '"{\\"city\\": \\"Oslo\\"}"'),
    "fenced": ("get_weather", '```json\n{"city": "Oslo"}\n```'),
    "fence-in-value": (
        "write_file",
        '{"path": "a.md", "content": "```py\\nprint(\'it\\\\\'s\')\\n```"}',
    ),
    "escaped-quotes": ("search", '{"query": "what is \\"AI\\" in C:\\\\dir?"}'),
    "looks-like-json": ("search", '{"query": "[label]: see {\\"a\\": 1}"}'),
    "python-literal": ("search", "{'query': 'x', 'all': True, 'limit': None}"),
    "duplicate-keys": ("read_file", '{"path": "safe.txt", "path": "/etc/passwd"}'),
    "array": ("get_weather", '["Oslo"]'),
    "number": ("wait", "42"),
    "big-integer": ("show_order", '{"order": 2512292042121000001}'),
    "nan": ("wait", '{"seconds": NaN}'),
    "control-characters": ("write_file", '{"path": "a", "content": "line 1\nline 2"}'),
    "trailing-text": ("search", '{"query": "TO-DO"}\n\nI will now search for it.'),
    "trailing-markup": ("read_file", '{"path": "a.txt"}</parameter></tool_call>'),
    "extra-brace": ("read_file", '{"path": "a.txt"}}'),
    "trailing-comma": ("wait", '{"seconds": 300,}'),
    "bad-escape": ("read_file", '{"path": "C:\\Users\\me"}'),
    "unquoted-value": ("search", '{"query": Dave, "limit": 1}'),
    "expression": ("wait", '{"seconds": 60*60*12}'),
    "comments": ("wait", '{"seconds": 3 /* at most */}'),
    "smart-quotes": ("get_weather", "{“city”: “Oslo”}"),
    "unescaped-quotes": ("search", '{"query": "say "hello" twice"}'),
}

# name -> arguments that line splitters and decoders break
_CHARACTERS = {
    "unicode-line-ends": '{"path": "a.txt", "content": "one\u2028two\u2029three\u0085four\\ffive"}',
    "multi-byte": '{"path": "北京.txt", "content": "雪 ❄️ 家族 👨‍👩‍👧 Øl"}',
}

_OSLO = '{"city": "Oslo"}'


def _model(
    name: str, tool: str, arguments: str, word: str = "tool_calls", pieces: int = 3
) -> Recipe:
    """Return a recipe for one call under the API's own spelling."""
    return Recipe(
        f"openai/gpt-4o-mini/{name}",
        "Do it.",
        (tool,),
        (stream(call(tool, arguments, call_id="call_a", pieces=pieces), finish(word)),),
    )


_Arguments = Literal["object", "cumulative", "whole-again", "placeholder-first", "null-first"]


def _spelled(name: str, tool: str, arguments: str, spelled: _Arguments) -> Recipe:
    """Return a recipe for one call whose arguments a provider spells in its own way."""
    return Recipe(
        f"compatible/any/arguments-{name}",
        "Do it.",
        (tool,),
        (
            stream(
                call(tool, arguments, call_id="call_a", pieces=4),
                finish("tool_calls"),
                spelling=WriterOptions(arguments=spelled),
            ),
        ),
    )


def _surrogates(name: str, pieces: tuple[str, ...], *halves: tuple[bytes, bytes]) -> Recipe:
    """Return a recipe whose fragments hold halves of surrogate pairs, as JSON escapes."""
    return Recipe(
        f"compatible/any/{name}",
        "Remember the label.",
        ("set_memory",),
        (
            stream(
                (ToolCallStart(0, "call_a", "set_memory"),),
                (ArgumentsDelta(0, piece) for piece in pieces),
                finish("tool_calls"),
                edits=tuple(swap(mark, half) for mark, half in halves),
            ),
        ),
    )


RECIPES = (
    *(
        _model(f"truncated-{place}{suffix}", "write_file", text, word)
        for place, text in _TRUNCATED.items()
        for suffix, word in (("", "tool_calls"), ("-length", "length"))
    ),
    *(_model(name, tool, text) for name, (tool, text) in _TEXTS.items()),
    *(_model(name, "write_file", text) for name, text in _CHARACTERS.items()),
    _model("no-arguments", "get_time", ""),
    # Two fragments, each the whole object.
    _model("concatenated-identical", "get_weather", _OSLO * 2, pieces=2),
    Recipe(
        "openai/gpt-4o-mini/parallel-one-broken",
        "Compare the weather in Oslo and Bergen.",
        ("get_weather",),
        (
            stream(
                call("get_weather", _OSLO, call_id="call_a"),
                call("get_weather", '{"city": "Ber', index=1, call_id="call_b"),
                call("get_weather", '{"city": "Voss"}', index=2, call_id="call_c"),
                finish("tool_calls"),
            ),
        ),
    ),
    _spelled("null", "get_time", "", "null-first"),
    _spelled("object", "get_weather", _OSLO, "object"),
    _spelled("cumulative", "search", '{"query": "aa aa", "limit": 2}', "cumulative"),
    _spelled("whole-again", "get_weather", _OSLO, "whole-again"),
    _spelled("placeholder-first", "get_weather", _OSLO, "placeholder-first"),
    _surrogates(
        "lone-surrogate",
        ('{"key": "label", ', '"value": "<high> Check"}'),
        (b"<high>", b"\\ud83e"),
    ),
    _surrogates(
        "split-surrogates",
        ('{"key": "label", "value": "<high>', '<low> ok"}'),
        (b"<high>", b"\\ud83d"),
        (b"<low>", b"\\ude00"),
    ),
)
