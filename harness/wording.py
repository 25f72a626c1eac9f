"""Text for messages: the nearest known name, and numbers with their nouns.

It imports only the standard library, because the command line uses it at each start.
"""

from collections.abc import Collection
from difflib import get_close_matches
from typing import Final

_CUTOFF: Final = 0.6


def nearest_name(name: str, known: Collection[str], cutoff: float = _CUTOFF) -> str:
    """Return the name in `known` that is most similar to `name`; "" if none is similar."""
    return next(iter(get_close_matches(name, list(known), n=1, cutoff=cutoff)), "")


def nearest(name: str, known: Collection[str]) -> str:
    """Return the question "did you mean" with the most similar name in `known`; "" if none is."""
    near = nearest_name(name, known)
    return f"did you mean {near!r}?" if near else ""


def did_you_mean(name: str, known: Collection[str], lead: str = "known keys") -> str:
    """Return the question "did you mean" with the most similar name, or a list of all known names.

    Args:
        name: the unknown name.
        known: the known names.
        lead: the text before the list.
    """
    return nearest(name, known) or (f"{lead}: {', '.join(known)}" if known else "")


def pluralize(number: int, noun: str) -> str:
    """Return `number` and `noun`, with an s unless the number is 1."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
