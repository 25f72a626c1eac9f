"""How much a search may spend: named profiles, and the budget that it counts against.

A search ends with its examples or with its time, whichever comes first. Only one that ended with
its examples gives the same findings again from the same seed.
"""

import time
from collections.abc import Callable
from typing import Final

import msgspec

from harness.errors import UsageError


class Profile(msgspec.Struct, frozen=True):
    """What a search may spend.

    Fields:
        examples: inputs that are judged, each under several chunkings; for each process.
        seconds: of the whole search.
        shrinking: seconds that all shrinking together may take on top.
    """

    name: str
    examples: int
    seconds: float
    shrinking: float


PROFILES: Final[dict[str, Profile]] = {
    profile.name: profile
    for profile in (
        Profile("dev", examples=1_500, seconds=15, shrinking=15),
        Profile("ci", examples=12_000, seconds=60, shrinking=60),
        Profile("deep", examples=10_000_000, seconds=1_800, shrinking=300),
    )
}
DEFAULT: Final = "dev"


def find_profile(name: str) -> Profile:
    """Return the profile called `name`.

    Raises:
        UsageError: there is none.
    """
    if name not in PROFILES:
        raise UsageError(f"there is no profile {name!r}", hint=f"known: {', '.join(PROFILES)}")
    return PROFILES[name]


class Budget:
    """Counts examples and time; asked before each example."""

    def __init__(
        self, examples: int, seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.examples = 0
        self.chunkings = 0
        self._most = examples
        self._clock = clock
        self._end = clock() + seconds

    @property
    def spent(self) -> bool:
        """Whether examples or time are used up."""
        return self.examples >= self._most or self._clock() >= self._end

    @property
    def examples_left(self) -> int:
        """How many examples may still be judged."""
        return max(0, self._most - self.examples)

    def count(self, chunkings: int) -> None:
        """Note one example, and under how many chunkings it was judged."""
        self.examples += 1
        self.chunkings += chunkings
