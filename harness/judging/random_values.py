"""Mask values that differ between two correct replays, so that no rule compares them.

A client generates ids for calls if the stream has none. Rules compare such ids by their position.
Messages and texts of exceptions contain UUIDs, addresses of objects and times.
"""

import re
from collections.abc import Collection, Container, Iterable, Mapping

from msgspec.structs import replace

from harness.turns.turn import Turn

_RANDOM = re.compile(
    r"""
    [0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}                 # UUID
    | 0x[0-9a-f]+                                                 # address
    | (?:\d{4}-\d\d-\d\d[ T])?\d{1,2}:\d\d:\d\d(?:[.,]\d+)?       # time of day
    | (?<![\d.])1\d{9}(?:\d{3}|\.\d+)?(?![\d.])                   # time since 1970
    | (?<![\w.])\d+(?:\.\d+)?\ ?(?:[mnuµ]?s|seconds?)(?!\w)       # duration
    """,
    re.IGNORECASE | re.VERBOSE,
)


def sent_ids(ids: Iterable[str], bodies: Collection[bytes]) -> set[str]:
    """Return the members of `ids` that occur in `bodies` as JSON texts, or that are empty."""
    # An id may contain half a character, which UTF-8 does not encode.
    quoted = {each: f'"{each}"'.encode(errors="surrogatepass") for each in ids}
    return {each for each, it in quoted.items() if not each or any(it in body for body in bodies)}


def number_ids(ids: Iterable[str], known: Container[object]) -> dict[str, str]:
    """Return id -> `call N`, for each of `ids` that is not in `known`, with its position N."""
    return {
        call_id: f"call {number}"
        for number, call_id in enumerate(ids, start=1)
        if call_id not in known
    }


def mask(text: str, numbers: Mapping[str, str]) -> str:
    """Return `text` with generated ids replaced by their numbers, and random values by a mark.

    Args:
        text: the text.
        numbers: generated id -> its number, from `number_ids`.
    """
    ids = "|".join(map(re.escape, filter(None, numbers)))
    if ids:
        text = re.sub(rf"(?<![\w-])(?:{ids})(?![\w-])", lambda found: numbers[found[0]], text)
    return _RANDOM.sub("<random>", text)


def ids_of_turn(turn: Turn) -> list[str]:
    """Return the ids of all calls of `turn`."""
    return [call.id for call in turn.tool_calls] + [error.id for error in turn.parse_errors]


def mask_turn(turn: Turn, known: Container[object]) -> Turn:
    """Return `turn` with ids that are not in `known` as numbers, and with masked messages."""
    numbers = number_ids(ids_of_turn(turn), known)
    return replace(
        turn,
        tool_calls=tuple(
            replace(call, id=numbers.get(call.id, call.id)) for call in turn.tool_calls
        ),
        parse_errors=tuple(
            replace(each, id=numbers.get(each.id, each.id), error=mask(each.error, numbers))
            for each in turn.parse_errors
        ),
        failure=turn.failure and replace(turn.failure, message=mask(turn.failure.message, numbers)),
    )
