"""Hypothesis as a source of values: every one is used, none ends the search before its time.

What a value shows is noted by whoever uses it, so that a first bug does not stop the search for
a second one.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import SearchStrategy

T = TypeVar("T")


class EnoughError(BaseException):
    """Raised by the user of a value: no further one is wanted."""


def draw_all(
    strategy: SearchStrategy[T], use: Callable[[T], None], *, examples: int, random: int
) -> None:
    """Draw up to `examples` values and hand each to `use`; what that raises comes out here.

    Args:
        strategy: to draw from.
        use: called in this thread; raises EnoughError where it wants no further value, since
            Hypothesis would take any other for a failure of its own.
        examples: at most; fewer where there are no more different ones.
        random: the same gives the same values.
    """

    @seed(random)
    @settings(
        max_examples=max(1, examples),
        phases=(Phase.generate,),
        database=None,
        deadline=None,
        suppress_health_check=tuple(HealthCheck),
    )
    @given(strategy)
    def run(value: T) -> None:
        use(value)

    with suppress(Unsatisfiable):  # the strategy has nothing for this seed
        run()
