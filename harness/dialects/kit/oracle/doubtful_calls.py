"""Decide which calls are due if fragments of arguments have no owner, or calls share an id.

No contract says what such a stream means, so there are several readings, and a client may follow
any of them. A call without arguments is due in none of them if fragments without an owner exist,
because these may be its arguments.
"""

from typing import Final

import msgspec

from harness.dialects.kit.oracle.reading import Notes
from harness.dialects.kit.oracle.values import read_arguments, same_object
from harness.turns.oracle_reading import CallReading

_MOVED: Final = "DELTA-INDEX-CHANGES"
_SHARED: Final = "DELTA-ID-SHARED-BY-SIBLINGS"
_OWNERLESS: Final = "it has no arguments, and fragments of arguments belong to no call"
_Calls = tuple[CallReading, ...]
# Position of a call -> its arguments by one reading.
_Texts = dict[int, str]


def settle_calls(calls: _Calls, notes: Notes, *, due: bool) -> _Calls:
    """Return the calls of one reading of the body, and note what makes them doubtful.

    Args:
        calls: the calls as their events identify them. One without a name contains fragments that
            belong to no opened call.
        notes: the notes of the body, with the decisions of this reading.
        due: the turn ended well, so that its calls are executed.
    """
    return _settle_strays(_settle_shared_ids(calls, notes, due=due), notes, due=due)


def _settle_strays(calls: _Calls, notes: Notes, *, due: bool) -> _Calls:
    strays = [at for at, call in enumerate(calls) if _is_stray(call)]
    if not strays:
        return calls
    offset = calls[strays[0]].offset
    if not all(calls[at].id for at in strays):
        notes.harmless("DELTA-ID-MISSING", offset)
    hosts = [at for at, call in enumerate(calls) if call.name and _may_lack_arguments(call)]
    notes.harmless("NAME-EMPTY", offset)
    if not hosts or not due:
        return calls
    readings = {"join": _joined(calls, hosts), "pair": _paired(calls, hosts, strays)}
    usable = {answer: texts for answer, texts in readings.items() if _are_usable(texts)}
    # Only if the pieces fit, the server certainly changed the index within a call.
    if usable:
        notes.doubtful(_MOVED, offset)
    answer = notes.policy_choice("NAME-EMPTY", offset, "reject", "drop", *usable)
    dropped = () if answer == "reject" else strays
    return tuple(
        _with_arguments(call, usable.get(answer, {}).get(at)) if at in hosts else call
        for at, call in enumerate(calls)
        if at not in dropped
    )


def _is_stray(call: CallReading) -> bool:
    return call.kind == "function" and not call.name and bool(_own_text(call).strip())


def _may_lack_arguments(call: CallReading) -> bool:
    """Return whether the arguments of `call` are absent, a placeholder or incomplete."""
    if call.kind != "function" or call.rejected:
        return False
    read = read_arguments(call.arguments)
    return read.certain and not read.value


def _joined(calls: _Calls, hosts: list[int]) -> _Texts:
    """Return the arguments of each of `hosts` with the fragments that followed it.

    Fragments before all of them belong to the first.
    """
    texts = {at: [_own_text(calls[at])] for at in hosts}
    last = hosts[0]
    for at, call in enumerate(calls):
        last = at if at in texts else last
        if _is_stray(call):
            texts[last].append(call.arguments)
    return {at: "".join(pieces) for at, pieces in texts.items()}


def _paired(calls: _Calls, hosts: list[int], strays: list[int]) -> _Texts:
    """Return the arguments of each of `hosts` with the fragments of the same position."""
    if len(hosts) != len(strays) or len(hosts) == 1:
        return {}
    pairs = zip(hosts, strays, strict=True)
    return {host: _own_text(calls[host]) + calls[stray].arguments for host, stray in pairs}


def _own_text(call: CallReading) -> str:
    return "" if call.arguments.strip() == "{}" else call.arguments


def _are_usable(texts: _Texts) -> bool:
    return bool(texts) and all(read_arguments(text).value for text in texts.values())


def _with_arguments(call: CallReading, text: str | None) -> CallReading:
    """Return `call` with the arguments `text`; if there are none, a call that is not usable."""
    if text is None:
        return msgspec.structs.replace(call, rejected=_OWNERLESS)
    return msgspec.structs.replace(call, arguments=text, from_object=False)


def _settle_shared_ids(calls: _Calls, notes: Notes, *, due: bool) -> _Calls:
    groups: dict[str, list[int]] = {}
    for at, call in enumerate(calls):
        groups.setdefault(call.id, []).append(at)
    groups.pop("", None)
    one: dict[int, CallReading | None] = {}
    for group in groups.values():
        if len(group) > 1:
            notes.harmless(_SHARED, calls[group[1]].offset)
            merged = _merged([calls[at] for at in group]) if due else None
            if merged is not None:
                one |= dict.fromkeys(group[1:]) | {group[0]: merged}
    if not one:
        return calls
    offset = min(calls[at].offset for at, call in one.items() if call is None)
    if notes.policy_choice(_SHARED, offset, "several", "one") == "several":
        return calls
    left = (one.get(at, call) for at, call in enumerate(calls))
    return tuple(call for call in left if call is not None)


def _merged(group: list[CallReading]) -> CallReading | None:
    """Return the only call that `group` may be; None if it contains several calls.

    They may be one call if name and kind are equal or absent and no two of them have different
    arguments, or if their arguments are pieces of one object.
    """
    first = group[0]
    name, *others = {each.name for each in group if each.name} or {""}
    if others or not name or any(each.kind != first.kind for each in group):
        return None
    given = [each.arguments for each in group if _own_text(each).strip()] or [first.arguments]
    text = given[0]
    if not all(each == text or same_object(each, text) for each in given):
        text = "".join(given)
        if first.kind != "function" or not read_arguments(text).value:
            return None
    return msgspec.structs.replace(first, name=name, arguments=text)
