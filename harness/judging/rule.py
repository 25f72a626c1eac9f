"""What a rule is, what it looks at, and how it says what it found."""

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

import msgspec

from harness.dialects.kit.oracle import OracleReading
from harness.judging.expectation import Expectation, ExpectedCall
from harness.judging.results import Finding, Level, Outcome, Replay
from harness.normalizers.protocol import Normalizer
from harness.turns.arguments import meaning
from harness.turns.deltas import CallKind, ParseError, ToolCall
from harness.turns.turn import Turn
from harness.wire.interaction import Interaction

_Keys = list[tuple[Hashable, ...]]


class CallPairing(msgspec.Struct, frozen=True):
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


def unreported_names(expectation: Expectation, pairing: CallPairing) -> frozenset[str]:
    """Return the names of the calls that had to be rejected and were not."""
    return frozenset(expectation.rejected[place].name for place in pairing.unreported)


def pair_calls(expectation: Expectation, turn: Turn) -> CallPairing:
    """Pair what came out with what was expected."""
    pairs = _pair_calls(expectation.calls, turn.tool_calls)
    expected_places = {expected for expected, _ in pairs}
    actual_places = {actual for _, actual in pairs}
    unreported, unexpected = _pair_rejections(expectation, turn)
    return CallPairing(
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
    for wanted, offered in _iter_match_keys(expected, actual):
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


def _iter_match_keys(
    expected: tuple[ExpectedCall, ...], actual: tuple[ToolCall, ...]
) -> Iterable[tuple[_Keys, _Keys]]:
    """Yield the keys of what is expected and of what came: alike are those that share one.

    Each text is read once and its meaning numbered, so that n calls cost n readings.
    """
    numbers: dict[Hashable, int] = {}
    want = [
        (i.id or None, i.name, _value_number(i.kind, arguments_text(i), numbers)) for i in expected
    ]
    came = [(a.id, a.name, _value_number(a.kind, a.arguments, numbers)) for a in actual]
    # An expected call without an id takes any: those that came are offered without theirs too.
    yield [(key,) for key in want], [(key, (None, *key[1:])) for key in came]
    yield [(key[1:],) for key in want], [(key[1:],) for key in came]
    yield [(i,) if i else () for i, _, _ in want], [(i,) if i else () for i, _, _ in came]
    yield [(name,) for _, name, _ in want], [(name,) if name else () for _, name, _ in came]
    yield [(value,) for *_, value in want], [(value,) for *_, value in came]
    yield [("",) for _ in want], [() if name else ("",) for _, name, _ in came]


def _value_number(kind: CallKind, text: str, numbers: dict[Hashable, int]) -> int:
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


_SHOWN_CHARACTERS = 400


class TurnEvidence(msgspec.Struct, frozen=True):
    """All that a rule may look at.

    Fields:
        place: index of the interaction in its cassette.
        whole: the replay of the whole body in one read; the same object as `replay` there.
        again: the last replay of the whole body; None for the other replays.
    """

    place: int
    interaction: Interaction
    normalizer: Normalizer
    expectation: Expectation
    strict: OracleReading
    replay: Replay
    whole: Replay
    again: Replay | None
    pairing: CallPairing

    @property
    def path(self) -> str:
        """Where in the cell this is."""
        return f"turns[{self.place}]"


def turn_evidence(  # noqa: PLR0913, PLR0917 - the fields of Evidence, the pairing made from them
    place: int,
    interaction: Interaction,
    normalizer: Normalizer,
    expectation: Expectation,
    strict: OracleReading,
    replay: Replay,
    whole: Replay | None = None,
    again: Replay | None = None,
) -> TurnEvidence:
    """Put together what the rules look at."""
    return TurnEvidence(
        place,
        interaction,
        normalizer,
        expectation,
        strict,
        replay,
        whole or replay,
        again,
        pair_calls(expectation, replay.turn),
    )


class Violation(msgspec.Struct, frozen=True):
    """One place where a rule does not hold.

    Fields:
        path: inside the turn, such as `calls[1].arguments`.
        outcome: None for the rule's own.
    """

    path: str
    expected: Any
    actual: Any
    offset: int | None = None
    outcome: Outcome | None = None


Check = Callable[[TurnEvidence], Iterator[Violation]]


class Rule(msgspec.Struct, frozen=True):
    """One thing that a replay must satisfy.

    Fields:
        id: stable name.
        level: MUST findings decide a cell's outcome; SHOULD and MAY are shown.
        title: the rule in one sentence.
        outcome: what kind of failure breaking it is.
        quirks: ids of the catalogue that made it necessary.
    """

    id: str
    level: Level
    title: str
    outcome: Outcome
    quirks: tuple[str, ...]
    check: Check

    def findings(self, seen: TurnEvidence) -> Iterator[Finding]:
        """Yield what breaks this rule in `seen`."""
        for broken in self.check(seen):
            yield Finding(
                rule=self.id,
                level=self.level,
                outcome=broken.outcome or self.outcome,
                path=f"{seen.path}.{broken.path}",
                expected=display_text(broken.expected),
                actual=display_text(broken.actual),
                offset=broken.offset,
            )


def display_text(value: object) -> str:
    """Return `value` as a reader sees it, cut to a readable length."""
    text = value if isinstance(value, str) else repr(value)
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    return f"{text[:_SHOWN_CHARACTERS]}… ({len(text)} characters)"
