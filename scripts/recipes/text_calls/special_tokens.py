"""Calls in the special tokens of a model's template, which an engine took for text.

The parser of the engine was off, or it failed on what the model wrote. Each request declares
its tools in the API's field; each reply is in the format of the model that it names.
"""

from typing import Final

from harness.dialects.openai_chat.writer_options import WriterOptions
from scripts.recipes.kit import (
    Recipe,
    Reply,
    call,
    finish,
    reasoning,
    spelled,
    stream,
    text,
)

_TOOLS = ("get_weather", "get_time", "show_order", "search", "write_file")
_THINKING = WriterOptions(reasoning_field="reasoning_content")
_OSLO, _BERGEN = '{"city": "Oslo"}', '{"city": "Bergen"}'
_WEATHER = "What is the weather in Oslo and in Bergen?"
_CLOCK = "What time is it?"

_BAR, _JOIN = "\uff5c", "\u2581"


def _in_pieces(said: str, size: int) -> list[str]:
    return [said[at : at + size] for at in range(0, len(said), size)]


def _text(said: str, *, size: int = 7, word: str = "stop") -> Reply:
    return stream(spelled(said, size=size), finish(word))


def _recipe(name: str, reply: Reply | str, question: str = _WEATHER) -> Recipe:
    made = _text(reply) if isinstance(reply, str) else reply
    return Recipe(f"compatible/{name}", question, _TOOLS, (made,))


def _long(word: str) -> Reply:
    """Return a reply that the length limit cut."""
    return _text(word, word="length")


# DeepSeek


def _token(words: str, join: str = _JOIN) -> str:
    return f"<{_BAR}{words.replace(' ', join)}{_BAR}>"


_BEGINS, _ENDS = _token("tool calls begin"), _token("tool calls end")
_BEGIN, _SEP, _END = _token("tool call begin"), _token("tool sep"), _token("tool call end")
_EOS = _token("end of sentence")


def _v3(name: str, arguments: str) -> str:
    return f"{_BEGIN}function{_SEP}{name}\n```json\n{arguments}\n```{_END}"


def _v31(name: str, arguments: str) -> str:
    return f"{_BEGIN}{name}{_SEP}{arguments}{_END}"


_V31_OSLO = _v31("get_weather", _OSLO)
_V3, _V31, _R1 = "deepseek-v3-0324", "deepseek-v3.1", "deepseek-r1"
_DEEPSEEK = (
    _recipe(f"{_V3}/fenced-call", f"{_BEGINS}{_v3('get_weather', _OSLO)}{_ENDS}{_EOS}"),
    _recipe(
        f"{_V3}/fenced-calls-in-lines",
        f"I will ask.{_BEGINS}{_v3('get_weather', _OSLO)}\n{_v3('get_weather', _BERGEN)}{_ENDS}",
    ),
    _recipe(
        f"{_V3}/code-after-call",
        f"{_BEGINS}{_v3('get_time', '{}')}{_ENDS}\nMeanwhile:\n```python\nprint(1)\n```",
        _CLOCK,
    ),
    _recipe(
        f"{_V31}/calls-among-words",
        f"Both then.\n\n{_BEGINS}{_V31_OSLO}{_v31('get_weather', _BERGEN)}{_ENDS}\nOne moment.",
    ),
    _recipe(
        f"{_V31}/letter-by-letter",
        _text(f"A < B <{_BAR}tool. {_BEGINS}{_V31_OSLO}{_ENDS} Done.", size=1),
    ),
    _recipe(f"{_V31}/section-never-closed", f"{_BEGINS}{_BEGIN}get_time{_SEP}{{}}{_EOS}", _CLOCK),
    _recipe(
        f"{_V31}/length-in-call",
        _long(f'{_BEGINS}{_BEGIN}write_file{_SEP}{{"path": "a.md", "content": "It beg'),
        "Write a.md.",
    ),
    _recipe(f"{_V31}/length-in-name", _long(f"Yes.{_BEGINS}{_BEGIN}get_wea")),
    _recipe(
        f"{_V31}/marker-in-string",
        _BEGINS
        + _v31("write_file", f'{{"path": "a.md", "content": "It ends with {_END}{_ENDS} here"}}')
        + _ENDS,
        "Write down how a call ends.",
    ),
    _recipe(f"{_V31}/undeclared-tool", f"{_BEGINS}{_v31('remove_all', '{}')}{_ENDS}"),
    _recipe(
        f"{_R1}/underscores",
        f"{_BEGINS}{_V31_OSLO}{_ENDS}".replace(_JOIN, "_"),
    ),
    _recipe(
        f"{_R1}/draft-in-think",
        f"<think>\nPerhaps {_BEGINS}{_v3('get_weather', _OSLO)}{_ENDS}\n"
        "No, I know it.\n</think>\nIt rains in both.",
    ),
)

# Kimi

_SECTION, _SECTION_END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
_K2: Final = "kimi-k2-instruct"


def _k2(header: str, arguments: str) -> str:
    return f"<|tool_call_begin|>{header}<|tool_call_argument_begin|>{arguments}<|tool_call_end|>"


_K2_OSLO = _k2("functions.get_weather:0", _OSLO)
_K2_ONE = f"{_SECTION}{_K2_OSLO}{_SECTION_END}"
_KIMI = (
    _recipe(f"{_K2}/section", _K2_ONE),
    _recipe(
        f"{_K2}/calls-among-words",
        f"I check both.{_SECTION}{_K2_OSLO}{_k2('functions.get_weather:1', _BERGEN)}"
        f"{_SECTION_END}<|im_end|>",
    ),
    _recipe(
        f"{_K2}/section-without-s",
        _K2_ONE.replace("tool_calls_section", "tool_call_section"),
    ),
    _recipe(f"{_K2}/letter-by-letter", _text(f"So <| {_K2_ONE} Wait.", size=1)),
    _recipe(f"{_K2}/line-ends-between-tokens", _K2_ONE.replace("|>", "|>\n")),
    _recipe(
        f"{_K2}/reasoning-holds-draft",
        stream(
            reasoning("I could say ", _K2_ONE, " but I know it."),
            text("It rains in both."),
            finish("stop"),
            spelling=_THINKING,
        ),
    ),
    _recipe(
        f"{_K2}/reasoning-ends-in-calls",
        stream(
            reasoning(
                "Both cities. ", *(_K2_ONE[at : at + 11] for at in range(0, len(_K2_ONE), 11))
            ),
            finish("stop"),
            spelling=_THINKING,
        ),
    ),
    _recipe(
        f"{_K2}/marker-in-string",
        f"{_SECTION}"
        + _k2(
            "functions.write_file:0",
            f'{{"path": "a.md", "content": "Then <|tool_call_end|>{_SECTION_END} comes."}}',
        )
        + _SECTION_END,
        "Write down how a call ends.",
    ),
    _recipe(
        f"{_K2}/length-in-call",
        _long(
            f"{_SECTION}<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{{"
        ),
    ),
    _recipe(f"{_K2}/no-argument-text", f"{_SECTION}{_k2('functions.get_time:0', '')}", _CLOCK),
    _recipe(
        f"{_K2}/undeclared-beside-good",
        f"{_SECTION}{_k2('functions.remove_all:0', '{}')}{_k2('functions.get_time:1', '{}')}"
        f"{_SECTION_END}",
        _CLOCK,
    ),
    _recipe(
        f"{_K2}/section-and-native-call",
        stream(
            spelled(f"Let me see.{_K2_ONE}"),
            call("get_weather", _OSLO, call_id="functions.get_weather:0"),
            finish("tool_calls"),
        ),
    ),
    _recipe(f"{_K2}/closing-tokens-only", f"It is done.<|tool_call_end|>{_SECTION_END}"),
)

# Mistral

_M03, _M32 = "mistral-7b-instruct-v0.3", "mistral-small-3.2-24b-instruct"
_NATIVE_OSLO = f'{{"name": "get_weather", "arguments": {_OSLO}}}'
_MISTRAL = (
    _recipe(
        f"{_M03}/array-with-ids",
        f'[TOOL_CALLS] [{{"name": "get_weather", "arguments": {_OSLO}, "id": "D681PevKs"}},'
        f' {{"name": "get_weather", "arguments": {_BERGEN}, "id": "Bw03xkTf1"}}]</s>',
    ),
    _recipe(f"{_M03}/array-of-none", "[TOOL_CALLS] [] I need no tool: it rains."),
    _recipe(f"{_M03}/array-cut-short", _long(f"[TOOL_CALLS] [{_NATIVE_OSLO}, {{")),
    _recipe(f"{_M03}/array-holds-no-calls", '[TOOL_CALLS] [{"city": "Oslo"}, {"city": "Bergen"}]'),
    _recipe(
        f"{_M03}/marker-in-string",
        '[TOOL_CALLS] [{"name": "write_file", "arguments": {"path": "a.md", '
        '"content": "First [TOOL_CALLS], then [ARGS] and </s>"}}]',
        "Write down how a call begins.",
    ),
    _recipe(
        f"{_M32}/name-and-args",
        stream(
            text("[TOOL_", "CALLS]get_wea", "ther[AR", 'GS]{"ci', 'ty": "Os', 'lo"}'),
            finish("stop"),
        ),
    ),
    # Found by the fuzzer: a tag of another family is no array because a marker in brackets follows.
    _recipe(f"{_M32}/behind-an-open-tag", f"<tool_call>\n[TOOL_CALLS]get_weather[ARGS]{_OSLO}"),
    _recipe(
        f"{_M32}/names-and-ids",
        f"I look.[TOOL_CALLS]get_weather[CALL_ID]D681PevKs[ARGS]{_OSLO}"
        f"[TOOL_CALLS]get_weather[CALL_ID]Bw03xkTf1[ARGS]{_BERGEN}</s>",
    ),
    _recipe(
        f"{_M32}/one-marker-for-two",
        f"[TOOL_CALLS]get_weather[ARGS]{_OSLO},get_weather[ARGS]{_BERGEN}</s>",
    ),
    _recipe(f"{_M32}/args-marker-missing", '[TOOL_CALLS]show_order{"order": 12}', "Show order 12."),
    _recipe(
        f"{_M32}/integer-letter-by-letter",
        _text('[TOOL_CALLS]show_order[ARGS]{"order": 4096}', size=1),
        "Show order 4096.",
    ),
    _recipe(
        f"{_M32}/broken-then-good",
        f"[TOOL_CALLS]get_weather[ARGS]{{city: 1}}[TOOL_CALLS]get_weather[ARGS]{_OSLO}",
    ),
    _recipe(f"{_M32}/cut-after-name", _long("[TOOL_CALLS]get_weather")),
    _recipe(f"{_M32}/undeclared-tool", "[TOOL_CALLS]remove_all[ARGS]{}"),
)

# Cohere

_COMMAND: Final = "c4ai-command-a-03-2025"
_BOTH = (
    '[\n    {"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Oslo"}},\n'
    '    {"tool_call_id": "1", "tool_name": "get_weather", "parameters": {"city": "Bergen"}}\n]'
)
_ACTION = f"<|START_ACTION|>{_BOTH}<|END_ACTION|>"
_COHERE = (
    _recipe(
        f"{_COMMAND}/thinking-then-actions",
        f"<|START_THINKING|>I will ask for both.<|END_THINKING|>{_ACTION}<|END_OF_TURN_TOKEN|>",
    ),
    _recipe(f"{_COMMAND}/letter-by-letter", _text(_ACTION, size=1)),
    _recipe(f"{_COMMAND}/thinking-began-in-prompt", f"I ask for both.<|END_THINKING|>{_ACTION}"),
    _recipe(
        f"{_COMMAND}/draft-in-thinking",
        f"<|START_THINKING|>Maybe {_ACTION}? No.<|END_THINKING|>"
        "<|START_RESPONSE|>It rains in both.<|END_RESPONSE|><|END_OF_TURN_TOKEN|>",
    ),
    _recipe(f"{_COMMAND}/cut-short", _long(_ACTION[:90])),
    _recipe(
        f"{_COMMAND}/broken-json",
        f"A {_ACTION.replace('Oslo', 'Os' + chr(10) + 'lo', 1)} B",
    ),
    _recipe(
        f"{_COMMAND}/closer-in-string",
        '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "search", "parameters": '
        '{"query": "what does <|END_ACTION|> mean"}}]<|END_ACTION|>',
        "What does the end token mean?",
    ),
    _recipe(
        f"{_COMMAND}/response-tokens",
        "<|START_RESPONSE|>It rains in both.<|END_RESPONSE|><|END_OF_TURN_TOKEN|>",
    ),
)

# Llama

_L31: Final = "llama-3.1-70b-instruct"
_LLAMA_OSLO = f'{{"name": "get_weather", "parameters": {_OSLO}}}'
_LLAMA_BERGEN = f'{{"name": "get_weather", "parameters": {_BERGEN}}}'
_LLAMA = (
    _recipe(f"{_L31}/tag-and-object", f"<|python_tag|>{_LLAMA_OSLO}<|eom_id|>"),
    _recipe(
        f"{_L31}/objects-with-semicolons",
        f"<|python_tag|>{_LLAMA_OSLO}; {_LLAMA_BERGEN}<|eot_id|>",
    ),
    _recipe(f"{_L31}/letter-by-letter", _text(f"<|python_tag|>{_LLAMA_OSLO}<|eom_id|>", size=1)),
    _recipe(
        f"{_L31}/built-in-offered",
        '<|python_tag|>search.call(query="weather (Oslo), \\"now\\"", limit=3)<|eom_id|>',
    ),
    _recipe(
        f"{_L31}/built-in-not-offered",
        '<|python_tag|>brave_search.call(query="weather in Oslo")<|eom_id|>',
    ),
    _recipe(
        f"{_L31}/built-in-with-expression",
        '<|python_tag|>search.call(query="a" + str(open("/etc/hosts").read()))',
    ),
    _recipe(
        f"{_L31}/python-code", "<|python_tag|>import math\nprint(math.sqrt(2))", "What is sqrt(2)?"
    ),
    _recipe(f"{_L31}/cut-short", _long('<|python_tag|>{"name": "get_weather", "param')),
    _recipe(
        f"{_L31}/tag-in-string",
        '<|python_tag|>{"name": "search", "parameters": {"query": "<|python_tag|> <|eom_id|>"}}',
        "What is the python tag?",
    ),
)

# A marker and JSON

_G30, _G31 = "granite-3.0-8b-instruct", "granite-3.1-8b-instruct"
_JAMBA, _PHI, _INTERN = "jamba-1.5-mini", "phi-4-mini-instruct", "internlm2_5-7b-chat"
_NATIVE_BERGEN = f'{{"name": "get_weather", "arguments": {_BERGEN}}}'
_MARKED = (
    _recipe(f"{_G30}/token-and-array", f"<|tool_call|>[{_NATIVE_OSLO}, {_NATIVE_BERGEN}]"),
    _recipe(f"{_G31}/string-and-array", f"<tool_call>[{_NATIVE_OSLO}]<|end_of_text|>"),
    _recipe(f"{_G31}/cut-short", _long(f"<tool_call>[{_NATIVE_OSLO}, ")),
    _recipe(
        f"{_JAMBA}/tags-and-array",
        f"I will ask.\n<tool_calls>[\n  {_NATIVE_OSLO},\n  {_NATIVE_BERGEN}\n]</tool_calls>",
    ),
    _recipe(
        f"{_JAMBA}/closer-in-string",
        '<tool_calls>[{"name": "search", "arguments": {"query": "</tool_calls>"}}]</tool_calls>',
        "What does that tag close?",
    ),
    _recipe(
        f"{_JAMBA}/broken-between-words",
        'A <tool_calls>[{"name": "get_weather", "arguments": {city}}]</tool_calls> B',
    ),
    _recipe(
        f"{_PHI}/tokens-and-array",
        f"<|tool_call|>[{_NATIVE_OSLO}, {_NATIVE_BERGEN}]<|/tool_call|><|end|>",
    ),
    _recipe(f"{_PHI}/functools-array", _text(f"functools[{_NATIVE_OSLO}]", size=3)),
    _recipe(
        f"{_PHI}/functools-in-prose",
        "Use functools.cache, or functools [1] as the manual says, or functools[0].",
        "How do I cache a function?",
    ),
    _recipe(
        f"{_INTERN}/action-after-words",
        f"Sure, I will ask.<|action_start|><|plugin|>\n{_LLAMA_OSLO}<|action_end|><|im_end|>",
    ),
    _recipe(
        f"{_INTERN}/closer-split",
        stream(
            text("<|action_st", "art|><|plug", f"in|>{_LLAMA_OSLO}<|action_e", "nd|>"),
            finish("stop"),
        ),
    ),
    _recipe(f"{_INTERN}/cut-short", _long(f"<|action_start|><|plugin|>{_LLAMA_OSLO[:-5]}")),
)

RECIPES = (*_DEEPSEEK, *_KIMI, *_MISTRAL, *_COHERE, *_LLAMA, *_MARKED)
