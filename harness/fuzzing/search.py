"""Search one normalizer: what is cheap and sure first, then ever wilder inputs, to the end.

Every clean seed as it is; every single cut of the richest; each step alone; then written turns,
several steps at once and several cuts, in turn. A finding never ends the search.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from random import Random

from harness.dialects.table import DIALECTS
from harness.fuzzing import inputs
from harness.fuzzing.drawing import EnoughError, draw_all
from harness.fuzzing.found import Found
from harness.fuzzing.mutators import Mutator
from harness.fuzzing.oracle import Trial, tried, unchanged
from harness.fuzzing.profiles import Budget
from harness.fuzzing.seeds import Seed, by_round
from harness.fuzzing.spoken import asked, spoken
from harness.fuzzing.written import written
from harness.judging.deadline import deadlines
from harness.normalizers.protocol import Normalizer
from harness.wire.cuts import each_byte, seams, single_cuts

# A larger body, and one with calls in its text, which cost more, is cut at some seams only.
_EVERY_CUT_UP_TO = 4 * 1024
_SOME_CUTS = 24
_STEPS_AT_A_TIME = 4
_DRAWS = 2
_TURNS = 8
_TEXT_ROOMS = 3
_WILD_DRAWS = 10


class Search:
    """One search; `run` may be called once."""

    def __init__(  # noqa: PLR0913 - one search, by keyword
        self,
        normalizer: Normalizer,
        seeds: Sequence[Seed],
        budget: Budget,
        *,
        random: int = 0,
        share: int = 0,
        shares: int = 1,
        until: Callable[[Found], bool] | None = None,
    ) -> None:
        """Prepare a search.

        Args:
            normalizer: what is searched.
            seeds: to start from, the smallest first.
            budget: what it may spend.
            random: decides every draw.
            share: which part of what is tried in order is this search's, from 0.
            shares: how many searches share it.
            until: asked after each new finding; True ends the search.
        """
        self.found = Found()
        self._normalizer = normalizer
        self._seeds = tuple(seeds)
        self._rounds = by_round(seeds)
        self._dialects = sorted(normalizer.dialects & DIALECTS.keys())
        self._steps = inputs.steps_for(normalizer)
        self._asked = asked(normalizer)
        self._budget = budget
        self._share = slice(share, None, shares)
        self.interrupted = False
        self._random = Random(random * shares + share)  # noqa: S311 - a search is repeatable, not secret
        self._until = until

    def run(self) -> Found:
        """Search until the budget is spent."""
        with deadlines():
            try:
                self._as_they_are()
                self._cut_everywhere()
                self._by_turns()
            except EnoughError:
                pass
            except KeyboardInterrupt:
                self.interrupted = True
        return self.found

    def _try(self, trial: Trial) -> None:
        if self._budget.spent:
            raise EnoughError
        done = tried(trial, self._normalizer)
        self._budget.count(done.replays)
        new = self.found.note(trial, done, self._budget.examples)
        if new and self._until is not None and self._until(self.found):
            raise EnoughError

    def _as_they_are(self) -> None:
        for seed in self._seeds[self._share]:
            body = seed.interaction.body
            cuts = (seed.interaction.recorded_cuts(), each_byte(body))
            self._try(Trial(seed, unchanged(seed), cuts))

    def _cut_everywhere(self) -> None:
        for seed in self._rounds[0][self._share] if self._rounds else ():
            body = seed.interaction.body
            small = len(body) <= _EVERY_CUT_UP_TO and not seed.text_dialect
            found = seams(body)
            some = found[:: max(1, len(found) // _SOME_CUTS)]
            cuts = tuple(single_cuts(body)) if small else tuple((cut,) for cut in some)
            self._try(Trial(seed, unchanged(seed), cuts))

    def _by_turns(self) -> None:
        """Go on for ever: written turns and wild inputs between the steps, a few at a time."""
        for seeds in cycle(self._rounds or ((),)):
            for some in _groups(self._steps[self._share]):
                self._draw(written(self._dialects, self._steps), _TURNS)
                if self._asked:
                    self._draw(spoken(self._asked).map(lambda trial: (trial,)), _TURNS)
                for step in some:
                    few = self._few(seeds)
                    self._draw(inputs.each(inputs.stepped(it, (step,)) for it in few), _DRAWS)
                if seeds:
                    self._draw(inputs.wild(seeds, self._steps), _WILD_DRAWS)

    def _few(self, seeds: Sequence[Seed]) -> list[Seed]:
        """Return all of plain dialects, and some of those with calls in text, which are many."""
        texts = [seed for seed in seeds if seed.text_dialect]
        some = self._random.sample(texts, min(_TEXT_ROOMS, len(texts)))
        return [*(seed for seed in seeds if not seed.text_dialect), *some]

    def _draw(self, strategy: inputs.Trials, examples: int) -> None:
        draw_all(strategy, self._try_all, examples=examples, random=self._random.getrandbits(32))

    def _try_all(self, trials: inputs.Some) -> None:
        for trial in trials:
            self._try(trial)


def _groups(steps: Sequence[Mutator]) -> Iterator[Sequence[Mutator]]:
    for start in range(0, len(steps), _STEPS_AT_A_TIME):
        yield steps[start : start + _STEPS_AT_A_TIME]
