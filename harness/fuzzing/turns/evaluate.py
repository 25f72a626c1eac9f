"""Judge one input under some chunkings, with the engine and the rules of a run.

If all mutations preserve the turn, the expected result is that of the clean seed. Otherwise, it is
the oracle's reading of the changed bytes. If the turn failed or was truncated, the client must not
execute a call. If the oracle does not judge the calls, only the calls of the clean seed are
allowed, unless a mutation may add a call.
"""

from collections.abc import Hashable

import msgspec

from harness.dialects.table import oracle_reading
from harness.fuzzing.mutators.mutator import REALISMS, MutatedInput, Realism
from harness.fuzzing.mutators.table import may_call_more, only_failure, quirks_of, realism_of
from harness.fuzzing.turns.seeds import Seed
from harness.judging.examine import examine
from harness.judging.expected import ANY_CODE, apply_declarations, expectation_from
from harness.judging.replaying import ReplayLimits
from harness.normalizers.protocol import Normalizer
from harness.results.expectation import Expectation, ExpectedCall, Field
from harness.results.finding import Finding
from harness.turns.arguments import meaning
from harness.turns.deltas import FinishReason
from harness.wire.cuts import Chunking
from harness.wire.sse import ends_in_event

# Inputs are small: a normalizer that needs longer hangs.
LIMITS = ReplayLimits(seconds=2.0)
_EXAMPLE = "text-example"


class Trial(msgspec.Struct, frozen=True):
    """One input: a seed, the seed after mutations, and chunkings to judge in addition."""

    seed: Seed
    mutated: MutatedInput
    cuts: tuple[Chunking, ...] = ()

    @property
    def dialect_key(self) -> str:
        """The dialect of the seed, with `/` and the text dialect if it has text calls."""
        return self.seed.dialect_key

    @property
    def mutators(self) -> tuple[str, ...]:
        """The names of the mutators, in the order in which they were applied."""
        return tuple(step.name for step in self.mutated.steps)

    @property
    def quirks(self) -> tuple[str, ...]:
        """The quirks of the seed, and then those that the mutators produce."""
        return (*self.seed.parent.quirks, *quirks_of(self.mutators))

    @property
    def is_seed(self) -> bool:
        """Whether the input is the unchanged seed from a file."""
        return not self.mutated.steps and bool(self.seed.parent.cassette)

    @property
    def realism(self) -> Realism:
        """The realism of the least realistic part of the input."""
        return realism_of(self.mutators, self.seed.parent.realism)

    @property
    def size(self) -> tuple[int, ...]:
        """A sort key for inputs of one bug, the best first.

        The key has the realism, then whether the turn is a success, then mutations, bytes and cuts.
        """
        cuts, body = sum(map(len, self.cuts)), self.mutated.interaction.body
        fails = self.seed.expectation.failure is not None or not self.mutated.preserving
        realism = REALISMS.index(self.realism)
        return realism, fails, len(self.mutated.steps), len(body), cuts

    @property
    def without_cuts(self) -> "Trial":
        """The same input with only the unsplit body."""
        return msgspec.structs.replace(self, cuts=())


class TrialResult(msgspec.Struct, frozen=True):
    """The result of judging an input: the findings, the expected result, the number of replays."""

    findings: tuple[Finding, ...]
    expectation: Expectation
    replays: int


def unchanged(seed: Seed) -> MutatedInput:
    """Return the unchanged interaction of a seed as an input."""
    return MutatedInput(seed.interaction, (), preserving=True)


def evaluate(trial: Trial, normalizer: Normalizer, limits: ReplayLimits = LIMITS) -> TrialResult:
    """Replay `trial` with `normalizer` and judge it, within the limits of each replay."""
    interaction = trial.mutated.interaction
    oracle = oracle_reading(interaction)
    expectation = trial.seed.expectation
    if not trial.mutated.preserving:
        expectation = _expected_from_bytes(expectation_from(oracle), trial, normalizer)
    expectation = apply_declarations(expectation, normalizer)
    examined = examine(
        0, interaction, expectation, oracle, normalizer, cuts=trial.cuts, limits=limits
    )
    found = tuple(each for each in examined.findings if each.level != "MAY")
    if realism_of(trial.mutators, "seen") == REALISMS[-1]:
        # No server is known to make this change, so no client is accused of it. A seed that no
        # server is known to send is not a seed for third-party clients.
        found = tuple(msgspec.structs.replace(each, level="SHOULD") for each in found)
    return TrialResult(found, expectation, examined.replays)


def _expected_from_bytes(
    expectation: Expectation, trial: Trial, normalizer: Normalizer
) -> Expectation:
    """Return the expected result of changed bytes, without what the oracle cannot know."""
    if only_failure(trial.mutated.steps):
        return Expectation("oracle", failure=ANY_CODE, judged=frozenset(("failure",)))
    seed, body = trial.seed, trial.mutated.interaction.body
    ends_in_line = body.startswith(b"{") and not body.endswith(b"\n")
    if trial.mutated.interaction.broken and (ends_in_event(body) or ends_in_line):
        # The error of the network may come before the rest is read.
        judged = expectation.judged - {"text", "reasoning"}
        expectation = msgspec.structs.replace(expectation, judged=judged)
    if expectation.failure is not None and ends_in_event(body):
        expectation = msgspec.structs.replace(expectation, failure=ANY_CODE, failure_says="")
    if seed.parent.text_dialect:
        known: set[Field] = {"failure"} if expectation.failure is None else {"failure", "calls"}
        judged = expectation.judged & known
        expectation = msgspec.structs.replace(
            expectation, judged=judged, has_text_calls=True, loose_space=True
        )
    if "calls" in expectation.judged or _may_call_more(trial, normalizer) or not _is_complete(seed):
        return expectation
    # A call whose arguments were lost is in the bytes too: without a finish, they may be empty.
    own = {_key_of(call) for call in seed.expectation.calls}
    sent = (call for call in expectation.calls if _key_of(call) not in own)
    return msgspec.structs.replace(
        expectation, calls=(*seed.expectation.calls, *sent), calls_at_most=True
    )


def _key_of(call: ExpectedCall) -> tuple[str, Hashable]:
    return call.name, meaning(call.json_text)


def _may_call_more(trial: Trial, normalizer: Normalizer) -> bool:
    """Return whether the mutations may add a call.

    A normalizer that accepts JSON anywhere as a call need not know markup that quotes it.
    """
    loose = normalizer.policies.get("bare") == "anywhere" and _EXAMPLE in trial.mutators
    return loose or may_call_more(trial.mutated.steps)


def _is_complete(seed: Seed) -> bool:
    """Return whether the seed's calls are known, and a mutation cannot complete a further one."""
    known = seed.expectation
    ended = known.failure is None and known.finish in (FinishReason.STOP, FinishReason.TOOL_CALLS)
    return ended and not known.rejected and known.judged >= {"calls", "rejected"}
