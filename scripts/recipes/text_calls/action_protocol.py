"""The action protocol, taught by prompt: replies that are one JSON object, and some that are not.

A service that promises JSON and knows no tools (Qwen over DashScope, Doubao on Ark, a gateway of
one's own, Ollama in its JSON mode). What such models really write: keys in any order, the
object in a string, an envelope or a code block, drafts, quoted examples, broken entries.
"""

import json
from typing import Any

from msgspec.structs import replace

from harness.conversation.feedback import ToolResult, result_messages
from harness.conversation.prompts import PROMPTS
from harness.dialects.ollama.writer_options import WriterOptions as OllamaSpelling
from harness.dialects.openai_chat.writer_options import PROFILES
from scripts.recipes.asking import OPENAI_CHAT, Api
from scripts.recipes.kit import (
    Edit,
    Json,
    Recipe,
    Reply,
    end_before,
    finish,
    raw,
    reasoning,
    spelled,
    stream,
    tokens,
)
from scripts.recipes.ollama import CHAT as OLLAMA_CHAT

_ZH, _EN = "action-protocol-zh/v1", "action-protocol/v1"
_SQL = ("schema.list_tables", "schema.list_columns", "sql.validate", "sql.validate_columns")
_EVERYDAY = ("get_weather", "get_time", "search", "show_order", "write_file")
_JSON_MODE: Json = {"response_format": {"type": "json_object"}}
_ARK = replace(PROFILES["volcengine"], finish="own-chunk")
_DASHSCOPE, _DOUBAO = "dashscope/qwen-plus", "volcengine/doubao-1-5-pro-32k"
_GATEWAY, _R1 = "compatible/internal-llm", "compatible/deepseek-r1"
_OSLO = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
_TABLES = "帮我看看有哪些表。"
_SALES = "统计该产品的收入。"
_WEATHER = "What is the weather in Oslo?"
_HOW = "How does a client have to answer to call get_weather?"


def _act(why: str, *calls: str) -> str:
    """Return the reply that calls tools, laid out as the prompt shows it."""
    listed = ", ".join(calls)
    return f'{{"reasoning": {_quoted(why)}, "action": "tool_call", "tool_calls": [{listed}]}}'


def _end(why: str, answer: str) -> str:
    return f'{{"reasoning": {_quoted(why)}, "action": "finish", "content": {_quoted(answer)}}}'


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _call(name: str, **arguments: object) -> str:
    return json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)


def _zh(name: str, *texts: str, model: str = _DASHSCOPE, **more: Any) -> Recipe:  # noqa: ANN401 - the switches of `_recipe`
    """Return a recipe of somebody who asks about tables, in Chinese."""
    return _recipe(model, name, *texts, prompt=_ZH, **({"tools": _SQL, "question": _TABLES} | more))


def _en(name: str, *texts: str, model: str = _GATEWAY, **more: Any) -> Recipe:  # noqa: ANN401 - as above
    """Return a recipe of somebody who asks for the weather, in English."""
    known = {"tools": _EVERYDAY, "question": _WEATHER}
    return _recipe(model, name, *texts, prompt=_EN, **(known | more))


def _recipe(  # noqa: PLR0913 - one switch each
    model: str,
    name: str,
    *texts: str,
    prompt: str,
    tools: tuple[str, ...],
    question: str,
    size: int = 7,
    word: str = "stop",
    thought: str = "",
    edits: tuple[Edit, ...] = (),
    later: tuple[tuple[Json, ...], ...] = (),
) -> Recipe:
    """Return a recipe with one reply for each of `texts`, in pieces of `size` characters."""
    ollama = model.startswith("ollama/")
    replies = tuple(_said(model, text, size, word, thought, edits) for text in texts)
    api: Api = OLLAMA_CHAT if ollama else OPENAI_CHAT
    wish: Json = {"format": "json"} if ollama else _JSON_MODE
    return Recipe(
        f"{model}/action-{name}",
        question,
        tools,
        replies,
        later=later,
        request=wish,
        api=api,
        prompt=prompt,
    )


def _said(  # noqa: PLR0913, PLR0917 - the switches of `_recipe`
    model: str, text: str, size: int, word: str, thought: str, edits: tuple[Edit, ...]
) -> Reply:
    said = (*(reasoning(thought) if thought else ()), *spelled(text, size=size))
    if model.startswith("ollama/"):
        return stream(said, tokens(205, 48), finish(word), edits=edits, spelling=OllamaSpelling())
    spelling = _ARK if model == _DOUBAO else None
    return stream(said, finish(word), tokens(205, 48), edits=edits, spelling=spelling)


def _fed_back(said: str, *results: ToolResult) -> tuple[Json, ...]:
    """Return the messages that tell the model what its calls gave: there is no role for tools."""
    return ({"role": "assistant", "content": said}, *result_messages(PROMPTS[_ZH], results))


def _document(text: str) -> Reply:
    """Return the reply of a service that does not stream."""
    value = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1760000000,
        "model": "internal-llm",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text},
                "finish_reason": "stop",
            }
        ],
    }
    body = json.dumps(value, ensure_ascii=False).encode()
    return raw(body, content_type="application/json")


_LIST = _act("需要先查看数据库中有哪些表", _call("schema.list_tables", database="retail_db"))
_ANSWER = _end("表只有两张", "库里有两张表：online_retail 和 customers。")
_BOTH = _act(
    "需要同时验证 SQL 和检查列名",
    _call("sql.validate_columns", sql="SELECT * FROM online_retail", table="online_retail"),
    _call("sql.validate", sql="SELECT * FROM online_retail"),
)
_QUERY = "SELECT SUM(amount) FROM online_retail WHERE dt BETWEEN {{start_date}} AND {{end_date}}"
_WEATHER_CALL = _act("The weather must be looked up.", _OSLO)

_FOUR_TESTS = (
    _zh("single-call", _LIST),
    _zh("final-answer", _end("已经收集到足够信息", _QUERY), question=_SALES),
    _zh("several-calls", _BOTH),
    _zh(
        "call-and-answer",
        _LIST,
        _ANSWER,
        later=(
            _fed_back(
                _LIST,
                ToolResult("call_1", "schema.list_tables", ["online_retail", "customers"]),
            ),
        ),
    ),
)

_SPELLED = (
    _en("one-by-one", _WEATHER_CALL, size=1),
    _en("whole-in-one-delta", _WEATHER_CALL, size=4000, model=_DOUBAO),
    _en("pretty-printed", json.dumps(json.loads(_WEATHER_CALL), indent=2), model="ollama/llama3.2"),
    _en(
        "escapes-cut",
        '{"reasoning": "Say \\u4f60\\u597d.", "action": "finish", '
        '"content": "\\u4f60\\u597d \\ud83d\\ude00\\n\\"Oslo\\" \\\\ C:\\/x\\t."}',
        size=1,
    ),
    _en(
        "escaped-arguments",
        '{"reasoning": "", "action": "tool_call", "tool_calls": [{"name": "get_weather", '
        '"arguments": {"city": "Troms\\u00f8 \\ud83c\\udf28"}}]}',
        size=3,
    ),
    _en(
        "long-number",
        _act("", '{"name": "show_order", "arguments": {"order": 9007199254740993}}'),
        question="Show order 9007199254740993.",
        model="ollama/llama3.2",
    ),
    _en(
        "json-inside-argument",
        _act(
            "", _call("write_file", path="a.json", content='```json\n{"action": "finish"}]}\n```')
        ),
        question="Write an example to a.json.",
        size=5,
    ),
    _en(
        "no-arguments",
        '{"action": "tool_call", "tool_calls": [{"name": "get_time"}]}',
        question="What time is it?",
    ),
    _en("in-a-string", _quoted(_WEATHER_CALL), size=9),
    _en("envelope-object", f'{{"response": {_WEATHER_CALL}, "took_ms": 412}}'),
    _zh("envelope-text", json.dumps({"code": 0, "result": _LIST}, ensure_ascii=False)),
    _en("in-a-fence", f"```json\n{_WEATHER_CALL}\n```", model=_DOUBAO),
    _en("answer-in-a-fence", "```json\n" + _end("I know it.", "Oslo is in Norway.") + "\n```\n"),
    _zh(
        "sql-for-content",
        f'{{"reasoning": "可以直接给出", "action": "finish", "sql": {_quoted(_QUERY)}}}',
        question=_SALES,
    ),
    _zh(
        "content-before-action",
        '{"content": "库里有两张表。", "action": "finish", "reasoning": "已经看过"}',
    ),
    _en(
        "think-before",
        "<think>\nI could answer "
        + _end("", "sunny")
        + " but I do not know.\n</think>\n\n"
        + _WEATHER_CALL,
        model=_R1,
    ),
    Recipe(
        f"{_GATEWAY}/action-document",
        _WEATHER,
        _EVERYDAY,
        (_document(_WEATHER_CALL),),
        request=_JSON_MODE,
        prompt=_EN,
    ),
    _zh(
        "bad-siblings",
        '{"reasoning": "一次做完", "action": "tool_call", "tool_calls": ['
        + ", ".join(
            (
                _call("sql.validate", sql="SELECT 1"),
                '{"arguments": {"sql": "SELECT 2"}}',
                '{"name": "sql.validate", "arguments": ["SELECT 3"]}',
                _call("sql.validate", sql="SELECT 4"),
            )
        )
        + "]}",
    ),
)

_NOTHING_RUNS = (
    _en(
        "quoted-in-answer",
        _end("They ask about the protocol.", f"Answer with this: {_WEATHER_CALL}"),
        question=_HOW,
    ),
    _zh(
        "draft-in-reasoning",
        _end(f"可以写 {_LIST}，但已经知道答案", "库里有两张表。"),
        size=4,
    ),
    _en(
        "draft-in-reasoning-field",
        _end("I know it.", "Oslo is in Norway."),
        thought=f"Maybe {_WEATHER_CALL}",
        model=_R1,
    ),
    _en(
        "draft-before-calls",
        f'{{"content": "It is sunny.", "action": "tool_call", "tool_calls": [{_OSLO}]}}',
    ),
    _zh(
        "unknown-action",
        '{"reasoning": "试一下", "action": "maybe", "tool_calls": ['
        + _call("sql.validate", sql="SELECT 1")
        + "]}",
    ),
    _zh("not-json", '要调用工具，就写 {"action": "tool_call"}，再写参数。', question=_TABLES),
    _en("words-before", f"Sure, I will look it up.\n{_WEATHER_CALL}"),
    _en("words-after", f"{_WEATHER_CALL}\nIt is sunny in Oslo."),
    _en(
        "example-in-longer-answer",
        f"```json\n{_WEATHER_CALL}\n```\nThat is what it looks like.",
        question=_HOW,
    ),
    _zh("length-in-call", _BOTH[:-40], word="length"),
    _zh("length-in-answer", _end("写出来", _QUERY)[:-30], word="length"),
    _en("stop-in-call", _WEATHER_CALL[:-12], model="ollama/llama3.2"),
    _en("end-of-stream", _WEATHER_CALL, edits=(end_before(b'"finish_reason": "stop"'),)),
    _zh("undeclared-tool", _act("删掉旧表", _call("sql.drop_table", table="online_retail"))),
    _zh("calls-missing", '{"reasoning": "查一下", "action": "tool_call"}'),
    _zh("calls-not-a-list", '{"action": "tool_call", "tool_calls": ' + _call("sql.validate") + "}"),
    _en(
        "calls-beside-answer",
        '{"action": "finish", "content": "It is sunny.", "tool_calls": [' + _OSLO + "]}",
    ),
    _en(
        "action-twice", '{"action": "finish", "action": "tool_call", "tool_calls": [' + _OSLO + "]}"
    ),
    _en("no-action", '{"tool_calls": [' + _OSLO + "]}"),
    _en("quote-not-escaped", '{"action": "finish", "content": "She said "no" to me."}'),
    _en("ordinary-json", '{"city": "Oslo", "country": "Norway", "population": 717710}'),
    _en("no-tools-offered", _WEATHER_CALL, tools=()),
)

RECIPES = (*_FOUR_TESTS, *_SPELLED, *_NOTHING_RUNS)
