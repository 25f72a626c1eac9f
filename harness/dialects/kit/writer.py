"""Deltas -> the whole arguments of each call, for writers that spell them in one piece."""

from collections.abc import Iterable

from harness.turns.deltas import ArgumentsDelta, Delta, ToolCallStart


def whole_arguments(deltas: Iterable[Delta]) -> dict[int, str]:
    """Return the fragments of each call joined, by its index; "" for a call without any."""
    pieces: dict[int, list[str]] = {}
    for delta in deltas:
        if isinstance(delta, ToolCallStart):
            pieces[delta.index] = []
        elif isinstance(delta, ArgumentsDelta) and delta.index in pieces:
            pieces[delta.index].append(delta.fragment)
    return {index: "".join(own) for index, own in pieces.items()}
