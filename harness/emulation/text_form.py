"""Convert a recipe with calls in the API's field to a recipe with text calls.

A scenario whose key `conversation` is the id of another scenario needs this: its turns are those of
the other scenario, with calls in the format that its prompt describes.
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
    """Return `base` in the dialect of `form`, with text calls as the prompt of `form` describes.

    Args:
        form: the prompt and dialect of the new recipe.
        base: the recipe of the other scenario.
        where: the scenario file, for error messages.

    Raises:
        UnreadableError: a response has raw events, or an author wrote the messages of a request.
    """
    prompt = find_prompt(form.prompt)
    responses = (
        replace(
            _response(response, prompt, f"emulate: responses[{at}] of the other scenario", where),
            writer=form.writer,
        )
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
    """Return the turn that the entries describe, even if arguments of a call are not valid JSON."""
    turn = fold(iter_deltas(entries))
    calls = (entry.call for entry in entries if entry.call is not UNSET)
    written = (ToolCall("", call.name, "".join(call.arguments)) for call in calls)
    return replace(turn, tool_calls=tuple(written), parse_errors=())


def _next(sent: NextEntry) -> NextEntry:
    """Return tool results as a message of the user, because text calls have no role for results."""
    parts = filter(None, (*sent.tool_results.values(), sent.user))
    return NextEntry(user="\n\n".join(parts))
