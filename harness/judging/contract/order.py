"""Check the order of the events of a stream, as the tables of the contract describe it.

`blocks`: an open event, deltas and one close event have the same key. `numbered`: the numbers in a
member are 0, 1, 2, ... `lifecycle`: one event begins the stream and one ends it. `filled`: one
object has a value. `constant`: a value is the same in each object. `agrees`: the last event repeats
what the deltas contained. `sum`: a total is not smaller than its parts. `from_zero`: one object has
the number 0. `paired`: the open and the close event of a key have the same value. `listed`: the
last event lists all that ended. `bare`: the stream does not end with `[DONE]`. `named`: an event
has the name of its type.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeAlias

from harness.dialects.table import oracle_reading
from harness.errors import StreamError
from harness.judging.contract.shape import Grammar, Part, iter_parts
from harness.judging.contract.table import Order
from harness.turns.arguments import same_value
from harness.turns.exact_json import write_exactly
from harness.turns.json_values import at_path
from harness.wire.framing import iter_frames
from harness.wire.interaction import Interaction
from harness.wire.payload import json_or_none

_SENTINEL: Final = b"data: [DONE]"
_FAILURES: Final = ("error", "response.failed", "response.incomplete")
# A member of requests that continue a stream after a break; the beginning was sent before.
_RESUMED: Final = "starting_after"
_BEGIN: Final = "response.created"
_OF_WHOLE_STREAMS: Final = ("lifecycle", "numbered", "blocks")
_Check: TypeAlias = Callable[[Order, list[Part], Grammar], int | None]


def order_offset(
    order: Order, events: list[Part], interaction: Interaction, grammar: Grammar
) -> int | None:
    """Return the offset of the first event that breaks `order`; None if none does."""
    if not events:
        return None
    is_begun = any(event.kind == _BEGIN for event in events)
    if order.rule in _OF_WHOLE_STREAMS and not is_begun and _is_resumed(interaction):
        return None
    if order.rule in _OF_FRAMES:
        return _OF_FRAMES[order.rule](interaction)
    return _CHECKS[order.rule](order, events, grammar)


def _misnamed_offset(interaction: Interaction) -> int | None:
    with suppress(StreamError):
        for frame in iter_frames([interaction.body]):
            value = json_or_none(frame.data) if frame.event else None
            kind = value.get("type") if isinstance(value, dict) else None
            if isinstance(kind, str) and kind != frame.event:
                return frame.offset
    return None


def _sentinel_offset(interaction: Interaction) -> int | None:
    at = interaction.body.rfind(_SENTINEL)
    return at if at >= 0 and not interaction.body[at + len(_SENTINEL) :].strip() else None


def _is_resumed(interaction: Interaction) -> bool:
    """Return whether the stream continues an earlier one, also if its request is not known."""
    return _RESUMED in interaction.request.uri or oracle_reading(interaction).resumed


def _blocks(order: Order, events: list[Part], _grammar: Grammar) -> int | None:
    is_open: dict[Any, int] = {}
    ended: set[Any] = set()
    for event in events:
        key = event.value.get(order.key)
        if not isinstance(key, int | str):
            continue  # a missing key is another deviation
        others = order.exclusive and is_open.keys() - {key}
        if event.kind in order.opens:
            if others or key in is_open or key in ended:
                return event.offset
            is_open[key] = event.offset
        elif event.kind in order.deltas:
            if others or (key not in is_open and (key in ended or not order.optional)):
                return event.offset
            is_open.setdefault(key, event.offset)
        elif event.kind in order.closes:
            if is_open.pop(key, None) is None:
                return event.offset
            ended.add(key)
    # A stream that fails or ends inside a block is another deviation.
    is_cut = events[-1].kind in (*order.opens, *order.deltas, *_FAILURES)
    return None if is_cut else min(is_open.values(), default=None)


def _numbered(order: Order, events: list[Part], _grammar: Grammar) -> int | None:
    due = 0
    for event in events:
        number = event.value.get(order.key)
        if isinstance(number, int) and (not order.opens or event.kind in order.opens):
            if number != due:
                return event.offset
            due += 1
    return None


def _lifecycle(order: Order, events: list[Part], _grammar: Grammar) -> int | None:
    if (
        order.opens
        and not order.optional
        and events[0].kind not in (*order.opens, *order.also, "error")
    ):
        return events[0].offset
    begun, ended = False, False
    for event in events:
        is_start = event.kind in order.opens
        if (is_start and begun) or (ended and event.kind not in order.also):
            return event.offset
        begun |= is_start
        ended |= event.kind in order.closes
    return None


def _filled(order: Order, events: list[Part], grammar: Grammar) -> int | None:
    last = None
    for event in events:
        if event.kind == "error":
            return None
        for part in iter_parts(event, grammar):
            if part.kind in order.opens:
                last = part.offset
                if part.value.get(order.key):
                    return None
    return last


def _constant(order: Order, events: list[Part], grammar: Grammar) -> int | None:
    """Return the first event whose object has another value than the first such object."""
    first: object = None
    for event in events:
        for part in iter_parts(event, grammar):
            value = part.value.get(order.key) if part.kind in order.opens else None
            if isinstance(value, str) and value:
                first = first or value
                if value != first:
                    return part.offset
    return None


def _sum(order: Order, events: list[Part], grammar: Grammar) -> int | None:
    """Return the first event whose total is smaller than the sum of the numbers in `also`."""
    for event in events:
        for part in iter_parts(event, grammar):
            values = [at_path(part.value, name) for name in (order.key, *order.also)]
            numbers = [it for it in values if isinstance(it, int) and not isinstance(it, bool)]
            is_complete = part.kind in order.opens and len(numbers) == len(values)
            if is_complete and numbers[0] < sum(numbers[1:]):
                return part.offset
    return None


def _from_zero(order: Order, events: list[Part], grammar: Grammar) -> int | None:
    """Return the first event with a number if no object has the number 0."""
    found: dict[object, int] = {}
    for event in events:
        for part in iter_parts(event, grammar):
            number = part.value.get(order.key)
            if part.kind in order.opens and isinstance(number, int):
                found.setdefault(number, part.offset)
    return None if 0 in found else min(found.values(), default=None)


def _paired(order: Order, events: list[Part], _grammar: Grammar) -> int | None:
    """Return the first close event that has another value than the open event of its key."""
    (path,) = order.also
    opened: dict[Any, object] = {}
    for event in events:
        key, value = event.value.get(order.key), at_path(event.value, path)
        if event.kind in order.opens and isinstance(value, str):
            opened[key] = value
        is_end = event.kind in order.closes and isinstance(value, str)
        if is_end and opened.get(key, value) != value:
            return event.offset
    return None


def _listed(order: Order, events: list[Part], _grammar: Grammar) -> int | None:
    """Return the last event if its list is shorter than the number of `opens`, and not empty."""
    (listed,) = order.also
    ended = 0
    for event in events:
        ended += event.kind in order.opens
        items = at_path(event.value, listed) if event.kind in order.closes else None
        if isinstance(items, list) and 0 < len(items) < ended:
            return event.offset
    return None


def _agrees(order: Order, events: list[Part], _grammar: Grammar) -> int | None:
    """Compare the joined deltas of each block, by the order of the starts, with the last event."""
    fragment, listed, member = order.also
    joined: dict[Any, str] = {}
    for event in events:
        key = event.value.get(order.key)
        if event.kind in order.opens:
            joined[key] = ""
        elif event.kind in order.deltas and isinstance(
            piece := at_path(event.value, fragment), str
        ):
            joined[key] = joined.get(key, "") + piece
        elif event.kind in order.closes and isinstance(items := at_path(event.value, listed), list):
            pairs = zip(joined.values(), items, strict=False)
            if any(text and _differs(text, item, member) for text, item in pairs):
                return event.offset
    return None


def _differs(text: str, item: object, member: str) -> bool:
    if not isinstance(item, dict) or member not in item:
        return False
    given = item[member]
    return not same_value(text, given if isinstance(given, str) else write_exactly(given))


_OF_FRAMES: Final[dict[str, Callable[[Interaction], int | None]]] = {
    "bare": _sentinel_offset,
    "named": _misnamed_offset,
}
_CHECKS: Final[dict[str, _Check]] = {
    "blocks": _blocks,
    "numbered": _numbered,
    "lifecycle": _lifecycle,
    "filled": _filled,
    "agrees": _agrees,
    "constant": _constant,
    "sum": _sum,
    "from_zero": _from_zero,
    "paired": _paired,
    "listed": _listed,
}
