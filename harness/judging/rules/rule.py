"""What a rule is, what it looks at, and how it says what it found."""

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from harness.judging.expectation import Expectation
from harness.judging.results import Finding, Level, Outcome, Replay
from harness.judging.rules.pairing import Pairing, pair
from harness.judging.strict_reading import StrictReading
from harness.normalizers.protocol import Normalizer
from harness.wire.interaction import Interaction

_SHOWN_CHARACTERS = 400


class Evidence(msgspec.Struct, frozen=True):
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
    strict: StrictReading
    replay: Replay
    whole: Replay
    again: Replay | None
    pairing: Pairing

    @property
    def path(self) -> str:
        """Where in the cell this is."""
        return f"turns[{self.place}]"


def evidence(  # noqa: PLR0913, PLR0917 - the fields of Evidence, the pairing made from them
    place: int,
    interaction: Interaction,
    normalizer: Normalizer,
    expectation: Expectation,
    strict: StrictReading,
    replay: Replay,
    whole: Replay | None = None,
    again: Replay | None = None,
) -> Evidence:
    """Put together what the rules look at."""
    return Evidence(
        place,
        interaction,
        normalizer,
        expectation,
        strict,
        replay,
        whole or replay,
        again,
        pair(expectation, replay.turn),
    )


class Broken(msgspec.Struct, frozen=True):
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


Check = Callable[[Evidence], Iterator[Broken]]


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

    def findings(self, seen: Evidence) -> Iterator[Finding]:
        """Yield what breaks this rule in `seen`."""
        for broken in self.check(seen):
            yield Finding(
                rule=self.id,
                level=self.level,
                outcome=broken.outcome or self.outcome,
                path=f"{seen.path}.{broken.path}",
                expected=shown(broken.expected),
                actual=shown(broken.actual),
                offset=broken.offset,
            )


def shown(value: object) -> str:
    """Return `value` as a reader sees it, cut to a readable length."""
    text = value if isinstance(value, str) else repr(value)
    if len(text) <= _SHOWN_CHARACTERS:
        return text
    return f"{text[:_SHOWN_CHARACTERS]}… ({len(text)} characters)"
