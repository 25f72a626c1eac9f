"""Search for bugs of a normalizer, with simple inputs first and then ever larger changes.

The order is: every seed unchanged; some single cuts of the seeds with most features; each mutator
alone. Then, in turn and endlessly: generated turns, several mutators at once, several cuts, and the
seeds with most features truncated and cut at each byte. A slow client may need its whole time for
the seeds, so single mutators alternate with them.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, cycle, islice
from random import Random

from harness.dialects.table import DIALECTS
from harness.fuzzing.found import FuzzFinding, SmallestInput, signature_of
from harness.fuzzing.mutators.endings import truncated_inputs
from harness.fuzzing.mutators.mutator import Mutator
from harness.fuzzing.search import Draws, Shrinking
from harness.fuzzing.turns.evaluate import Trial, evaluate, unchanged
from harness.fuzzing.turns.inputs import (
    generated_trials,
    mutated_trials,
    one_of_each,
    stepped_trials,
    steps_for,
)
from harness.fuzzing.turns.seeds import Seed, by_round
from harness.fuzzing.turns.shrink import shrink_trial
from harness.fuzzing.turns.text_calls import readable_text_dialects, text_call_trials
from harness.judging.replaying import DEFAULT_LIMITS
from harness.normalizers.protocol import Normalizer
from harness.results.finding import Finding
from harness.results.outcome import Outcome
from harness.wire.cuts import each_byte, iter_single_cuts, seams

# A larger body, and one with text calls, which cost more, is cut at few seams only.
_EVERY_CUT_UP_TO = 4 * 1024
_SOME_CUTS = 96
_FEW_CUTS = 24
_CUTS_AT_A_TIME = 50
_SEEDS_AT_A_TIME = 60
_STEPS_AT_A_TIME = 4
_DRAWS = 2
_TURNS = 8
_TEXT_DIALECTS_AT_A_TIME = 3
_MUTATED_DRAWS = 10
_TRUNCATIONS = 300


class TurnSource:
    """Draws, judges and shrinks turns for one normalizer."""

    seconds_to_shrink = 5.0

    def __init__(
        self, normalizer: Normalizer, seeds: Sequence[Seed], share: slice = slice(None)
    ) -> None:
        """Prepare the inputs.

        Args:
            normalizer: the client under test.
            seeds: the inputs to start from, the smallest first.
            share: which part of the ordered inputs belongs to this source.
        """
        self.steps = steps_for(normalizer)
        self._normalizer = normalizer
        self._seeds = tuple(seeds)
        self._rounds = by_round(seeds)
        self._richest = self._rounds[0] if self._rounds else ()
        self._dialects = sorted(normalizer.dialects & DIALECTS.keys())
        self._text_dialects = readable_text_dialects(normalizer)
        self._share = share

    def judge(self, tried: Trial) -> tuple[Sequence[Finding], int]:
        """Judge one turn. If the client hangs, judge it again with the time limit of a run."""
        result = evaluate(tried, self._normalizer)
        if any(finding.outcome is Outcome.HANG for finding in result.findings):
            result = evaluate(tried, self._normalizer, DEFAULT_LIMITS)
        return result.findings, result.replays

    def shrink(self, shrinking: Shrinking[Trial]) -> None:
        """Try smaller turns, and keep those that show the bug."""
        shrink_trial(shrinking)

    def finding(self, smallest: SmallestInput[Trial]) -> FuzzFinding:
        """Return the finding that reports the bug of a turn."""
        trial, finding = smallest.input, smallest.finding
        return FuzzFinding(
            slug=signature_of(finding, trial.dialect_key, trial.mutators, trial.quirks).slug,
            normalizer=self._normalizer.name,
            finding=finding,
            dialect_key=trial.dialect_key,
            parent=trial.seed.parent,
            steps=trial.mutated.steps,
            interaction=trial.mutated.interaction,
            expectation=evaluate(trial.without_cuts, self._normalizer).expectation,
            chunking=trial.cuts[0] if trial.cuts else (),
            examples=smallest.examples,
            realism=trial.realism,
        )

    def draws(self, random: Random) -> Iterator[Iterable[Trial] | Draws[Trial]]:
        """Yield all inputs; see the top of this module for their order."""
        inputs = self._iter_draws(random)
        unchanged_seeds = map(_unchanged_trial, self._seeds[self._share])
        for batch in iter(lambda: tuple(islice(unchanged_seeds, _SEEDS_AT_A_TIME)), ()):
            yield batch
            if len(batch) == _SEEDS_AT_A_TIME:
                yield from islice(inputs, _STEPS_AT_A_TIME)
        yield from inputs

    def _iter_draws(self, random: Random) -> Iterator[Iterable[Trial] | Draws[Trial]]:
        yield map(self._cut_at_seams, self._richest[self._share])
        each_place = chain(self._cut_everywhere(), self._truncated())
        for number, seeds in enumerate(cycle(self._rounds or ((),))):
            for some in _groups(self.steps[self._share]):
                yield Draws(generated_trials(self._dialects, self.steps), _TURNS)
                if self._text_dialects:
                    texts = text_call_trials(self._text_dialects)
                    yield Draws(texts.map(lambda trial: (trial,)), _TURNS)
                for step in some:
                    few = _few(seeds, random)
                    yield Draws(one_of_each(stepped_trials(it, (step,)) for it in few), _DRAWS)
                if seeds:
                    yield Draws(mutated_trials(seeds, self.steps), _MUTATED_DRAWS)
                if number:  # not before each step was tried
                    yield islice(each_place, _TRUNCATIONS)

    def _cut_at_seams(self, seed: Seed) -> Trial:
        found = seams(seed.interaction.body)
        most = _SOME_CUTS if _is_small(seed) else _FEW_CUTS
        some = ((cut,) for cut in found[:: max(1, len(found) // most)])
        return Trial(seed, unchanged(seed), tuple(some))

    def _cut_everywhere(self) -> Iterator[Trial]:
        """Yield each seed with most features of its dialect (no text calls) under single cuts."""
        for seed in filter(_is_small, self._richest[self._share]):
            cuts = iter_single_cuts(seed.interaction.body)
            for some in iter(lambda: tuple(islice(cuts, _CUTS_AT_A_TIME)), ()):  # noqa: B023 - used at once
                yield Trial(seed, unchanged(seed), some)

    def _truncated(self) -> Iterator[Trial]:
        """Yield each dialect's small seed with most features, without text calls, truncated."""
        trials = (
            Trial(seed, mutated)
            for seed in self._richest
            if _is_small(seed)
            for mutated in truncated_inputs(seed.interaction)
        )
        return islice(trials, self._share.start, None, self._share.step)


def _unchanged_trial(seed: Seed) -> Trial:
    cuts = (seed.interaction.recorded_cuts(), each_byte(seed.interaction.body))
    return Trial(seed, unchanged(seed), cuts)


def _is_small(seed: Seed) -> bool:
    return len(seed.interaction.body) <= _EVERY_CUT_UP_TO and not seed.parent.text_dialect


def _few(seeds: Sequence[Seed], random: Random) -> list[Seed]:
    """Return all seeds without text calls, and a random sample of those with text calls."""
    texts = [seed for seed in seeds if seed.parent.text_dialect]
    some = random.sample(texts, min(_TEXT_DIALECTS_AT_A_TIME, len(texts)))
    return [*(seed for seed in seeds if not seed.parent.text_dialect), *some]


def _groups(steps: Sequence[Mutator]) -> Iterator[Sequence[Mutator]]:
    for start in range(0, len(steps), _STEPS_AT_A_TIME):
        yield steps[start : start + _STEPS_AT_A_TIME]
