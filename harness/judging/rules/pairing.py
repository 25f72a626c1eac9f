"""Which call that came out is which call that had to come out.

Pairs by sameness first, then by what is left of it, so that a call with one damaged field is
reported as damaged and not as lost and invented.
"""

from collections import defaultdict, deque
from collections.abc import Hashable, Iterable

import msgspec

from harness.judging.expectation import Expectation, ExpectedCall
from harness.turns.arguments import meaning
from harness.turns.calls import CallKind, ParseError, ToolCall
from harness.turns.turn import Turn

_Keys = list[tuple[Hashable, ...]]


class Pairing(msgspec.Struct, frozen=True):
    """The calls of a turn against those expected.

    Fields:
        pairs: (place in expected, place in the turn).
        missing: places of expected calls that did not come out.
        surplus: places of calls that were not expected.
        unreported: places of expected rejections that were not reported.
        unexpected: parse errors that were not expected.
    """

    pairs: tuple[tuple[int, int], ...]
    missing: tuple[int, ...]
    surplus: tuple[int, ...]
    unreported: tuple[int, ...]
    unexpected: tuple[ParseError, ...]


def arguments_text(call: ExpectedCall) -> str:
    """Return the expected arguments as JSON text, as the bytes spell them where that is known."""
    if call.kind == "custom":
        return call.arguments_text
    return call.arguments_text or msgspec.json.encode(call.arguments).decode()


def unreported_names(expectation: Expectation, pairing: Pairing) -> frozenset[str]:
    """Return the names of the calls that had to be rejected and were not."""
    return frozenset(expectation.rejected[place].name for place in pairing.unreported)


def pair(expectation: Expectation, turn: Turn) -> Pairing:
    """Pair what came out with what was expected."""
    pairs = _pair_calls(expectation.calls, turn.tool_calls)
    expected_places = {expected for expected, _ in pairs}
    actual_places = {actual for _, actual in pairs}
    unreported, unexpected = _pair_rejections(expectation, turn)
    return Pairing(
        pairs=pairs,
        missing=tuple(i for i in range(len(expectation.calls)) if i not in expected_places),
        surplus=tuple(i for i in range(len(turn.tool_calls)) if i not in actual_places),
        unreported=unreported,
        unexpected=unexpected,
    )


def _pair_calls(
    expected: tuple[ExpectedCall, ...], actual: tuple[ToolCall, ...]
) -> tuple[tuple[int, int], ...]:
    found: dict[int, int] = {}
    taken: set[int] = set()
    for wanted, offered in _likenesses(expected, actual):
        places: defaultdict[Hashable, deque[int]] = defaultdict(deque)
        for a, keys in enumerate(offered):
            for key in keys:
                places[key].append(a)
        for i, keys in enumerate(wanted):
            match = None if i in found else _first_free(keys, places, taken)
            if match is not None:
                found[i] = match
                taken.add(match)
    return tuple(sorted(found.items()))


def _first_free(
    keys: tuple[Hashable, ...], places: dict[Hashable, deque[int]], taken: set[int]
) -> int | None:
    """Return the first place under `keys` that is not taken; those taken are dropped."""
    for key in keys:
        queue = places.get(key, deque())
        while queue and queue[0] in taken:
            queue.popleft()
        if queue:
            return queue[0]
    return None


def _likenesses(
    expected: tuple[ExpectedCall, ...], actual: tuple[ToolCall, ...]
) -> Iterable[tuple[_Keys, _Keys]]:
    """Yield the keys of what is expected and of what came: alike are those that share one.

    Each text is read once and its meaning numbered, so that n calls cost n readings.
    """
    numbers: dict[Hashable, int] = {}
    want = [(i.id or None, i.name, _number(i.kind, arguments_text(i), numbers)) for i in expected]
    came = [(a.id, a.name, _number(a.kind, a.arguments, numbers)) for a in actual]
    # An expected call without an id takes any: those that came are offered without theirs too.
    yield [(key,) for key in want], [(key, (None, *key[1:])) for key in came]
    yield [(key[1:],) for key in want], [(key[1:],) for key in came]
    yield [(i,) if i else () for i, _, _ in want], [(i,) if i else () for i, _, _ in came]
    yield [(name,) for _, name, _ in want], [(name,) if name else () for _, name, _ in came]
    yield [(value,) for *_, value in want], [(value,) for *_, value in came]
    yield [("",) for _ in want], [() if name else ("",) for _, name, _ in came]


def _number(kind: CallKind, text: str, numbers: dict[Hashable, int]) -> int:
    said = meaning(text) if kind == "function" else (kind, text)
    return numbers.setdefault(said, len(numbers))


def _pair_rejections(
    expectation: Expectation, turn: Turn
) -> tuple[tuple[int, ...], tuple[ParseError, ...]]:
    left = list(turn.parse_errors)
    unreported: list[int] = []
    # Those with a name first: one without takes any error that is left.
    for place, rejection in sorted(enumerate(expectation.rejected), key=lambda it: not it[1].name):
        name = rejection.name
        match = next((error for error in left if name in ("", error.name)), None)
        if match is None:
            unreported.append(place)
        else:
            left.remove(match)
    return tuple(sorted(unreported)), tuple(left)
