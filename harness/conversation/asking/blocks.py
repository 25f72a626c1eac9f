"""APIs whose messages are lists of blocks: who speaks takes turns, and results are the user's.

Messages of one side that follow each other are one: such APIs refuse two of a side in a row, or
read them as one anyway. So the results of a turn stand together, before what the user says.
"""

from collections.abc import Callable, Iterator
from itertools import groupby
from typing import Final

import msgspec

from harness.conversation.asking.asked import (
    Asked,
    Json,
    called_names,
    object_of,
    reasoning_of,
    text_of,
)
from harness.conversation.messages import Message

_RESULT: Final = "tool"
_MODEL: Final = "assistant"


class Words(msgspec.Struct, frozen=True):
    """How an API spells blocks.

    Fields:
        model: the role of the model.
        call: id, name and arguments -> block.
        result: id and name of the call, and its result -> block.
        thought: reasoning that goes back -> block.
    """

    model: str
    text: Callable[[str], Json]
    call: Callable[[str, str, Json], Json]
    result: Callable[[str, str, str], Json]
    thought: Callable[[str], Json]


def turns(
    messages: tuple[Message, ...], words: Words, asked: Asked
) -> list[tuple[str, list[Json]]]:
    """Return who speaks and what, in turns."""
    names = called_names(messages)

    def blocks(message: Message) -> Iterator[Json]:
        if message["role"] == _RESULT:
            call_id = message["tool_call_id"]
            yield words.result(call_id, names.get(call_id, ""), text_of(message))
        else:
            yield from _said(message, words, asked)

    sides = groupby(messages, key=lambda message: _side(message["role"], words))
    return [(side, [block for each in group for block in blocks(each)]) for side, group in sides]


def _side(role: str, words: Words) -> str:
    """Return who speaks; instructions in the middle stay what they are, and are refused as such."""
    return {_RESULT: "user", _MODEL: words.model}.get(role, role)


def _said(message: Message, words: Words, asked: Asked) -> Iterator[Json]:
    """Yield the blocks of a message; text that says nothing is no block beside calls."""
    calls, text = message.get("tool_calls", ()), text_of(message)
    thought = reasoning_of(message, asked)
    if thought is not None:
        yield words.thought(thought)
    if text.strip() or not calls:
        yield words.text(text)
    for call in calls:
        function = call["function"]
        yield words.call(call["id"], function["name"], object_of(function["arguments"]))
