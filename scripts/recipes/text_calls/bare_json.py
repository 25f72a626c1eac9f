"""JSON without any marker: Llama 3.x and small local models, whose engine found no call in it.

On Ollama the same reply comes as lines, and its end says `stop` too.
"""

from harness.dialects.ollama.writer_options import WriterOptions
from scripts.recipes.kit import Recipe, finish, spelled, stream, tokens
from scripts.recipes.ollama import CHAT

_LLAMA = "compatible/llama-3.1-8b-instruct"
_TOOLS = ("get_weather", "get_time", "write_file")
_OSLO = '{"name": "get_weather", "parameters": {"city": "Oslo"}}'
_TOLD = (
    '{"name": "get_weather", "description": "Tell the weather in a city.", "parameters": '
    '{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}'
)
_TIME = '{"name": "get_time", "parameters": {}}'


def _recipe(name: str, said: str, *, size: int = 7, word: str = "stop") -> Recipe:
    reply = stream(spelled(said, size=size), finish(word))
    return Recipe(f"{_LLAMA}/{name}", "What is the weather in Oslo?", _TOOLS, (reply,))


RECIPES = (
    Recipe(
        "ollama/llama3.2/bare-call",
        "What is the weather in Oslo?",
        _TOOLS,
        (
            stream(
                spelled(_OSLO, size=4), tokens(190, 21), finish("stop"), spelling=WriterOptions()
            ),
        ),
        api=CHAT,
    ),
    _recipe("bare-semicolon-between", f"{_OSLO}; {_TIME}"),
    _recipe("bare-nothing-between", f"{_OSLO}{_TIME}{_TIME}", size=1),
    _recipe("bare-array", f"\n[\n  {_OSLO},\n  {_TIME}\n]\n"),
    _recipe("bare-flat", '{"tool": "get_weather", "city": "Oslo", "unit": "C"}'),
    _recipe(
        "bare-as-in-the-api",
        '{"type": "function", "id": "call_7", "function": '
        '{"name": "get_weather", "arguments": "{\\"city\\": \\"Oslo\\"}"}}',
    ),
    _recipe("bare-after-think", f"<think>\nOslo it is.\n</think>\n\n{_OSLO}"),
    _recipe("bare-then-words", f"{_OSLO}\n\nI hope that this helps."),
    _recipe("bare-then-data", f'{_OSLO}\n{{"name": "Oslo", "people": 700000}}'),
    _recipe(
        "bare-both-keys",
        '{"name": "get_weather", "arguments": {"city": "Oslo"}, "parameters": {"city": "Rome"}}',
    ),
    _recipe(
        "bare-braces-in-string",
        '{"name": "write_file", "arguments": {"path": "a.json", "content": "}} \\" {[ } ]"}}',
        size=3,
    ),
    _recipe("bare-schema", _TOLD),
    _recipe("bare-schemas-as-in-the-api", f'[{{"type": "function", "function": {_TOLD}}}]'),
    _recipe("bare-flat-data", '{"tool": "get_weather", "status": "ok", "results": 5}'),
    _recipe(
        "bare-argument-beside", '{"tool": "get_weather", "input": {"unit": "C"}, "city": "Oslo"}'
    ),
    _recipe("bare-cut-at-length", _OSLO.removesuffix('"}}').replace("Oslo", "Osl"), word="length"),
)
