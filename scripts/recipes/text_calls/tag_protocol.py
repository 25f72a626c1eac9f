"""Tools taught by prompt, calls in `<tool_call>` tags: Doubao on Ark and small models on Ollama.

What such models really write: the tag closed, left open, or forgotten, with words around it;
calls that are broken off or broken; and answers that only mention, quote or draft a call. No
request declares tools in the API's field.
"""

from msgspec.structs import replace

from harness.dialects.ollama.writer_options import WriterOptions as OllamaSpelling
from harness.dialects.openai_chat.writer_options import PROFILES
from harness.turns.deltas import Delta
from scripts.recipes.asking import OPENAI_CHAT, Api
from scripts.recipes.kit import Json, Recipe, Reply, finish, reasoning, spelled, stream, tokens
from scripts.recipes.ollama import CHAT as OLLAMA_CHAT

TOOLS = ("search", "get_time", "write_file")

_ARK = replace(PROFILES["volcengine"], finish="own-chunk")
_OLLAMA = OllamaSpelling()
_WEATHER = "今天北京的天气怎么样？"
_HOW = "How do I write a call of the search tool?"

_CALL = '{"tool": "search", "query": "今天北京天气预报"}'
_CLOSED = f"<tool_call>{_CALL}</tool_call>"
_NAMED = '{"name": "search", "arguments": {"query": "Oslo weather"}}'
_DICE = '<tool_call>{"tool": "get_time"}</tool_call>'
# More than a reader may hold back to see whether a call begins; the sign is none.
_LONG = "气温 <0 度时要注意防冻。" + "为了给出准确的回答，我先看看最新的天气预报。" * 20
_RESULTS = "search 的结果：\n1. 北京：晴，-6 到 3 度。\n请根据这些结果回答。"
_ANSWER = "根据搜索结果，今天北京晴，-6 到 3 度。"


def _said(wire: str, text: str, *, size: int, word: str, thought: str = "") -> Reply:
    parts: tuple[Delta, ...] = (
        *(reasoning(thought) if thought else ()),
        *spelled(text, size=size),
        *finish(word),
        *tokens(231, 40),
    )
    if wire == "ark":
        return stream(parts, spelling=_ARK)
    # Ollama tells its counts in the line that ends the stream.
    return stream(parts[:-2], parts[-1:], parts[-2:-1], spelling=_OLLAMA)


_APIS: dict[str, Api] = {"ark": OPENAI_CHAT, "ollama": OLLAMA_CHAT}
_MODELS = {"ark": "volcengine/doubao-1-5-pro-32k", "ollama": "ollama/qwen2.5"}
_PROMPTS = {"ark": "tag-tools-zh/v1", "ollama": "tag-tools/v1"}


def _recipe(  # noqa: PLR0913 - one switch each
    wire: str,
    name: str,
    *texts: str,
    question: str = _WEATHER,
    later: tuple[tuple[Json, ...], ...] = (),
    size: int = 5,
    word: str = "stop",
    thought: str = "",
    tools: tuple[str, ...] = TOOLS,
) -> Recipe:
    """Return a recipe with one reply for each of `texts`, in pieces of `size` characters."""
    return Recipe(
        f"{_MODELS[wire]}/{name}",
        question,
        tools,
        tuple(_said(wire, text, size=size, word=word, thought=thought) for text in texts),
        later=later,
        api=_APIS[wire],
        prompt=_PROMPTS[wire],
    )


def _fed_back(said: str, results: str = _RESULTS) -> tuple[Json, ...]:
    """Return the messages that tell the model what its call gave: there is no role for tools."""
    return ({"role": "assistant", "content": said}, {"role": "user", "content": results})


_FORMATS = (
    _recipe("ark", "tag-closed", _CLOSED),
    _recipe("ollama", "tag-closed", _CLOSED),
    _recipe("ark", "tag-left-open", f"<tool_call>{_CALL}"),
    _recipe("ollama", "tag-left-open", f"<tool_call>\n{_CALL}\n"),
    _recipe("ark", "bare-json", _CALL),
    _recipe("ollama", "bare-json", f"{_CALL}\n"),
    _recipe("ollama", "name-and-arguments", f"<tool_call>\n{_NAMED}\n</tool_call>", size=9),
    _recipe("ark", "bare-among-words", f"好的，我来查一下。\n{_CALL}\n请稍等。"),
    _recipe(
        "ollama", "bare-among-words", f"Let me look that up.\n\n{_NAMED}\n\nOne moment.", size=9
    ),
    _recipe(
        "ollama",
        "two-bare-calls",
        '{"tool": "search", "query": "北京"}\n{"tool": "search", "query": "上海"}',
    ),
)

_AROUND = (
    _recipe("ark", "words-around-tag", f"我需要搜索一下。\n{_CLOSED}\n搜索完成后我会回答。"),
    _recipe("ollama", "words-glued-to-tag", f"我来搜索：{_CLOSED}稍等。", size=3),
    _recipe("ark", "tag-one-by-one", _CLOSED, size=1),
    _recipe("ollama", "tag-in-threes", f"Hi <3, a<b. {_CLOSED}", size=3),
    _recipe("ark", "whole-in-one-delta", f"我来搜索。{_CLOSED}", size=400),
    _recipe("ark", "long-words-before-tag", f"{_LONG}\n{_CLOSED}", size=6),
    _recipe(
        "ark",
        "chinese-escaped",
        '<tool_call>{"tool": "search", "query": "\\u4eca\\u5929\\u7684\\u65b0\\u95fb"}</tool_call>',
    ),
)

_SEVERAL = (
    _recipe(
        "ark",
        "second-of-two-broken",
        '<tool_call>{"tool": "search", "query": "北京"}</tool_call>\n'
        '<tool_call>{"tool": "search", "query": 上海}</tool_call>',
    ),
    _recipe(
        "ollama",
        "first-of-two-broken",
        '先查上海。<tool_call>{"tool": "search", "query": "上海</tool_call>'
        '再查北京。<tool_call>{"tool": "search", "query": "北京"}</tool_call>',
    ),
    # Found by the fuzzer: brackets that no JSON closes are words, and a tag behind them is a tag.
    _recipe(
        "ark",
        "brackets-before-tag",
        '写法是 {[[\n<tool_call>{"tool": "search", "query": "北京"}</tool_call>',
        size=4,
    ),
    _recipe("ark", "same-call-twice", _DICE + _DICE, question="现在几点？过一会儿再看一次。"),
    _recipe(
        "ollama",
        "two-calls-left-open",
        '<tool_call>{"tool": "search", "query": "北京"}\n'
        '<tool_call>{"tool": "search", "query": "上海"}',
    ),
)

_ARGUMENTS = (
    _recipe(
        "ark",
        "nested-braces",
        '<tool_call>{"tool": "write_file", "arguments": {"path": "a.json", '
        '"content": "{\\"a\\": {\\"b\\": 1}}", "mode": 420}}</tool_call>',
        question="把配置写进 a.json。",
    ),
    _recipe(
        "ollama",
        "bare-nested-braces",
        '{"tool": "write_file", "arguments": {"path": "a.txt", "content": "if (x) { y(); }"}}',
        question="Write the snippet into a.txt.",
    ),
    _recipe(
        "ark",
        "bare-nested-object",
        '{"name": "search", "arguments": {"options": {"lang": "zh"}, "query": "北京天气"}}',
    ),
    _recipe(
        "ark",
        "closer-in-string",
        '<tool_call>{"tool": "write_file", "path": "note.md", '
        '"content": "结尾是 </tool_call> 标签"}</tool_call>',
        question="把说明写进 note.md。",
        size=3,
    ),
    _recipe(
        "ollama",
        "opener-in-string",
        '<tool_call>{"tool": "search", "query": "what is <tool_call>{\\"tool\\": \\"get_time\\"}'
        '</tool_call>"}</tool_call>',
        question="What does this markup mean?",
        size=4,
    ),
    _recipe(
        "ark",
        "strings-stay-strings",
        '<tool_call>{"tool": "write_file", "path": "007", "content": " true\\n"}</tool_call>',
        question="把 true 写进文件 007。",
    ),
    _recipe(
        "ollama",
        "inner-fragment",
        '<tool_call>{"tool": "write_file", "arguments": {"name": "get_time", "arguments": {}},}'
        "</tool_call>",
        question="Save that call.",
        size=7,
    ),
)

_BROKEN_OFF = (
    _recipe(
        "ark", "length-in-tag", '<tool_call>{"tool": "search", "query": "今天北', word="length"
    ),
    _recipe("ark", "length-in-bare-call", '{"tool": "search", "query": "今天北', word="length"),
    _recipe("ollama", "stop-in-call", '我来查。<tool_call>{"tool": "search", "query": "今天北'),
    _recipe("ark", "undeclared-tool", '<tool_call>{"tool": "calculator", "x": 1}</tool_call>'),
)

_ROUNDS = (
    _recipe("ark", "search-and-answer-by-tag", _CLOSED, _ANSWER, later=(_fed_back(_CLOSED),)),
    _recipe(
        "ark",
        "results-not-used",
        _CLOSED,
        "抱歉，没有找到相关的结果。",
        later=(_fed_back(_CLOSED, "1. 北京：晴，-6 到 3 度。"),),
    ),
    _recipe(
        "ollama",
        "tag-then-bare-then-answer",
        _CLOSED,
        '{"tool": "get_time"}',
        _ANSWER,
        later=(_fed_back(_CLOSED), _fed_back('{"tool": "get_time"}', "get_time 的结果：10:00")),
    ),
)

_EXAMPLE = '<tool_call>{"tool": "search", "query": "Oslo"}</tool_call>'
_NOTHING_TO_RUN = (
    _recipe("ark", "no-call-made", "抱歉，没有找到相关的结果。"),
    _recipe("ark", "call-in-plain-chinese", "我现在调用工具 search，查询“今天北京天气”。请稍等。"),
    _recipe(
        "ollama",
        "example-in-fence",
        f"Write it like this:\n```xml\n{_EXAMPLE}\n```\nThen wait for the result.",
        question=_HOW,
    ),
    _recipe(
        "ollama",
        "json-example-in-fence",
        f"The object alone works too:\n```json\n{_NAMED}\n```\nThat is all.",
        question=_HOW,
    ),
    _recipe("ark", "example-in-inline-code", f"格式是 `{_EXAMPLE}`，一行写完。", question=_HOW),
    _recipe(
        "ollama", "example-quoted", f'It has to read "{_EXAMPLE}", nothing else.', question=_HOW
    ),
    _recipe(
        "ark",
        "example-in-block-quote",
        f"文档里写着：\n> {_EXAMPLE}\n\n照着写就行。",
        question=_HOW,
    ),
    _recipe(
        "ollama",
        "draft-in-think",
        f"<think>I could run {_EXAMPLE} but I know this.</think>\nIt is a city in Norway.",
        question="What is Oslo?",
    ),
    _recipe(
        "ark",
        "draft-in-reasoning-field",
        "奥斯陆是挪威的首都。",
        question="奥斯陆是什么？",
        thought=f"可以先 {_EXAMPLE} 但不需要。",
    ),
    _recipe(
        "ollama",
        "data-with-a-name",
        'The manifest is {"name": "search", "version": "1.0.0", "private": true} as of today.',
        question="Show me the manifest.",
    ),
    _recipe(
        "ollama",
        "data-of-another-name",
        '{"name": "my-app", "arguments": {"port": 8080}}',
        question="Show me the launch file.",
    ),
    _recipe(
        "ark",
        "bare-undeclared-tool",
        '{"tool": "calculator", "arguments": {"expression": "1 + 1"}}',
        question="一加一等于几？",
    ),
    _recipe(
        "ollama", "no-tools-offered", f"The markup is {_EXAMPLE} here.", tools=(), question=_HOW
    ),
    _recipe(
        "ark", "marker-in-prose", "模型先写 <tool_call> 再写 JSON，最后写结束标签。", question=_HOW
    ),
    _recipe(
        "ollama",
        "marker-at-the-very-end",
        "The opening marker is <tool_call>",
        question=_HOW,
        size=4,
    ),
    _recipe("ark", "half-a-marker-at-the-end", "标签的开头是 <tool_", question=_HOW, size=3),
)

RECIPES = (
    *_FORMATS,
    *_AROUND,
    *_SEVERAL,
    *_ARGUMENTS,
    *_BROKEN_OFF,
    *_ROUNDS,
    *_NOTHING_TO_RUN,
)
