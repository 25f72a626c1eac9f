"""Conversations of the loops whose prompt teaches the calls: tags, labelled lines, actions.

No request declares tools in the API's field, and results are told in words.
"""

from msgspec.structs import replace

from harness.dialects.ollama.writer_options import WriterOptions as OllamaSpelling
from harness.dialects.openai_chat.writer_options import PROFILES
from scripts.recipes.conversations import told
from scripts.recipes.kit import Json, Recipe, as_json, finish, spelled, stream, tokens
from scripts.recipes.ollama import CHAT as OLLAMA_CHAT

_DASHSCOPE = PROFILES["dashscope"]
_ARK = replace(PROFILES["volcengine"], finish="own-chunk")
_OLLAMA = OllamaSpelling()
_ACTION: Json = {"response_format": {"type": "json_object"}}


def _taught(  # noqa: PLR0913, PLR0917 - one switch each
    name: str,
    question: str,
    tools: tuple[str, ...],
    prompt: str,
    said: tuple[str, ...],
    back: tuple[str, ...],
    request: Json | None = None,
) -> Recipe:
    """Return a recipe with a reply for each of `said`, and what the user says between them."""
    later = tuple(told(turn, user) for turn, user in zip(said, back, strict=False))
    if name.startswith("ollama/"):
        # Ollama tells its counts in the line that ends the stream.
        replies = tuple(
            stream(spelled(turn), tokens(190, 30), finish("stop"), spelling=_OLLAMA)
            for turn in said
        )
        return Recipe(name, question, tools, replies, later, {}, OLLAMA_CHAT, prompt)
    spelling = _ARK if name.startswith("volcengine/") else _DASHSCOPE
    replies = tuple(stream(spelled(turn), finish("stop"), spelling=spelling) for turn in said)
    return Recipe(name, question, tools, replies, later, request or {}, prompt=prompt)


def _act(thought: str, *calls: tuple[str, Json]) -> str:
    made = [{"name": name, "arguments": arguments} for name, arguments in calls]
    return as_json(reasoning=thought, action="tool_call", tool_calls=made)


def _answer(thought: str, content: str) -> str:
    return as_json(reasoning=thought, action="finish", content=content)


_TIDES = as_json(name="search", arguments={"query": "tide tables"})
_BEIJING = as_json(tool="search", query="北京天气")
_SHANGHAI = as_json(tool="search", query="上海天气")
_TAG, _TAG_ZH = "tag-tools/v1", "tag-tools-zh/v1"
_ASK_ZH = "北京今天天气怎么样？"
_DOUBAO, _QWEN = "volcengine/doubao-1-5-pro-32k", "ollama/qwen2.5"

_TAGS = (
    _taught(
        f"{_DOUBAO}/search-closed-tag",
        _ASK_ZH,
        ("search",),
        _TAG_ZH,
        (f"我来查一下。<tool_call>{_BEIJING}</tool_call>", "北京今天晴，3 度。"),
        ("1. 北京：晴，3 度。请根据结果回答。",),
    ),
    _taught(
        f"{_DOUBAO}/search-open-tag",
        _ASK_ZH,
        ("search",),
        _TAG_ZH,
        (f"<tool_call>{_BEIJING}", "查询失败，请稍后再问。"),
        ("查询失败。",),
    ),
    _taught(
        f"{_QWEN}/search-bare-json",
        "Where are tide tables?",
        ("search",),
        _TAG,
        (_TIDES, "At the harbour office."),
        ("1. Tides: at the harbour office.",),
    ),
    _taught(
        f"{_QWEN}/search-closed-tag-nothing-found",
        "Where are tide tables?",
        ("search",),
        _TAG,
        (f"<tool_call>\n{_TIDES}\n</tool_call>", "I found nothing about that."),
        ("The search found nothing.",),
    ),
    _taught(
        f"{_QWEN}/search-open-tag-fails",
        "Where are tide tables?",
        ("search",),
        _TAG,
        (f"Let me look.\n<tool_call>\n{_TIDES}\n", "The search does not work now."),
        ("The call failed.",),
    ),
    _taught(
        f"{_DOUBAO}/searches-again-and-again",
        _ASK_ZH,
        ("search",),
        _TAG_ZH,
        (f"<tool_call>{_BEIJING}</tool_call>",) * 3,
        ("晴，3 度。",) * 2,
    ),
    _taught(
        f"{_DOUBAO}/search-for-two-questions",
        _ASK_ZH,
        ("search",),
        _TAG_ZH,
        (
            f"<tool_call>{_BEIJING}</tool_call>",
            "北京晴，3 度。",
            f"<tool_call>{_SHANGHAI}</tool_call>",
            "上海多云，9 度。",
        ),
        ("晴，3 度。", "那上海呢？", "多云，9 度。"),
    ),
)

_REACT = (
    _taught(
        "dashscope/qwen-max/search-by-labelled-lines",
        "Where are tide tables?",
        ("search",),
        "react/v1",
        (
            'Thought: I need to search.\nAction: search\nAction Input: {"query": "tide tables"}\n',
            "Thought: I know it now.\nFinal Answer: At the harbour office.",
        ),
        ("Observation: at the harbour office",),
    ),
)

_TABLES = ("schema.list_tables", {"database": "sales"})
_COLUMNS = ("schema.list_columns", {"table_name": "orders", "include_types": True})
_CUSTOMERS = ("schema.list_columns", {"table_name": "customers"})
_QUERY = "SELECT SUM(amount) FROM orders"
_VALIDATE = ("sql.validate", {"sql": _QUERY})
_SCHEMA = ("schema.list_tables", "schema.list_columns", "sql.validate")
_SUM = "统计全部订单的金额。"

_ACTIONS = (
    _taught(
        "dashscope/qwen-max/schema-and-validation",
        _SUM,
        _SCHEMA,
        "action-protocol-zh/v1",
        (
            _act("先看有哪些表", _TABLES),
            _act("再看两张表的列", _COLUMNS, _CUSTOMERS),
            _act("检查语法", _VALIDATE),
            _answer("语法正确", _QUERY),
        ),
        ("orders customers", "id amount; id name", "ok"),
        _ACTION,
    ),
    _taught(
        "dashscope/qwen-max/database-that-is-not-there",
        _SUM,
        _SCHEMA,
        "action-protocol-zh/v1",
        (_act("先看有哪些表", _TABLES), _answer("没有这个数据库", "找不到数据库 sales。")),
        ("调用失败：没有数据库 sales",),
        _ACTION,
    ),
    _taught(
        "dashscope/qwen-max/action-for-two-questions",
        _SUM,
        _SCHEMA,
        "action-protocol-zh/v1",
        (
            _act("看列", _COLUMNS),
            _answer("信息足够", _QUERY),
            _answer("不需要工具", "SELECT COUNT(*) FROM orders"),
        ),
        ("id amount", "那订单有多少？"),
        _ACTION,
    ),
)

RECIPES = _TAGS + _REACT + _ACTIONS
