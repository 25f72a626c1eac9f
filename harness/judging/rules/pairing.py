"""Which call that came out is which call that had to come out.

Pairs by sameness first, then by what is left of it, so that a call with one damaged field is
reported as damaged and not as lost and invented.
"""

from collections.abc import Callable

import msgspec

from harness.judging.expectation import Expectation, ExpectedCall
from harness.turns.arguments import same_value
from harness.turns.calls import ParseError, ToolCall
from harness.turns.turn import Turn


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
    """Return the expected arguments as JSON text."""
    return msgspec.json.encode(call.arguments).decode()


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
    texts = [arguments_text(call) for call in expected]
    likenesses: tuple[Callable[[int, ToolCall], bool], ...] = (
        lambda i, call: (
            call.id == (expected[i].id or call.id)
            and call.name == expected[i].name
            and same_value(call.arguments, texts[i])
        ),
        lambda i, call: call.name == expected[i].name and same_value(call.arguments, texts[i]),
        lambda i, call: bool(call.id) and call.id == expected[i].id,
        lambda i, call: bool(call.name) and call.name == expected[i].name,
        lambda i, call: same_value(call.arguments, texts[i]),
        lambda _, call: not call.name,
    )
    found: dict[int, int] = {}
    taken: set[int] = set()
    for alike in likenesses:
        for i in range(len(expected)):
            if i in found:
                continue
            match = next(
                (a for a, call in enumerate(actual) if a not in taken and alike(i, call)), None
            )
            if match is not None:
                found[i] = match
                taken.add(match)
    return tuple(sorted(found.items()))


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
