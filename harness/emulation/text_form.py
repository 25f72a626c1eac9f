"""A recipe whose model calls tools in the API's own field -> one with calls in the model's text.

A scenario whose key `conversation` is the id of another scenario has such a recipe: the other
one's turns, written as the prompt describes.
"""

import re
from collections.abc import Iterator
from typing import Final

from msgspec import UNSET
from msgspec.structs import replace

from harness.conversation.channel import assistant_text
from harness.conversation.prompts import Prompt, find_prompt
from harness.emulation.deltas import iter_deltas
from harness.emulation.recipe import (
    DeltaEntry,
    NextEntry,
    RecipeEntry,
    ResponseEntry,
    TextFormEntry,
)
from harness.errors import UnreadableError
from harness.turns.deltas import ToolCall
from harness.turns.fold import fold
from harness.turns.turn import Turn

# Each delta is a word with the signs before it, as tokens of models are.
_WORD: Final = re.compile(r"\W*+\w++|\W++")
_KEYS: Final = frozenset(("text", "reasoning", "call", "finish", "usage", "failure"))


def recipe_in_text(form: TextFormEntry, base: RecipeEntry, where: str) -> RecipeEntry:
    """Return `base` in the dialect of `form` and with the calls that its prompt describes.

    Raises:
        UnreadableError: a response is not only deltas, or a request is written by hand.
    """
    prompt = find_prompt(form.prompt)
    responses = (
        _response(response, prompt, f"emulate: responses[{at}] of the other scenario", where)
        for at, response in enumerate(base.responses)
    )
    return RecipeEntry(
        question=base.question,
        responses=tuple(responses),
        dialect=form.dialect,
        tools=base.tools,
        prompt=form.prompt,
        request=form.request,
    )


def _response(response: ResponseEntry, prompt: Prompt, place: str, where: str) -> ResponseEntry:
    sent = response.next
    entries = response.deltas
    if (
        entries is None
        or response.edits
        or (sent and sent.messages)
        or not _KEYS.issuperset(key for entry in entries for key in entry.keys)
    ):
        raise UnreadableError(
            f"{place}: has `raw`, `edits`, `next.messages` or a part of a call, which have no text",
            where=where,
            hint="Write this recipe in full, or take another scenario.",
        )
    deltas = tuple(_deltas(entries, prompt))
    return ResponseEntry(deltas=deltas, ended=response.ended, next=sent and _next(sent))


def _deltas(entries: tuple[DeltaEntry, ...], prompt: Prompt) -> Iterator[DeltaEntry]:
    # The reasoning of an action is a part of its object.
    if prompt.protocol != "action-protocol":
        yield from (entry for entry in entries if entry.reasoning is not UNSET)
    if text := assistant_text(prompt, _turn(entries)):
        yield DeltaEntry(text=tuple(_WORD.findall(text)))
    for entry in entries:
        if entry.finish is not UNSET:
            # The provider sees text only.
            yield DeltaEntry(finish="stop") if entry.finish == "tool_calls" else entry
        elif entry.usage is not UNSET or entry.failure is not UNSET:
            yield entry


def _turn(entries: tuple[DeltaEntry, ...]) -> Turn:
    """Return the meaning of the entries; the arguments of a call need not be valid JSON."""
    turn = fold(iter_deltas(entries))
    calls = (entry.call for entry in entries if entry.call is not UNSET)
    written = (ToolCall("", call.name, "".join(call.arguments)) for call in calls)
    return replace(turn, tool_calls=tuple(written), parse_errors=())


def _next(sent: NextEntry) -> NextEntry:
    """Return the results as text of the user, because only that role remains."""
    parts = filter(None, (*sent.tool_results.values(), sent.user))
    return NextEntry(user="\n\n".join(parts))
