"""Derive the id of a prompt, by which rankings group, from system text, tools and protocol.

Two requests have the same id exactly if their tools and system text are equal. The id is a readable
name, made of the tools and the first words of the system text, and a hash. It is safe as a part of
a path.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import islice
from typing import Final

from harness.turns.turn import Tool

UNKNOWN: Final = "unknown"
NATIVE_TOOLS: Final = "native-tools"

_MOST_CHARS = 80
_HASH_CHARS = 8
_MOST_TOOLS = 2
_TOOL_CHARS = 24
_MOST_WORDS = 4
_WORD_CHARS = 14
_SEARCHED = 1_000
_UNSAFE = re.compile(r"[^A-Za-z0-9_]+")
# What has a digit, a sign inside or many letters can be a key or an address: it is left out.
_WORD = re.compile(r"(?<!\S)[(\"'“‘]?([^\W\d_]+)[\])\"'”’.,;:!?。，！？]*(?!\S)")  # noqa: RUF001 - Chinese punctuation


def prompt_id(protocol: str, system: str, tools: Iterable[Tool]) -> str:
    """Return an id such as `native-tools-get_weather-you-are-brief-1a2b3c4d`.

    Args:
        protocol: how the prompt asks for calls, such as `native-tools`. If it is "", the request
            is unknown, and so is the id (`unknown`).
        system: the text of the system messages.
        tools: as declared, in order.
    """
    declared = tuple(tools)
    if not protocol:
        return UNKNOWN
    spelled = [[tool.name, tool.description, tool.parameters] for tool in declared]
    try:
        text = json.dumps([protocol, system, spelled], sort_keys=True)
    except RecursionError:  # a schema nested deeper than any reader goes
        return UNKNOWN
    tail = "-" + sha256(text.encode("ascii")).hexdigest()[:_HASH_CHARS]
    asked = [_safe(protocol), *_tool_names(declared)] if declared else ["no-tools"]
    words = [*_first_words(system)]
    name = "-".join([*asked, *(words or ([] if declared or system else ["no-system-text"]))])
    return name[: _MOST_CHARS - len(tail)].rstrip("-") + tail


def _tool_names(declared: Sequence[Tool]) -> Iterator[str]:
    for tool in declared[:_MOST_TOOLS]:
        yield _safe(tool.name)[:_TOOL_CHARS].rstrip("-") or "tool"
    if len(declared) > _MOST_TOOLS:
        yield f"and-{len(declared) - _MOST_TOOLS}-more"


def _safe(name: str) -> str:
    return _UNSAFE.sub("-", name).strip("-")


def _first_words(system: str) -> Iterator[str]:
    found = (_readable(match[1]) for match in _WORD.finditer(system[:_SEARCHED]))
    yield from islice(filter(None, found), _MOST_WORDS)


def _readable(word: str) -> str:
    """Return a word for use in an id; "" for a long word in Latin letters, which may be a key."""
    if word.isascii():
        return word.lower() if len(word) <= _WORD_CHARS else ""
    return word[:_WORD_CHARS]  # Chinese has no spaces between words
