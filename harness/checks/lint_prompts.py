"""The requests that `harness lint --url` sends to a server: one for each form of an answer."""

from collections.abc import Sequence
from typing import Any, Final

from harness.recording.prompt_set import PromptEntry
from harness.turns.turn import Tool

_CITY: Final = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
_WEATHER: Final = Tool("get_weather", "Get the weather of a city.", _CITY)
_TIME: Final = Tool("get_time", "Get the current time.", {"type": "object", "properties": {}})
_ACCOUNT: Final = Tool(
    "find_account",
    "Find an account by its number.",
    {
        "type": "object",
        "properties": {"number": {"type": "integer"}, "owner": {"type": "string"}},
        "required": ["number", "owner"],
    },
)
# How a request of each API demands a call, and how it limits the answer.
_FORCED: Final[dict[str, dict[str, Any]]] = {
    "cohere": {"tool_choice": "REQUIRED"},
    "mistral": {"tool_choice": "any"},
    "openai-chat": {"tool_choice": "required"},
}
_LIMITED: Final[dict[str, dict[str, Any]]] = {"ollama": {"options": {"num_predict": 16}}}


def lint_prompts(dialect: str, tools: Sequence[Tool] = ()) -> tuple[PromptEntry, ...]:
    """Return the prompts for a server of `dialect`.

    Args:
        dialect: the API of the server.
        tools: tools of the user, which are offered in one more request.
    """
    limited = _LIMITED.get(dialect, {"max_tokens": 16})
    entries = [
        PromptEntry("text", "Name three rivers of Europe."),
        PromptEntry("call", "What is the weather in Oslo?", tools=(_WEATHER,)),
        PromptEntry("two-calls", "What is the weather in Oslo and in Łódź?", tools=(_WEATHER,)),
        PromptEntry("empty-arguments", "What time is it now? Use the tool.", tools=(_TIME,)),
        PromptEntry("long-text", "Describe the river Danube in 400 words."),
        PromptEntry("limit", "Describe the river Danube in 400 words.", options=limited),
        PromptEntry(
            "unicode-and-numbers",
            "Find the account 9007199254740993 of Zoë Łukasiewicz 北京 🌊. Use the tool.",
            tools=(_ACCOUNT,),
        ),
    ]
    if forced := _FORCED.get(dialect):
        entries.append(PromptEntry("forced", "Hello.", tools=(_WEATHER,), options=forced))
    if tools:
        entries.append(
            PromptEntry("own-tools", "Use the tool that helps most.", tools=tuple(tools))
        )
    return tuple(entries)
