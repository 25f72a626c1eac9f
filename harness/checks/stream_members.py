"""Compare the members of emulated chunks with those of recorded ones, for `harness doctor`.

A client must not be blamed for a member that the author of a scenario left out, and that each
server sends. A dialect without bundled recordings is not compared.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from harness.judging.scenario import Scenario
from harness.results.scenario_evidence import is_own
from harness.wire.cassette import Cassette
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction
from harness.wire.payload import json_or_none

_REMOVE_MEMBERS: Final = frozenset(
    {
        "CHUNK-OBJECT-OTHER",
        "DELTA-ADDITIONAL-KWARGS",
        "DELTA-ROLE-MISSING",
        "JSON-FOR-STREAM",
        "MESSAGE-NOT-DELTA",
        "MESSAGE-WITH-CALL",
    }
)
# How many of a hundred recorded streams have a member that emulated ones must have, too.
_NEARLY_ALL: Final = 99
# A dialect, and whether the chunk is the first of its stream.
_ChunkKind: TypeAlias = tuple[str, bool]


def missing_members(
    scenarios: Iterable[Scenario], cassettes: Mapping[str, Cassette]
) -> Iterator[str]:
    """Yield a line for each member of nearly all recorded streams that an emulated one lacks.

    Streams that no server is known to send, and scenarios with a quirk that removes a member, may
    lack it.
    """
    required = _recorded_members(cassettes.values())
    for scenario in scenarios:
        cassette = cassettes.get(scenario.cassette)
        if cassette is None or not _REMOVE_MEMBERS.isdisjoint(scenario.quirks):
            continue
        for turn, interaction in zip(scenario.expect, cassette.interactions, strict=False):
            if not is_own(turn.evidence or scenario.evidence):
                for kind, found in _stream_members(interaction).items():
                    missing = sorted(required.get(kind, frozenset()) - found)
                    yield from (f"{scenario.id}: recorded chunks have {name}" for name in missing)


def _recorded_members(cassettes: Iterable[Cassette]) -> dict[_ChunkKind, frozenset[str]]:
    counts: dict[_ChunkKind, list[Counter[str]]] = {}
    for cassette in cassettes:
        if cassette.origin.kind == "recorded":
            for interaction in cassette.interactions:
                for kind, found in _stream_members(interaction).items():
                    counts.setdefault(kind, []).append(Counter(found))
    return {
        kind: frozenset(
            name
            for name, count in sum(each, Counter()).items()
            if 100 * count >= _NEARLY_ALL * len(each)
        )
        for kind, each in counts.items()
    }


def _stream_members(interaction: Interaction) -> dict[_ChunkKind, frozenset[str]]:
    """Return the paths of members that each chunk with choices of a response has."""
    members: dict[_ChunkKind, frozenset[str]] = {}
    is_first = True
    for frame in iter_frames([interaction.body]):
        value = json_or_none(frame.data)
        if isinstance(value, dict) and isinstance(value.get("choices"), list) and value["choices"]:
            found, kind = frozenset(_paths(value)), (interaction.dialect, is_first)
            members[kind] = members.get(kind, found) & found
            is_first = False
    return members


def _paths(value: object, path: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield f"{path}{name}"
            yield from _paths(inner, f"{path}{name}.")
    elif isinstance(value, list):
        for inner in value:
            yield from _paths(inner, path)
