"""Miniatures that damage the calls themselves: name, id, number, order, numbering."""

from collections.abc import Iterator

from msgspec.structs import replace

from harness.normalizers.mutants.edit import End, HeldCall, editing, editing_calls, mutant
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
)


def _name_lost(calls: list[HeldCall], _end: End) -> list[HeldCall]:
    return [replace(call, name="") if call.error is None else call for call in calls]


def _name_doubled(calls: list[HeldCall], _end: End) -> list[HeldCall]:
    return [replace(call, name=call.name * 2) if call.error is None else call for call in calls]


def _id_lost(calls: list[HeldCall], _end: End) -> list[HeldCall]:
    return [replace(call, id="") if call.error is None else call for call in calls]


def _id_replaced(calls: list[HeldCall], _end: End) -> list[HeldCall]:
    return [replace(call, id=f"own_{call.index}") if call.error is None else call for call in calls]


def _id_shared(calls: list[HeldCall], _end: End) -> list[HeldCall]:
    """Give back the one id that the provider gave to all, which `reference` made unique."""
    shared = [call.id.removesuffix(f"-{call.index}") for call in calls]
    return [replace(call, id=call_id) for call, call_id in zip(calls, shared, strict=True)]


def _last_dropped(calls: list[HeldCall], end: End) -> list[HeldCall]:
    several = len(calls) > 1 and isinstance(end, Finish)
    return calls[:-1] if several and calls[-1].error is None else calls


def _last_repeated(calls: list[HeldCall], end: End) -> list[HeldCall]:
    if not calls or calls[-1].error is not None or not isinstance(end, Finish):
        return calls
    return [*calls, replace(calls[-1], index=len(calls), id=calls[-1].id + "_again")]


def _reversed(calls: list[HeldCall], end: End) -> list[HeldCall]:
    if not isinstance(end, Finish):
        return calls
    return [replace(call, index=place) for place, call in enumerate(reversed(calls))]


def _index_from_one(deltas: Iterator[Delta]) -> Iterator[Delta]:
    for delta in deltas:
        if isinstance(delta, ToolCallStart | ArgumentsDelta | ToolCallEnd | ToolCallRejected):
            yield replace(delta, index=delta.index + 1)
        else:
            yield delta


MINIATURES = (
    mutant(
        "name-lost",
        "CALL-NAMED",
        "ends every call without its name",
        editing_calls(_name_lost),
    ),
    mutant(
        "name-doubled",
        "CALL-NAME-EXACT",
        "appends a repeated name to itself",
        editing_calls(_name_doubled),
    ),
    mutant("id-lost", "CALL-ID-PRESENT", "ends calls without an id", editing_calls(_id_lost)),
    mutant(
        "id-replaced",
        "CALL-ID-EXACT",
        "makes up ids where the provider gave some",
        editing_calls(_id_replaced),
    ),
    mutant(
        "id-shared",
        "CALL-IDS-UNIQUE",
        "keeps one id for all calls of a response",
        editing_calls(_id_shared),
    ),
    mutant(
        "last-call-dropped",
        "CALLS-KEPT",
        "loses the last of several calls",
        editing_calls(_last_dropped),
    ),
    mutant(
        "last-call-repeated",
        "CALLS-NOT-INVENTED",
        "gives the last call out twice, as on a second finish chunk",
        editing_calls(_last_repeated),
    ),
    mutant(
        "calls-reversed",
        "CALL-ORDER",
        "gives calls out in the wrong order",
        editing_calls(_reversed),
    ),
    mutant(
        "index-from-one",
        "CALL-INDEX-NEUTRAL",
        "hands the provider's numbering on",
        editing(_index_from_one),
    ),
)
