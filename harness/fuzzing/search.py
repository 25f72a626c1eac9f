"""Run a search: draw inputs, judge each, keep the smallest input for each bug, and shrink it.

The engine knows neither turns nor conversations: an `InputSource` draws, judges and shrinks them.
Hypothesis draws the values. The search continues after the first bug.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from random import Random
from typing import Final, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import msgspec
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import SearchStrategy

from harness.errors import UsageError
from harness.fuzzing.found import (
    FailureLocation,
    FoundBugs,
    FuzzFinding,
    FuzzReport,
    InputT,
    SmallestInput,
    location_of,
    merge_findings,
    needs_of,
)
from harness.judging.replaying import deadlines
from harness.results.finding import Finding
from harness.workers.interruption import stop_requested


class Profile(msgspec.Struct, frozen=True):
    """The limits of a search, such as `ci`.

    Fields:
        examples: the number of inputs that each process judges, each under several chunkings.
        seconds: the time of the whole search.
        shrinking: additional seconds to shrink all bugs.
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
        UsageError: there is no such profile.
    """
    if name not in PROFILES:
        raise UsageError(f"there is no profile {name!r}", hint=f"known: {', '.join(PROFILES)}")
    return PROFILES[name]


class Budget:
    """Counts inputs and time. The search checks the limits before each input."""

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
        """Return whether the examples or the time of the search are used up."""
        return self.examples >= self._most or self._clock() >= self._end

    def count(self, chunkings: int) -> None:
        """Count one judged input, and the number of chunkings under which it was judged."""
        self.examples += 1
        self.chunkings += chunkings


T = TypeVar("T")
OnFound: TypeAlias = Callable[[FuzzFinding], None]


class EnoughError(BaseException):
    """The function that uses drawn values raises this if it needs no more values.

    It is not an `Exception`, because Hypothesis treats each of those as a failure that it found.
    """


class Draws(NamedTuple, Generic[InputT]):
    """A strategy, and how many values the search draws from it; each value has several inputs.

    A value has several inputs, because a draw takes as long as judging a few of them.
    """

    strategy: SearchStrategy[tuple[InputT, ...]]
    examples: int


class InputSource(Protocol[InputT]):
    """The interface that draws, judges and shrinks the inputs for one normalizer or agent.

    Attributes:
        seconds_to_shrink: the longest time to shrink one bug.
    """

    seconds_to_shrink: float

    def draws(self, random: Random) -> Iterator[Iterable[InputT] | Draws[InputT]]:
        """Yield inputs to judge, or strategies to draw inputs from; this may never end."""

    def judge(self, tried: InputT) -> tuple[Sequence[Finding], int]:
        """Judge one input; return the findings, and the number of replays."""

    def shrink(self, shrinking: "Shrinking[InputT]") -> None:
        """Call methods of `shrinking` with smaller inputs, which it keeps if they show the bug."""

    def finding(self, smallest: SmallestInput[InputT]) -> FuzzFinding:
        """Return the finding that reports the bug of `smallest`."""


def fuzz(  # noqa: PLR0913 - one search, by keyword
    source: InputSource[InputT],
    profile: Profile,
    *,
    random: int = 0,
    share: int = 0,
    shares: int = 1,
    on_found: OnFound = lambda _: None,
) -> FuzzReport:
    """Search for bugs with the inputs of `source`, and shrink each bug, the worst first.

    Args:
        source: draws, judges and shrinks the inputs.
        profile: the limits of the search.
        random: the number that seeds all random choices. Equal numbers give equal findings, if
            the number of examples ended the search.
        share: which part of the search this process runs, from 0.
        shares: the number of processes that share the search.
        on_found: called at once with each finding, before it is shrunk.
    """
    budget = Budget(profile.examples, profile.seconds)
    search = Search(source, budget, random=random * shares + share, on_found=on_found)
    found = search.run()
    end = time.monotonic() + (0.0 if search.interrupted else profile.shrinking)
    findings = []
    with deadlines():
        for number, (signature, smallest) in enumerate(found):
            left = (end - time.monotonic()) / (len(found) - number)
            shrinking = Shrinking(
                source, smallest, signature.location, min(left, source.seconds_to_shrink)
            )
            findings.append(source.finding(shrinking.run()))
            if shrinking.interrupted:
                search.interrupted, end = True, 0.0
    reported = (msgspec.structs.replace(each, random=random) for each in findings)
    return FuzzReport(
        merge_findings(reported),
        budget.examples,
        budget.chunkings,
        search.interrupted,
        seeds=found.seeds,
        everywhere=found.everywhere,
    )


class Search(Generic[InputT]):
    """One search. Call `run` only once."""

    def __init__(
        self,
        source: InputSource[InputT],
        budget: Budget,
        *,
        random: int = 0,
        until: Callable[[FoundBugs[InputT]], bool] | None = None,
        on_found: OnFound | None = None,
    ) -> None:
        """Prepare a search.

        Args:
            source: draws and judges the inputs.
            budget: the limits of the search.
            random: the seed of all draws.
            until: called after each new bug; True ends the search.
            on_found: called with each finding on an input that shows a new bug.
        """
        self.found = FoundBugs[InputT]()
        self.interrupted = False
        self._source = source
        self._budget = budget
        self._random = Random(random)  # noqa: S311 - a search is repeatable, not secret
        self._until = until
        self._on_found = on_found

    def run(self) -> FoundBugs[InputT]:
        """Search until the limits are reached; return the bugs."""
        with deadlines():
            try:
                for draws in self._source.draws(self._random):
                    self._draw(draws)
            except EnoughError:
                pass
            except KeyboardInterrupt:
                self.interrupted = True
        return self.found

    def _draw(self, draws: Iterable[InputT] | Draws[InputT]) -> None:
        if isinstance(draws, Draws):
            random = self._random.getrandbits(32)
            draw_all(draws.strategy, self._try_all, examples=draws.examples, random=random)
        else:
            self._try_all(draws)

    def _try_all(self, inputs: Iterable[InputT]) -> None:
        for each in inputs:
            self.interrupted = stop_requested()
            if self.interrupted or self._budget.spent:
                raise EnoughError
            findings, replays = self._source.judge(each)
            self._budget.count(replays)
            new = self.found.note(each, findings, self._budget.examples)
            if new and self._on_found is not None:
                self._report(each, findings, self._on_found)
            if new and self._until is not None and self._until(self.found):
                raise EnoughError

    def _report(self, tried: InputT, findings: Iterable[Finding], on_found: OnFound) -> None:
        for finding in findings:
            needs = needs_of(finding, tried.mutators, tried.quirks)
            shown = SmallestInput(tried, finding, self._budget.examples, needs)
            on_found(self._source.finding(shown))


class Shrinking(Generic[InputT]):
    """Keeps the smallest input so far that shows one bug, within a time limit.

    Attributes:
        interrupted: whether the user stopped the search.
    """

    def __init__(
        self,
        source: InputSource[InputT],
        smallest: SmallestInput[InputT],
        location: FailureLocation,
        seconds: float,
    ) -> None:
        """Start from `smallest`. Each smaller input must fail at `location`, too."""
        self._source = source
        self._smallest = smallest
        self._location = location
        self.interrupted = False
        self._end = time.monotonic() + seconds

    @property
    def best(self) -> InputT:
        """The smallest input so far that shows the bug."""
        return self._smallest.input

    def run(self) -> SmallestInput[InputT]:
        """Shrink until no smaller input shows the bug, or the time is over."""
        try:
            self._source.shrink(self)
        except EnoughError:
            pass
        except KeyboardInterrupt:
            self.interrupted = True
        return self._smallest

    def finding_on(self, candidate: InputT) -> Finding | None:
        """Return the finding if `candidate` shows the bug, else None.

        Raises:
            EnoughError: the time is over.
        """
        self.interrupted = stop_requested()
        if self.interrupted or time.monotonic() > self._end:
            raise EnoughError
        key = candidate.dialect_key
        findings, _ = self._source.judge(candidate)
        level = self._smallest.finding.level
        same = (each for each in findings if location_of(each, key) == self._location)
        return next((each for each in same if each.level == level), None)

    def keep(self, candidate: InputT) -> bool:
        """Keep `candidate` as the smallest input if it shows the bug; return whether it does."""
        finding = self.finding_on(candidate)
        if finding is not None:
            self._smallest = msgspec.structs.replace(
                self._smallest, input=candidate, finding=finding
            )
        return finding is not None

    def keep_first(self, candidates: Iterable[InputT]) -> bool:
        """Keep the first of `candidates` that shows the bug; return whether one does."""
        return any(map(self.keep, candidates))

    def repeat(self, smaller: Callable[[InputT], Iterable[InputT]]) -> None:
        """Keep the first smaller input that shows the bug, and repeat with its smaller inputs."""
        while self.keep_first(smaller(self.best)):
            pass


def draw_all(
    strategy: SearchStrategy[T], use: Callable[[T], None], *, examples: int, random: int
) -> None:
    """Draw up to `examples` values and call `use` with each. Exceptions of `use` are raised here.

    Args:
        strategy: the strategy to draw from.
        use: called in this thread; raises EnoughError to end the draws.
        examples: the largest number of values; fewer if no more different ones exist.
        random: the number that seeds the draws; equal numbers give equal values.
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
