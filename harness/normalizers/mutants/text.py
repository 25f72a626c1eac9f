"""Miniatures that damage text and reasoning."""

import re
from collections.abc import Iterator

from harness.normalizers.mutants.edit import editing, mutant
from harness.turns.deltas import Delta, Finish, ReasoningDelta, StreamFailure, TextDelta

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


def _stripped(deltas: Iterator[Delta]) -> Iterator[Delta]:
    for delta in deltas:
        yield TextDelta(delta.text.strip()) if isinstance(delta, TextDelta) else delta


def _sixteen_bits(deltas: Iterator[Delta]) -> Iterator[Delta]:
    for delta in deltas:
        if isinstance(delta, TextDelta):
            yield TextDelta(_ASTRAL.sub("\ufffd", delta.text))
        else:
            yield delta


def _done_shown(deltas: Iterator[Delta]) -> Iterator[Delta]:
    for delta in deltas:
        if isinstance(delta, Finish):
            yield TextDelta("[DONE]")
        yield delta


def _reasoning_shown(deltas: Iterator[Delta]) -> Iterator[Delta]:
    for delta in deltas:
        if isinstance(delta, ReasoningDelta):
            yield TextDelta(delta.text)
        yield delta


def _said_twice(deltas: Iterator[Delta]) -> Iterator[Delta]:
    said: list[str] = []
    for delta in deltas:
        if isinstance(delta, TextDelta):
            said.append(delta.text)
        if isinstance(delta, Finish):
            yield TextDelta("".join(said))
        yield delta


def _reasoning_dropped(deltas: Iterator[Delta]) -> Iterator[Delta]:
    return (delta for delta in deltas if not isinstance(delta, ReasoningDelta))


def _text_held(deltas: Iterator[Delta]) -> Iterator[Delta]:
    held: list[str] = []
    for delta in deltas:
        if isinstance(delta, TextDelta):
            held.append(delta.text)
            continue
        if isinstance(delta, Finish | StreamFailure):
            yield TextDelta("".join(held))
        yield delta


MINIATURES = (
    mutant(
        "text-stripped",
        "TEXT-EXACT",
        "strips white space off each piece of text",
        editing(_stripped),
    ),
    mutant(
        "sixteen-bits",
        "TEXT-NO-REPLACEMENT",
        "replaces characters beyond 16 bits",
        editing(_sixteen_bits),
    ),
    mutant("done-shown", "TEXT-NO-PROTOCOL", "shows [DONE] as text", editing(_done_shown)),
    mutant(
        "reasoning-shown",
        "REASONING-NOT-IN-TEXT",
        "shows the reasoning as text",
        editing(_reasoning_shown),
    ),
    mutant(
        "said-twice",
        "TEXT-ONCE",
        "adds the final message to what the deltas said",
        editing(_said_twice),
    ),
    mutant(
        "reasoning-dropped",
        "REASONING-KEPT",
        "throws reasoning away",
        editing(_reasoning_dropped),
    ),
    mutant(
        "text-held",
        "TEXT-PROMPT",
        "holds all text back until the turn ends",
        editing(_text_held),
    ),
)
