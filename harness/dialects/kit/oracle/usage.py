"""Find the numbers of tokens in the events of a body, as the API documents them.

An API may count some tokens apart, such as cached or thought ones. A client may add them, so more
than one number may be right. The functions never guess: if an event mentions tokens in a way that
the API does not document, the usage is unknown.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any, Final, TypeGuard

import msgspec

from harness.turns.deltas import Usage

Path = tuple[str | int, ...]

_NONE: Final[tuple[int | None, ...]] = (None,)
_MENTIONS: Final = ("oken", "usage", "_count")
# Amazon Bedrock adds its own counts to the last event of each API.
_METRICS: Final[Path] = ("amazon-bedrock-invocationMetrics",)


class CountNames(msgspec.Struct, frozen=True):
    """Where the events of an API have the numbers of tokens.

    Fields:
        paths: the paths of the objects in an event that have the same counts.
        read: the members with the number of tokens of the request; each is an admissible count.
        written: the members with the number of tokens of the answer.
        read_parts, written_parts: members with tokens that the API counts apart.
        adds_up: later events may leave out counts of earlier ones, as in Anthropic's API. In the
            others each event has all counts so far, so a client may keep the last object alone.
    """

    paths: tuple[Path, ...]
    read: tuple[str, ...]
    written: tuple[str, ...]
    read_parts: tuple[str, ...] = ()
    written_parts: tuple[str, ...] = ()
    adds_up: bool = False


def counts_at(
    *paths: Path,
    read: str,
    written: str,
    read_parts: str = "",
    written_parts: str = "",
    adds_up: bool = False,
) -> tuple[CountNames, ...]:
    """Return names for counts at `paths`; several names have spaces between them."""
    return (
        CountNames(
            paths,
            tuple(read.split()),
            tuple(written.split()),
            tuple(read_parts.split()),
            tuple(written_parts.split()),
            adds_up,
        ),
    )


_OF_BEDROCK: Final = counts_at(_METRICS, read="inputTokenCount", written="outputTokenCount")


class TokenCounts:
    """Collects the numbers of tokens from the events of one body.

    If several events state a number, the last one counts.

    Args:
        names: the members of events in which the API states the numbers.
    """

    def __init__(self, names: tuple[CountNames, ...]) -> None:
        self._is_mentioned = False
        self._last: dict[CountNames, dict[str, int]] = {each: {} for each in names}
        self._last_object: dict[CountNames, dict[str, int]] = {}
        self._of_bedrock: dict[CountNames, dict[str, int]] = {each: {} for each in _OF_BEDROCK}

    def take(self, value: dict[str, Any], data: str) -> None:
        """Read the counts in one event.

        Args:
            value: the event.
            data: its text.
        """
        if not any(mention in data for mention in _MENTIONS):
            return
        self._is_mentioned = True
        for names, known in (*self._last.items(), *self._of_bedrock.items()):
            for path in names.paths:
                if found := _counts_in(names, _member(value, path)):
                    known.update(found)
                    self._last_object[names] = found

    def usages(self) -> tuple[Usage, ...] | None:
        """Return the admissible numbers; () if the body has none, None if they are unknown."""
        if not any(self._last.values()):
            return None if self._is_mentioned else ()
        reads, writes = tuple(self._admissible("read")), tuple(self._admissible("written"))
        found = [Usage(*pair) for pair in product(reads or _NONE, writes or _NONE)]
        return tuple(dict.fromkeys((*found, *self._last_alone())))

    def _last_alone(self) -> Iterator[Usage]:
        """Yield the counts of the last object, if a client may keep it alone."""
        for names, last in self._last_object.items():
            if not names.adds_up and names in self._last:
                reads, writes = (tuple(_sums(names, last, side)) for side in ("read", "written"))
                yield from (Usage(*pair) for pair in product(reads or _NONE, writes or _NONE))

    def _admissible(self, side: str) -> Iterator[int]:
        """Yield each admissible count of one side, the preferred one first."""
        for names, known in (*self._last.items(), *self._of_bedrock.items()):
            yield from _sums(names, known, side)


def _sums(names: CountNames, known: dict[str, int], side: str) -> Iterator[int]:
    """Yield each count of one side, and then each with tokens that the API counts apart."""
    counts = [known[name] for name in getattr(names, side) if name in known]
    parts = [known[name] for name in getattr(names, f"{side}_parts") if name in known]
    yield from counts
    for base in counts or [0] * bool(parts):
        yield from (base + part for part in parts)
        yield base + sum(parts)
    if parts and not counts:  # for a client that reads no parts
        yield 0


def _member(value: object, path: Path) -> object:
    for step in path:
        if isinstance(value, list) and isinstance(step, int):
            value = value[step] if step < len(value) else None
        else:
            value = value.get(step) if isinstance(value, dict) else None
    return value


def _counts_in(names: CountNames, value: object) -> dict[str, int]:
    """Return the counts in one object; {} if it has none, or is not an object."""
    if not isinstance(value, dict):
        return {}
    members = (*names.read, *names.written, *names.read_parts, *names.written_parts)
    counts = ((name, value.get(name)) for name in members)
    return {name: int(count) for name, count in counts if _is_count(count)}


def _is_count(value: object) -> TypeGuard[int | float]:
    """Return whether `value` is a number without a fraction; some servers write `14.0`."""
    return type(value) is int or (isinstance(value, float) and value.is_integer())
