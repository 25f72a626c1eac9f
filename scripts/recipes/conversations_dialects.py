"""Conversations in the APIs that keep calls and results in another form than OpenAI's chat API.

Told in rounds, as in `conversations_loops`; a table says how each API spells what goes back.
"""

import json
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from harness.dialects.anthropic.writer_options import WriterOptions as Anthropic
from harness.dialects.bedrock_converse.writer_options import WriterOptions as Converse
from harness.dialects.gemini.writer_options import WriterOptions as Gemini
from harness.dialects.openai_responses.writer_options import WriterOptions as Responses
from scripts.recipes import anthropic, bedrock_converse, gemini, openai_responses
from scripts.recipes.asking import Api
from scripts.recipes.conversations_loops import Made, Round, reply_of
from scripts.recipes.kit import Json, Recipe, as_json


class _Way(msgspec.Struct, frozen=True):
    """How one API is spelled.

    Fields:
        called, stopped: its words for the ends of turns.
        later: what the request after a round adds.
    """

    api: Api
    spelling: Any
    called: str
    stopped: str
    later: Callable[[Round], tuple[Json, ...]]


def _had(way: _Way, name: str, question: str, tools: tuple[str, ...], *rounds: Round) -> Recipe:
    replies = tuple(reply_of(it, way.spelling, way.called, way.stopped) for it in rounds)
    later = tuple(map(way.later, rounds[:-1]))
    return Recipe(name, question, tools, replies, later, api=way.api)


def _blocks(this: Round) -> tuple[Json, ...]:
    """Return Anthropic's messages: the turn, its results in one message, the next question."""
    said: list[Json] = [{"type": "text", "text": this.said}] if this.said else []
    said += [
        {"type": "tool_use", "id": it.id, "name": it.name, "input": json.loads(it.arguments)}
        for it in this.made
    ]
    back: list[Json] = [
        {"type": "tool_result", "tool_use_id": it.id, "content": it.result} for it in this.made
    ]
    back += [{"type": "text", "text": this.then}] if this.then else []
    return ({"role": "assistant", "content": said}, {"role": "user", "content": back})


def _items(this: Round) -> tuple[Json, ...]:
    """Return the items of the Responses API: text, calls, results, the next question."""
    said: list[Json] = []
    if this.said:
        text = {"type": "output_text", "text": this.said}
        said.append({"type": "message", "role": "assistant", "content": [text]})
    said += [
        {"type": "function_call", "call_id": it.id, "name": it.name, "arguments": it.arguments}
        for it in this.made
    ]
    said += [
        {"type": "function_call_output", "call_id": it.id, "output": it.result} for it in this.made
    ]
    return (*said, *([{"role": "user", "content": this.then}] if this.then else []))


def _contents(this: Round) -> tuple[Json, ...]:
    """Return Gemini's contents: the turn, and its results and the next question as parts."""
    parts: list[Json] = [{"text": this.said}] if this.said else []
    parts += [{"functionCall": _named(it) | {"args": json.loads(it.arguments)}} for it in this.made]
    back: list[Json] = [
        {"functionResponse": _named(it) | {"response": {"output": it.result}}} for it in this.made
    ]
    back += [{"text": this.then}] if this.then else []
    return ({"role": "model", "parts": parts}, {"role": "user", "parts": back})


def _converse(this: Round) -> tuple[Json, ...]:
    """Return Converse messages: the turn, and its results and the next question as blocks."""
    said: list[Json] = [{"text": this.said}] if this.said else []
    said += [
        {"toolUse": {"toolUseId": it.id, "name": it.name, "input": json.loads(it.arguments)}}
        for it in this.made
    ]
    back: list[Json] = [
        {"toolResult": {"toolUseId": it.id, "content": [{"text": it.result}]}} for it in this.made
    ]
    back += [{"text": this.then}] if this.then else []
    return ({"role": "assistant", "content": said}, {"role": "user", "content": back})


def _named(made: Made) -> Json:
    return ({"id": made.id} if made.id else {}) | {"name": made.name}


_OSLO, _BERGEN = as_json(city="Oslo"), as_json(city="Bergen")
_FOUR, _SEVEN = as_json(temperature=4), as_json(temperature=7)
_WEATHER = "What is the weather in Oslo?"
_BOTH = "What is the weather in Oslo and in Bergen?"
_ANTHROPIC = _Way(anthropic.API, Anthropic(), "tool_use", "end_turn", _blocks)
_UNSIGNED = replace(_ANTHROPIC, spelling=Anthropic(signature="absent"))
_RESPONSES = _Way(openai_responses.API, Responses(), "stop", "stop", _items)
_GEMINI = _Way(gemini.SSE_API, Gemini(), "STOP", "STOP", _contents)
_NO_IDS = replace(_GEMINI, spelling=Gemini(call_id="absent"))
_CONVERSE = _Way(bedrock_converse.API, Converse(), "tool_use", "end_turn", _converse)
_AS_TEXT = replace(_RESPONSES, spelling=Responses(reasoning="text"))


def _two_at_once(way: _Way, by: str, ids: str) -> Recipe:
    both = (
        Made(f"{ids}p1", "get_weather", _OSLO, _FOUR),
        Made(f"{ids}p2", "get_weather", _BERGEN, _SEVEN),
    )
    warmer = Made(f"{ids}p3", "set_memory", as_json(key="warmer", value="Bergen"))
    return _had(
        way,
        f"{by}/two-at-once-then-one",
        _BOTH,
        ("get_weather", "set_memory"),
        Round("I will look up both cities.", both),
        Round(made=(warmer,)),
        Round("4 degrees in Oslo, 7 in Bergen.", then="Thank you."),
        Round("You are welcome."),
    )


def _one_at_a_time(way: _Way, by: str, ids: str) -> Recipe:
    return _had(
        way,
        f"{by}/one-at-a-time",
        _BOTH,
        ("get_weather",),
        Round(made=(Made(f"{ids}s1", "get_weather", _OSLO, _FOUR),)),
        Round("Now Bergen.", (Made(f"{ids}s2", "get_weather", _BERGEN, "error"),)),
        Round("4 degrees in Oslo; Bergen is not to be had."),
    )


def _thoughts_go_back(way: _Way, by: str, ids: str) -> Recipe:
    oslo = Made(f"{ids}t1", "get_weather", _OSLO, _FOUR)
    return _had(
        way,
        f"{by}/thoughts-go-back",
        _WEATHER,
        ("get_weather",),
        Round(made=(oslo,), thought="I must look it up."),
        Round("It is 4 degrees.", thought="The tool said 4.", then="Is that cold?"),
        Round("Quite cold.", thought="4 is cold."),
    )


RECIPES = (
    _two_at_once(_ANTHROPIC, "anthropic/claude-sonnet-4-5", "toolu_"),
    _one_at_a_time(_ANTHROPIC, "anthropic/claude-sonnet-4-5", "toolu_"),
    _thoughts_go_back(_UNSIGNED, "compatible/claude", "toolu_"),
    _had(
        _ANTHROPIC,
        "compatible/claude/ids-that-messages-refuse",
        _BOTH,
        ("get_weather",),
        Round(made=(Made("functions.get_weather:0", "get_weather", _OSLO, _FOUR),)),
        Round(made=(Made("functions.get_weather:1", "get_weather", _BERGEN, _SEVEN),)),
        Round("4 degrees in Oslo, 7 in Bergen."),
    ),
    _two_at_once(_RESPONSES, "openai/gpt-5-mini", "call_"),
    _one_at_a_time(_RESPONSES, "xai/grok-4", "call_"),
    _thoughts_go_back(_AS_TEXT, "compatible/responses", "call_"),
    _two_at_once(_CONVERSE, "aws-bedrock/amazon.nova-lite-v1", "tooluse_"),
    _one_at_a_time(_CONVERSE, "aws-bedrock/anthropic.claude-haiku-4-5", "tooluse_"),
    _two_at_once(_GEMINI, "google-gemini/gemini-2.5-flash", "w"),
    _one_at_a_time(_GEMINI, "google-vertex/gemini-2.5-flash", "w"),
    _had(
        _NO_IDS,
        "google-gemini/gemini-2.0-flash/no-ids-in-two-rounds",
        _BOTH,
        ("get_weather",),
        Round(
            made=(
                Made("", "get_weather", _OSLO, _FOUR),
                Made("", "get_weather", _BERGEN, _SEVEN),
            )
        ),
        Round(made=(Made("", "get_weather", as_json(city="Molde"), _FOUR),)),
        Round("4 degrees in Oslo and Molde, 7 in Bergen."),
    ),
)
