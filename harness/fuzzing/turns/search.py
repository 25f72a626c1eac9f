"""Search one normalizer: what is cheap and sure first, then ever wilder inputs, to the end.

Every clean seed as it is; every single cut of the richest; each step alone; then written turns,
several steps at once and several cuts, in turn, and the richest broken off after each byte. A
finding never ends the search.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import cycle, islice
from random import Random

import msgspec

from harness.dialects.table import DIALECTS
from harness.fuzzing.found import BugSignature, Found, FuzzFinding, SmallestInput, signature_of
from harness.fuzzing.mutators import Mutator
from harness.fuzzing.mutators.endings import truncated_inputs
from harness.fuzzing.profiles import Budget, Profile
from harness.fuzzing.search import EnoughError, draw_all
from harness.fuzzing.turns import inputs
from harness.fuzzing.turns.evaluate import Trial, evaluate, unchanged
from harness.fuzzing.turns.seeds import Seed, by_round
from harness.fuzzing.turns.shrink import Shrunk, shrink
from harness.fuzzing.turns.text_calls import readable_text_dialects, text_call_trials
from harness.fuzzing.turns.written import written_trials
from harness.judging.replaying import deadlines
from harness.normalizers.protocol import Normalizer
from harness.wire.cuts import each_byte, iter_single_cuts, seams

# A larger body, and one with calls in its text, which cost more, is cut at some seams only.
_EVERY_CUT_UP_TO = 4 * 1024
_SOME_CUTS = 24
_STEPS_AT_A_TIME = 4
_DRAWS = 2
_TURNS = 8
_TEXT_ROOMS = 3
_WILD_DRAWS = 10
_BREAKS = 300


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
        self._asked = readable_text_dialects(normalizer)
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
        done = evaluate(trial, self._normalizer)
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
        for seed in self._richest[self._share]:
            body = seed.interaction.body
            found = seams(body)
            some = found[:: max(1, len(found) // _SOME_CUTS)]
            every = self._is_small(seed)
            cuts = tuple(iter_single_cuts(body)) if every else tuple((cut,) for cut in some)
            self._try(Trial(seed, unchanged(seed), cuts))

    @property
    def _richest(self) -> tuple[Seed, ...]:
        return self._rounds[0] if self._rounds else ()

    @staticmethod
    def _is_small(seed: Seed) -> bool:
        return len(seed.interaction.body) <= _EVERY_CUT_UP_TO and not seed.text_dialect

    def _by_turns(self) -> None:
        """Go on for ever: written turns and wild inputs between the steps, a few at a time."""
        broken = self._broken_off()
        for turn, seeds in enumerate(cycle(self._rounds or ((),))):
            for some in _groups(self._steps[self._share]):
                self._draw(written_trials(self._dialects, self._steps), _TURNS)
                if self._asked:
                    self._draw(text_call_trials(self._asked).map(lambda trial: (trial,)), _TURNS)
                for step in some:
                    few = self._few(seeds)
                    self._draw(
                        inputs.one_of_each(inputs.stepped_trials(it, (step,)) for it in few), _DRAWS
                    )
                if seeds:
                    self._draw(inputs.mutated_trials(seeds, self._steps), _WILD_DRAWS)
                if turn:  # not before each step was tried
                    self._try_all(islice(broken, _BREAKS))

    def _broken_off(self) -> Iterator[Trial]:
        """Yield the richest seed of each plain dialect, broken off after each byte."""
        richest = (seed for seed in self._richest if self._is_small(seed))
        trials = (
            Trial(seed, mutant) for seed in richest for mutant in truncated_inputs(seed.interaction)
        )
        return islice(trials, self._share.start, None, self._share.step)

    def _few(self, seeds: Sequence[Seed]) -> list[Seed]:
        """Return all of plain dialects, and some of those with calls in text, which are many."""
        texts = [seed for seed in seeds if seed.text_dialect]
        some = self._random.sample(texts, min(_TEXT_ROOMS, len(texts)))
        return [*(seed for seed in seeds if not seed.text_dialect), *some]

    def _draw(self, strategy: inputs.TrialGroups, examples: int) -> None:
        draw_all(strategy, self._try_all, examples=examples, random=self._random.getrandbits(32))

    def _try_all(self, trials: Iterable[Trial]) -> None:
        for trial in trials:
            self._try(trial)


def _groups(steps: Sequence[Mutator]) -> Iterator[Sequence[Mutator]]:
    for start in range(0, len(steps), _STEPS_AT_A_TIME):
        yield steps[start : start + _STEPS_AT_A_TIME]


_SECONDS_OF_ONE = 5.0


class FuzzReport(msgspec.Struct, frozen=True):
    """What came of a search.

    Fields:
        examples: inputs that were judged.
        chunkings: replays that it took.
        interrupted: somebody asked to stop; what was found until then is there.
        lost: processes that did not survive what they tried.
    """

    findings: tuple[FuzzFinding, ...] = ()
    examples: int = 0
    chunkings: int = 0
    interrupted: bool = False
    lost: int = 0


def fuzz_normalizer(  # noqa: PLR0913 - one search, by keyword
    normalizer: Normalizer,
    seeds: Sequence[Seed],
    profile: Profile,
    *,
    random: int = 0,
    share: int = 0,
    shares: int = 1,
) -> FuzzReport:
    """Search `normalizer` from `seeds`, and shrink what is found.

    Args:
        normalizer: what is searched.
        seeds: to start from, the smallest first.
        profile: what it may spend.
        random: the same gives the same findings, where examples ended the search.
        share: which part of what is tried in order is this process's, from 0.
        shares: how many processes share it.
    """
    budget = Budget(profile.examples, profile.seconds)
    search = Search(normalizer, seeds, budget, random=random, share=share, shares=shares)
    found = search.run()
    findings = _shrink_all(found, normalizer, profile.shrinking, random)
    return FuzzReport(findings, budget.examples, budget.chunkings, search.interrupted)


def _shrink_all(
    found: Found, normalizer: Normalizer, seconds: float, random: int
) -> tuple[FuzzFinding, ...]:
    """Shrink each bug within its part of the time that is left, the worst first."""
    end = time.monotonic() + seconds
    told = []
    with deadlines():
        for number, (signature, met) in enumerate(found):
            left = (end - time.monotonic()) / (len(found) - number)
            small = shrink(met, signature.place, normalizer, min(max(left, 0.0), _SECONDS_OF_ONE))
            told.append(_finding_from(small, met, normalizer, random))
    return merge_findings(told)


def _finding_from(
    small: Shrunk, met: SmallestInput, normalizer: Normalizer, random: int
) -> FuzzFinding:
    trial, finding = small.trial, small.finding
    seed = trial.seed
    signature = signature_of(finding, seed.room, trial.mutators)
    return FuzzFinding(
        slug=signature.slug,
        normalizer=normalizer.name,
        finding=finding,
        blame="normalizer",
        room=seed.room,
        parent=seed.id,
        cassette=seed.parent,
        trail=trial.mutant.trail,
        interaction=trial.mutant.interaction,
        expectation=evaluate(_without_cuts(trial), normalizer).expectation,
        chunking=trial.cuts[0] if trial.cuts else (),
        text_dialect=seed.text_dialect,
        capabilities=seed.capabilities,
        policies=seed.policies,
        provider=seed.provider,
        model=seed.model,
        licence=seed.licence,
        random=random,
        examples=met.examples,
    )


def _without_cuts(trial: Trial) -> Trial:
    return msgspec.structs.replace(trial, cuts=())


def merge_findings(findings: Iterable[FuzzFinding]) -> tuple[FuzzFinding, ...]:
    """Return each bug once, on the smallest input, the worst first.

    Of bugs at one place those are left out that take more steps than another.
    """
    best: dict[BugSignature, FuzzFinding] = {}
    for each in findings:
        signature = _signature(each)
        if signature not in best or _size(each) < _size(best[signature]):
            best[signature] = each
    kept = (it for signature, it in best.items() if not _has_fewer_steps(signature, best))
    return tuple(sorted(kept, key=lambda finding: finding.rank))


def _signature(finding: FuzzFinding) -> BugSignature:
    names = tuple(step.name for step in finding.trail)
    return signature_of(finding.finding, finding.room, names)


def _has_fewer_steps(signature: BugSignature, known: Iterable[BugSignature]) -> bool:
    steps = frozenset(signature.mutators)
    return any(
        other.place == signature.place and frozenset(other.mutators) < steps for other in known
    )


def _size(finding: FuzzFinding) -> tuple[int, int, int]:
    said = sum(len(each.body) for each in (finding.interaction, *finding.others))
    return len(finding.trail), said, len(finding.chunking)
