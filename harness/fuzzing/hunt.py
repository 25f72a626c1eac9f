"""One process's share of a search: found, shrunk, and told as findings, each bug once."""

import time
from collections.abc import Iterable, Sequence

import msgspec

from harness.fuzzing.found import Found, FuzzFinding, Met
from harness.fuzzing.oracle import Trial, tried
from harness.fuzzing.profiles import Budget, Profile
from harness.fuzzing.search import Search
from harness.fuzzing.seeds import Seed
from harness.fuzzing.shrink import Shrunk, shrink
from harness.fuzzing.signature import Signature, signature_of
from harness.judging.deadline import deadlines
from harness.normalizers.protocol import Normalizer

_SECONDS_OF_ONE = 5.0


class Hunt(msgspec.Struct, frozen=True):
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


def hunt(  # noqa: PLR0913 - one search, by keyword
    normalizer: Normalizer,
    seeds: Sequence[Seed],
    profile: Profile,
    *,
    random: int = 0,
    share: int = 0,
    shares: int = 1,
) -> Hunt:
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
    findings = _shrunk(found, normalizer, profile.shrinking, random)
    return Hunt(findings, budget.examples, budget.chunkings, search.interrupted)


def _shrunk(
    found: Found, normalizer: Normalizer, seconds: float, random: int
) -> tuple[FuzzFinding, ...]:
    """Shrink each bug within its part of the time that is left, the worst first."""
    end = time.monotonic() + seconds
    told = []
    with deadlines():
        for number, (signature, met) in enumerate(found):
            left = (end - time.monotonic()) / (len(found) - number)
            small = shrink(met, signature.place, normalizer, min(max(left, 0.0), _SECONDS_OF_ONE))
            told.append(_told(small, met, normalizer, random))
    return merged(told)


def _told(small: Shrunk, met: Met, normalizer: Normalizer, random: int) -> FuzzFinding:
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
        expectation=tried(_whole(trial), normalizer).expectation,
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


def _whole(trial: Trial) -> Trial:
    return msgspec.structs.replace(trial, cuts=())


def merged(findings: Iterable[FuzzFinding]) -> tuple[FuzzFinding, ...]:
    """Return each bug once, on the smallest input, the worst first.

    Of bugs at one place those are left out that take more steps than another.
    """
    best: dict[Signature, FuzzFinding] = {}
    for each in findings:
        signature = _signature(each)
        if signature not in best or _size(each) < _size(best[signature]):
            best[signature] = each
    kept = (it for signature, it in best.items() if not _explained(signature, best))
    return tuple(sorted(kept, key=lambda finding: finding.rank))


def _signature(finding: FuzzFinding) -> Signature:
    names = tuple(step.name for step in finding.trail)
    return signature_of(finding.finding, finding.room, names)


def _explained(signature: Signature, known: Iterable[Signature]) -> bool:
    steps = frozenset(signature.mutators)
    return any(
        other.place == signature.place and frozenset(other.mutators) < steps for other in known
    )


def _size(finding: FuzzFinding) -> tuple[int, int, int]:
    said = sum(len(each.body) for each in (finding.interaction, *finding.others))
    return len(finding.trail), said, len(finding.chunking)
