"""A mutant under some chunkings -> findings, with the engine and the rules of a run.

After steps that keep the meaning, what must come out is what the clean seed says. After others
the strict reading of the changed bytes says it; where that abstains, a shortened stream still
must give no call but those of the seed.
"""

from collections.abc import Iterator

import msgspec

from harness.fuzzing.mutators import Mutant
from harness.fuzzing.seeds import Seed
from harness.judging.examine import Examined, examine
from harness.judging.expectation import Expectation
from harness.judging.replaying import Limits
from harness.judging.results import Finding, Outcome
from harness.judging.rules.pairing import arguments_text
from harness.judging.strict_reading.expect import expectation_from
from harness.judging.strict_reading.table import strict_reading
from harness.normalizers.protocol import Normalizer
from harness.turns.arguments import meaning
from harness.wire.cuts import Chunking

# Inputs are small: who needs longer hangs.
LIMITS = Limits(seconds=2.0)
WRONG_CALL = "CALLS-NOT-INVENTED"


class Trial(msgspec.Struct, frozen=True):
    """One input: a seed, what became of it, and how it is cut beside being whole."""

    seed: Seed
    mutant: Mutant
    cuts: tuple[Chunking, ...] = ()

    @property
    def mutators(self) -> tuple[str, ...]:
        """Return the names of the steps, in their order."""
        return tuple(step.name for step in self.mutant.trail)


class Tried(msgspec.Struct, frozen=True):
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


def unchanged(seed: Seed) -> Mutant:
    """Return the seed's interaction as a mutant without a step."""
    return Mutant(seed.interaction, (), preserving=True)


def tried(trial: Trial, normalizer: Normalizer, limits: Limits = LIMITS) -> Tried:
    """Judge `trial`."""
    mutant = trial.mutant
    strict = strict_reading(mutant.interaction)
    expectation = trial.seed.expectation if mutant.preserving else expectation_from(strict)
    seen = examine(
        0, mutant.interaction, expectation, strict, normalizer, cuts=trial.cuts, limits=limits
    )
    found = seen.findings
    if not mutant.preserving and "calls" not in expectation.judged:
        found = [*found, *_wrong_calls(trial, seen)]
    return Tried(tuple(found), expectation, seen.worst.chunking, seen.replays)


def _wrong_calls(trial: Trial, seen: Examined) -> Iterator[Finding]:
    """Where part of a stream is lost, what is left of it holds no call that it did not hold."""
    if not _SHORTENING.issuperset(trial.mutators) or "calls" not in trial.seed.expectation.judged:
        return
    known = [(each.name, meaning(arguments_text(each))) for each in trial.seed.expectation.calls]
    for place, call in enumerate(seen.whole.turn.tool_calls):
        if (call.name, meaning(call.arguments)) not in known:
            yield Finding(
                WRONG_CALL,
                "MUST",
                Outcome.SILENT_WRONG,
                f"turns[0].calls[{place}]",
                "no call but those of the stream that was shortened",
                f"{call.name} {call.arguments}",
            )


# Steps that leave a beginning of what was sent.
_SHORTENING = frozenset(("cut-short",))
