"""Conversations of the gateway: a probe, tool use or JSON fallback, and what it must survive.

Requests stand for those that a careful client sends; where the gateway probes first, the first
reply answers its probe. Agents are judged on their own requests, answered in order.
"""

import itertools
import json

import msgspec

from scripts.recipes.asking import NATIVE
from scripts.recipes.conversations import fed_back, told
from scripts.recipes.kit import (
    Edit,
    Json,
    Recipe,
    Reply,
    append,
    as_json,
    call,
    chunk,
    cut_after,
    end_before,
    finish,
    raw,
    spelled,
    stream,
    text,
)

_Call = tuple[str, str, str, str]
"""Id, name, arguments and result of a call."""


class _Round(msgspec.Struct, frozen=True):
    """A reply, and what the next request adds."""

    reply: Reply
    later: tuple[Json, ...] = ()


def _calls(*made: _Call, said: str = "", word: str = "tool_calls") -> _Round:
    """Return a turn that makes these calls, and their results."""
    parts = [
        call(name, arguments, index=index, call_id=call_id)
        for index, (call_id, name, arguments, _) in enumerate(made)
    ]
    opening = text(said) if said else ()
    return _Round(stream(opening, *parts, finish(word)), fed_back(said, *made))


def _says(said: str, then: str = "") -> _Round:
    """Return a turn of text alone, and what the user is told to say next."""
    return _Round(stream(spelled(said), finish("stop")), told(said, then) if then else ())


def _fails(status: int, code: str, message: str) -> _Round:
    """Return a refusal by HTTP status."""
    body = json.dumps({"error": {"message": message, "type": "error", "code": code}}).encode()
    return _Round(raw(body, status=status, content_type="application/json"))


def _had(
    name: str, question: str, tools: tuple[str, ...], *rounds: _Round, prompt: str = NATIVE
) -> Recipe:
    replies = tuple(each.reply for each in rounds)
    later = tuple(each.later for each in rounds[:-1])
    return Recipe(name, question, tools, replies, later, prompt=prompt)


_OSLO, _BERGEN = as_json(city="Oslo"), as_json(city="Bergen")
_ASK_OSLO = "What is the weather in Oslo?"
_ASK_BOTH = "What is the weather in Oslo and in Bergen?"
_WEATHER = ("get_weather",)
_COLD = _says("It is 4 degrees in Oslo.")
_BOTH = _says("It is 4 degrees in Oslo and 7 in Bergen.")


def _oslo(call_id: str = "call_o1") -> _Round:
    return _calls((call_id, "get_weather", _OSLO, '{"temperature": 4}'))


def _bergen(call_id: str = "call_b1") -> _Round:
    return _calls((call_id, "get_weather", _BERGEN, '{"temperature": 7}'))


_FOREIGN = "call_PTLP8xhu3uwZk4l3nlnrrJha"
_LONG = "fc_6876aca7db8c8192af95414c6cf92796035a7a219e794395"
_KIMI = "functions.get_weather:{}"
_IDENTITY = (
    _had(
        "compatible/mistral-small/id-of-another-provider",
        _ASK_OSLO,
        _WEATHER,
        _oslo(_FOREIGN),
        _COLD,
    ),
    _had(
        "compatible/claude/id-with-dots-and-colon",
        _ASK_BOTH,
        _WEATHER,
        _oslo(_KIMI.format(0)),
        _bergen(_KIMI.format(1)),
        _BOTH,
    ),
    _had("compatible/gpt/id-of-fifty-signs", _ASK_OSLO, _WEATHER, _oslo(_LONG), _COLD),
    _had(
        "compatible/kimi-k2/native-ids",
        _ASK_BOTH,
        _WEATHER,
        _oslo(_KIMI.format(0)),
        _bergen(_KIMI.format(1)),
        _BOTH,
    ),
    _had(
        "compatible/any/same-id-each-turn",
        _ASK_BOTH,
        _WEATHER,
        _oslo("call_0"),
        _bergen("call_0"),
        _BOTH,
    ),
    _had(
        "compatible/llama-cpp/four-turns-one-id",
        "Read the files a, b, c and d.",
        ("read_file",),
        *(
            _calls(("call_0", "read_file", as_json(path=name), f"text of {name}"))
            for name in ("a", "b", "c", "d")
        ),
        _says("They hold the texts of a, b, c and d."),
    ),
    _had(
        "compatible/any/names-with-dots",
        "统计全部订单的金额。",
        ("schema.list_tables", "schema.list_columns"),
        _calls(("call_t1", "schema_list_tables", as_json(database="sales"), '["orders"]')),
        _calls(
            ("call_c1", "schema_list_columns", as_json(table_name="orders"), '["id", "amount"]')
        ),
        _says("SELECT SUM(amount) FROM orders"),
    ),
    _had(
        "compatible/any/ids-that-look-alike",
        _ASK_BOTH,
        _WEATHER,
        _calls(
            ("call.1", "get_weather", _OSLO, '{"temperature": 4}'),
            ("call:1", "get_weather", _BERGEN, '{"temperature": 7}'),
        ),
        _BOTH,
    ),
    _had(
        "compatible/any/names-that-look-alike",
        "Find the minutes with the older tool.",
        ("notion_search", "notion.search"),
        _calls(("call_n1", "notion_search", as_json(query="minutes"), '["Minutes of May"]')),
        _says("There are the minutes of May."),
    ),
)
_FILES = "List three files of src, then wait half a second."
_EXECUTION = (
    _had(
        "compatible/any/two-calls-in-order",
        "Remember that I prefer Chinese, and then write about spring.",
        ("set_memory", "writing"),
        _calls(
            ("call_m1", "set_memory", as_json(key="language", value="Chinese"), "true"),
            ("call_w1", "writing", as_json(title="春天", content="雪化了。"), "saved"),
        ),
        _says("Both are done."),
    ),
    _had(
        "compatible/any/numbers-stay-numbers",
        _FILES,
        ("list_files", "wait"),
        _calls(("call_l1", "list_files", as_json(path="src", limit=3), '["a", "b", "c"]')),
        _calls(("call_w1", "wait", as_json(seconds=0.5), "null")),
        _says("The files are a, b and c."),
    ),
    _had(
        "compatible/any/unknown-tool-then-right-one",
        _ASK_OSLO,
        _WEATHER,
        _calls(("call_x1", "weather_information", _OSLO, "there is no such tool")),
        _oslo(),
        _COLD,
    ),
    _had(
        "compatible/any/one-unknown-of-three",
        "What are weather and time in Oslo?",
        ("get_weather", "get_time"),
        _calls(
            ("call_o1", "get_weather", _OSLO, '{"temperature": 4}'),
            ("call_x1", "rm_rf", as_json(path="old"), "there is no such tool"),
            ("call_t1", "get_time", "{}", "12:00"),
        ),
        _says("It is 4 degrees, and noon."),
    ),
    _had(
        "compatible/any/final-answer-beside-a-call",
        "Write hello to a.txt.",
        ("write_file", "final_answer"),
        _calls(
            ("call_w1", "write_file", as_json(path="a.txt", content="hello"), "written"),
            ("call_f1", "final_answer", as_json(text="It is written."), "told"),
        ),
        _says("It is written."),
    ),
    _had(
        "compatible/any/wrong-type-then-right-one",
        "Read the first ten lines of notes.txt.",
        ("read_file",),
        _calls(("call_r1", "read_file", as_json(path="notes.txt", limit="ten"), "no number")),
        _calls(("call_r2", "read_file", as_json(path="notes.txt", limit=10), "ten lines")),
        _says("There are ten lines."),
    ),
    _had(
        "compatible/any/bad-call-before-a-good-one",
        _ASK_BOTH,
        _WEATHER,
        _calls(
            ("call_o1", "get_weather", "查询奥斯陆的天气", "not executed"),
            ("call_b1", "get_weather", _BERGEN, '{"temperature": 7}'),
        ),
        _oslo("call_o2"),
        _BOTH,
    ),
    _had("compatible/weak/one-call-at-a-time", _ASK_BOTH, _WEATHER, _oslo(), _bergen(), _BOTH),
    _had(
        "compatible/any/same-call-again-and-again",
        _ASK_OSLO,
        _WEATHER,
        *(_oslo(f"call_o{number}") for number in range(1, 4)),
    ),
    _had("compatible/any/limit-of-rounds", _ASK_BOTH, _WEATHER, _oslo(), _bergen()),
)

_YES = _calls(("call_p1", "harness_probe", as_json(ok=True), ""))
_HTML = b"<!doctype html>\n<html><body><h1>502 Bad Gateway</h1></body></html>\n"
_FENCED = f'```json\n{{"name": "get_weather", "arguments": {_OSLO}}}\n```'
_FENCED_BERGEN = f'```json\n{{"name": "get_weather", "arguments": {_BERGEN}}}\n```'
_OPEN = '```json\n{"name": "get_weather", "arguments": {"city": "Os'
_TAUGHT = _says(_FENCED, '{"temperature": 4}')


def _probed(name: str, probe: _Round, *rounds: _Round) -> Recipe:
    return _had(f"compatible/unknown/probe-{name}", _ASK_OSLO, _WEATHER, probe, *rounds)


_PROBES = (
    _probed("yes", _YES, _oslo(), _COLD),
    _probed("no", _says("I cannot call tools, but I can talk."), _TAUGHT, _COLD),
    _probed(
        "call-in-text",
        _says('<tool_call>\n{"name": "harness_probe", "arguments": {"ok": true}}\n</tool_call>'),
        _TAUGHT,
        _COLD,
    ),
    _probed(
        "http-400",
        _fails(400, "unsupported_parameter", "this model does not support tools"),
        _TAUGHT,
        _COLD,
    ),
    _probed("html", _Round(raw(_HTML, status=502, content_type="text/html")), _TAUGHT, _COLD),
    _probed("empty-body", _Round(raw()), _TAUGHT, _COLD),
    _probed(
        "yes-then-several-calls",
        _YES,
        _calls(
            ("call_o1", "get_weather", _OSLO, '{"temperature": 4}'),
            ("call_b1", "get_weather", _BERGEN, "not executed"),
        ),
        _bergen("call_b2"),
        _BOTH,
    ),
)


def _fallback(name: str, *rounds: _Round, language: str = "") -> Recipe:
    prompt = f"json-fallback{language}/v1"
    question = "奥斯陆天气如何？" if language else _ASK_OSLO
    return _had(f"compatible/small/{name}", question, _WEATHER, *rounds, prompt=prompt)


_AGAIN = "No tool was executed. Reply again."
_FALLBACKS = (
    _fallback(
        "narration-around-json",
        _says(
            f'Let me look that up.\n\n{{"name": "get_weather", "arguments": {_OSLO}}}\n\n'
            "I will tell you as soon as I know.",
            '{"temperature": 4}',
        ),
        _COLD,
    ),
    _fallback("truncated-json-twice", _says(_OPEN, _AGAIN), _says(_OPEN)),
    _fallback(
        "chinese-for-arguments",
        _says('```json\n{"name": "get_weather", "arguments": 查询奥斯陆的天气}\n```', _AGAIN),
        _TAUGHT,
        _says("奥斯陆现在 4 度。"),
        language="-zh",
    ),
    _fallback("chinese-prose", _says("我无法查询天气，请看天气预报。"), language="-zh"),
    _fallback(
        "two-blocks",
        _says(f"{_FENCED}\n\n{_FENCED_BERGEN}", "4 degrees; ask for Bergen again"),
        _says(_FENCED_BERGEN, '{"temperature": 7}'),
        _BOTH,
    ),
    _fallback(
        "unknown-tool-in-json",
        _says('```json\n{"name": "weather", "arguments": {"city": "Oslo"}}\n```', _AGAIN),
        _TAUGHT,
        _COLD,
    ),
    _fallback(
        "missing-parameter-in-json",
        _says('```json\n{"name": "get_weather", "arguments": {"unit": "C"}}\n```', "no city"),
        _TAUGHT,
        _COLD,
    ),
)


def _native(name: str, *rounds: _Round) -> Recipe:
    return _had(f"compatible/any/{name}", _ASK_OSLO, _WEATHER, *rounds)


def _edited(edits: tuple[Edit, ...], said: str = "") -> _Round:
    whole = _calls(("call_o1", "get_weather", _OSLO, ""), said=said)
    return _Round(msgspec.structs.replace(whole.reply, edits=edits), told(said or "-", _AGAIN))


_PROSE = _calls(("call_o1", "get_weather", "查询奥斯陆的天气", "not executed"))
_HALF = _calls(("call_o1", "get_weather", '{"city": "Os', "not executed"))
_NOTHING = _Round(stream(finish("stop")))
_MEMORY = as_json(key="city", value="Oslo")
_REFUSED = {"code": "tool_use_failed", "message": "Failed to call a function."}
_MENDING = (
    _native("prose-for-arguments", _PROSE, _oslo("call_o2"), _COLD),
    _native("half-arguments-twice", _HALF, _HALF),
    _native(
        "call-cut-at-length",
        _calls(("call_o1", "get_weather", '{"city": "Os', "not executed"), word="length"),
        _oslo("call_o2"),
        _COLD,
    ),
    _native(
        "provider-rejects-own-call",
        _edited((end_before(b"tool_calls"), append(chunk(error=_REFUSED))), "Let me look."),
        _oslo("call_o2"),
        _COLD,
    ),
)
_ENDS = (
    _native("rate-limit-after-a-call", _oslo(), _fails(429, "rate_limit", "slow down")),
    _native("server-error-after-a-call", _oslo(), _fails(500, "internal", "it broke")),
    _native(
        "connection-cut-after-text", _edited((cut_after(b'{\\"city'),), "Let me look that up.")
    ),
    _had(
        "compatible/any/empty-turn-after-a-side-effect",
        "Remember that I live in Oslo.",
        ("set_memory",),
        _calls(("call_m1", "set_memory", _MEMORY, "true")),
        _NOTHING,
    ),
    _had(
        "compatible/any/empty-turn-after-three-results",
        "Read the files a, b and c and sum them up.",
        ("read_file",),
        _calls(
            *(
                (f"call_{name}", "read_file", as_json(path=name), f"text of {name}")
                for name in ("a", "b", "c")
            )
        ),
        _NOTHING,
    ),
)

RECIPES = tuple(itertools.chain(_IDENTITY, _EXECUTION, _PROBES, _FALLBACKS, _MENDING, _ENDS))
