"""A mutant under some chunkings -> findings, with the engine and the rules of a run.

After steps that keep the meaning, what must come out is what the clean seed says. After others
the strict reading of the changed bytes says it. Of a turn that failed or broke off it always
says that nothing may be run; where it leaves the calls open, none may come out that the clean
seed has not, unless a step may have made one.
"""

import msgspec

from harness.dialects.oracles import oracle_reading
from harness.fuzzing.mutators import MutatedInput, may_call_more
from harness.fuzzing.turns.seeds import Seed
from harness.judging.examine import examine
from harness.judging.expectation import Expectation, Field
from harness.judging.expected import apply_declared_policies, expectation_from
from harness.judging.replaying import ReplayLimits
from harness.judging.results import Finding
from harness.normalizers.protocol import Normalizer
from harness.turns.deltas import FinishReason
from harness.wire.cuts import Chunking

# Inputs are small: who needs longer hangs.
LIMITS = ReplayLimits(seconds=2.0)
_EXAMPLE = "text-example"


class Trial(msgspec.Struct, frozen=True):
    """One input: a seed, what became of it, and how it is cut beside being whole."""

    seed: Seed
    mutant: MutatedInput
    cuts: tuple[Chunking, ...] = ()

    @property
    def mutators(self) -> tuple[str, ...]:
        """Return the names of the steps, in their order."""
        return tuple(step.name for step in self.mutant.trail)

    @property
    def size(self) -> tuple[int, int, int]:
        """Return what makes one input smaller than another: steps, bytes, cuts."""
        cuts = sum(map(len, self.cuts))
        return len(self.mutant.trail), len(self.mutant.interaction.body), cuts


class TrialResult(msgspec.Struct, frozen=True):
    """What came of a trial.

    Fields:
        expectation: what it was judged by.
        chunking: of the worst replay, of equal ones that with the fewest cuts.
        replays: how many there were.
    """

    findings: tuple[Finding, ...]
    expectation: Expectation
    chunking: Chunking
    replays: int


def unchanged(seed: Seed) -> MutatedInput:
    """Return the seed's interaction as a mutant without a step."""
    return MutatedInput(seed.interaction, (), preserving=True)


def evaluate(trial: Trial, normalizer: Normalizer, limits: ReplayLimits = LIMITS) -> TrialResult:
    """Judge `trial`."""
    mutant = trial.mutant
    strict = oracle_reading(mutant.interaction)
    expectation = trial.seed.expectation
    if not mutant.preserving:
        expectation = _expected_from_bytes(expectation_from(strict), trial, normalizer)
    expectation = apply_declared_policies(expectation, normalizer.policies)
    seen = examine(
        0, mutant.interaction, expectation, strict, normalizer, cuts=trial.cuts, limits=limits
    )
    return TrialResult(tuple(seen.findings), expectation, seen.worst.chunking, seen.replays)


def _expected_from_bytes(
    expectation: Expectation, trial: Trial, normalizer: Normalizer
) -> Expectation:
    """Leave open what a strict reading cannot know: what a text means that spells calls."""
    seed = trial.seed
    if seed.text_dialect:
        known: set[Field] = {"failure"} if expectation.failure is None else {"failure", "calls"}
        judged = expectation.judged & known
        expectation = msgspec.structs.replace(expectation, judged=judged, loose_space=True)
    if "calls" in expectation.judged or _may_call_more(trial, normalizer) or not _is_complete(seed):
        return expectation
    return msgspec.structs.replace(expectation, calls=seed.expectation.calls, calls_at_most=True)


def _may_call_more(trial: Trial, normalizer: Normalizer) -> bool:
    """Who takes JSON for a call anywhere need not know the markup in which it is quoted."""
    loose = normalizer.policies.get("bare") == "anywhere" and _EXAMPLE in trial.mutators
    return loose or may_call_more(trial.mutant.trail)


def _is_complete(seed: Seed) -> bool:
    """Whether the seed says which calls there are, and none that a step might complete."""
    known = seed.expectation
    ended = known.failure is None and known.finish in (FinishReason.STOP, FinishReason.TOOL_CALLS)
    return ended and not known.rejected and known.judged >= {"calls", "rejected"}
