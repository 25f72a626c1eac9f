"""The first input on which a bug was met -> the smallest that shows the same one.

Fewer steps first, then fewer and shorter events of the clean seed, to which the steps are applied
anew, then a smaller request, then fewer cuts. What is kept shows the signature of the bug, and
does not show it without its steps, so that no step stands there for nothing.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import combinations

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from harness.dialects.kit.oracle.reading import OracleReading
from harness.dialects.oracles import oracle_reading
from harness.fuzzing.found import FailureLocation, SmallestInput, location_of
from harness.fuzzing.mutators import MUTATORS, Mutator
from harness.fuzzing.search import EnoughError, draw_all
from harness.fuzzing.turns import inputs
from harness.fuzzing.turns.evaluate import Trial, evaluate, unchanged
from harness.fuzzing.turns.reductions import parse_deltas, reductions
from harness.fuzzing.turns.seeds import Seed
from harness.judging.expected import expectation_from
from harness.judging.results import Finding
from harness.normalizers.protocol import Normalizer
from harness.wire.cuts import Chunking, each_byte, iter_single_cuts, seams
from harness.wire.interaction import Interaction

_STEPS = {mutator.name: mutator for mutator in MUTATORS}
# So often the same steps are drawn anew on a smaller seed before it counts as one without the bug.
_DRAWS = 12
_SINGLE_CUTS_UP_TO = 3_000


class Shrunk(msgspec.Struct, frozen=True):
    """The smallest input, and what was found on it."""

    trial: Trial
    finding: Finding


def shrink(
    met: SmallestInput, place: FailureLocation, normalizer: Normalizer, seconds: float
) -> Shrunk:
    """Return the smallest input that shows the bug at `place`.

    Args:
        met: where it was met.
        place: what must not change.
        normalizer: whose bug it is.
        seconds: when to stop with what is there.
    """
    return _Shrinker(met, place, normalizer, seconds).run()


class _Shrinker:
    def __init__(
        self, met: SmallestInput, place: FailureLocation, normalizer: Normalizer, seconds: float
    ) -> None:
        self._best = Shrunk(met.trial, met.finding)
        self._place = place
        self._normalizer = normalizer
        self._end = time.monotonic() + seconds
        self._cuts = bool(met.trial.cuts) and self._found(_without_cuts(met.trial)) is None

    def run(self) -> Shrunk:
        if not self._cuts:
            self._keep(_without_cuts(self._best.trial))
        for step in (self._fewer_steps, self._smaller, self._fewer_cuts):
            if not self._late:
                step()
        return self._best

    @property
    def _late(self) -> bool:
        return time.monotonic() > self._end

    def _found(self, trial: Trial) -> Finding | None:
        """Return what shows the bug in `trial`."""
        findings = evaluate(trial, self._normalizer).findings
        room = trial.seed.room
        return next((each for each in findings if location_of(each, room) == self._place), None)

    def _keep(self, trial: Trial) -> bool:
        finding = self._found(trial)
        if finding is None:
            return False
        self._best = Shrunk(trial, finding)
        return True

    def _fewer_steps(self) -> None:
        """Try without any step, then with fewer and fewer of them left out."""
        seed, names = self._best.trial.seed, self._best.trial.mutators
        steps = [_STEPS[name] for name in names]
        for count in range(len(steps)):
            for fewer in combinations(steps, count):
                again = self._again(seed, fewer)
                if again is not None:
                    self._best = again
                    return

    def _smaller(self) -> None:
        """Take the first reduction that still shows the bug, and start over from it."""
        found = True
        while found and not self._late:
            found = any(self._reduced(each) for each in self._candidates())

    def _candidates(self) -> Iterator[Interaction]:
        seed = self._best.trial.seed
        for candidate in reductions(seed.interaction):
            if self._late:
                return
            yield candidate

    def _reduced(self, interaction: Interaction) -> bool:
        seed = self._seed(interaction)
        if seed is None:
            return False
        steps = tuple(_STEPS[name] for name in self._best.trial.mutators)
        again = self._again(seed, steps)
        if again is None:
            return False
        self._best = again
        return True

    def _seed(self, interaction: Interaction) -> Seed | None:
        """Return a reduced seed; None where nobody knows what must come out of it."""
        before = self._best.trial.seed
        if interaction.body == before.interaction.body:
            return msgspec.structs.replace(before, interaction=interaction)
        strict, known = oracle_reading(interaction), oracle_reading(before.interaction)
        if _turn_content(strict, interaction) == _turn_content(known, before.interaction):
            return msgspec.structs.replace(before, interaction=interaction)
        expectation = expectation_from(strict)
        if before.text_dialect or not strict.quirks <= known.quirks:
            return None
        if not before.expectation.judged - {"usage"} <= expectation.judged:
            return None
        return msgspec.structs.replace(before, interaction=interaction, expectation=expectation)

    def _again(self, seed: Seed, steps: Iterable[Mutator]) -> Shrunk | None:
        """Apply `steps` to `seed` until the bug shows that does not show without them."""
        steps = tuple(steps)
        bare = Trial(seed, unchanged(seed), self._ways(seed.interaction.body))
        shows = self._found(bare)
        if shows is not None or not steps:
            return Shrunk(bare, shows) if shows is not None and not steps else None
        return self._drawn(seed, steps)

    def _drawn(self, seed: Seed, steps: tuple[Mutator, ...]) -> Shrunk | None:
        names = tuple(step.name for step in steps)
        hit: list[Shrunk] = []

        def use(trial: Trial) -> None:
            finding = self._found(trial) if trial.mutators == names else None
            if finding is not None:
                hit.append(Shrunk(trial, finding))
            if hit or self._late:
                raise EnoughError

        with suppress(EnoughError):
            draw_all(_cut_by(seed, steps, self._ways), use, examples=_DRAWS, random=0)
        return hit[0] if hit else None

    def _ways(self, body: bytes) -> tuple[Chunking, ...]:
        """Return the chunkings that find out whether a bug of cuts is there."""
        return (each_byte(body), *_single_cuts(seams(body))) if self._cuts else ()

    def _fewer_cuts(self) -> None:
        trial = self._best.trial
        if not self._cuts or self._keep(_without_cuts(trial)):
            return
        body = trial.mutant.interaction.body
        singles = (
            iter_single_cuts(body) if len(body) <= _SINGLE_CUTS_UP_TO else _single_cuts(seams(body))
        )
        for candidate in (*_single_cuts(seams(body)), *singles, *trial.cuts):
            if self._late or self._keep(_with_cuts(trial, candidate)):
                break
        self._drop_cuts()

    def _drop_cuts(self) -> None:
        """Leave out parts of the cuts, halves first, while the bug shows."""
        trial = self._best.trial
        cuts = trial.cuts[0] if len(trial.cuts) == 1 else ()
        size = len(cuts) // 2
        while size and not self._late:
            for start in range(0, len(cuts), size):
                fewer = cuts[:start] + cuts[start + size :]
                if fewer and self._keep(_with_cuts(trial, fewer)):
                    cuts = fewer
                    break
            else:
                size //= 2


@st.composite
def _cut_by(
    draw: DrawFn,
    seed: Seed,
    steps: tuple[Mutator, ...],
    ways: Callable[[bytes], tuple[Chunking, ...]],
) -> Trial:
    mutant = inputs.draw_steps(draw, seed, steps)
    return Trial(seed, mutant, ways(mutant.interaction.body))


def _turn_content(strict: OracleReading, interaction: Interaction) -> tuple[object, ...]:
    """Return all that is said in a turn; where it is equal, so is what must come out.

    Where the strict reading leaves the calls open, the reader of the dialect tells them.
    """
    calls = (
        parse_deltas(interaction)
        if strict.calls is None
        else [(call.id, call.name, call.arguments, call.kind) for call in strict.calls]
    )
    ends = strict.finish, strict.ended, strict.error, strict.refusal
    return strict.text, strict.reasoning, calls, ends, strict.quirks


def _single_cuts(cuts: Chunking) -> Iterator[Chunking]:
    return ((cut,) for cut in cuts)


def _without_cuts(trial: Trial) -> Trial:
    return msgspec.structs.replace(trial, cuts=())


def _with_cuts(trial: Trial, cuts: Chunking) -> Trial:
    return msgspec.structs.replace(trial, cuts=(cuts,))
