"""One interaction of a cell: replayed under many chunkings, each replay held to every rule.

Turn rules look at the whole body's replay. What differs under other cuts is one finding, as
bad as the difference is, so that one fault of a normalizer is not told forty times.
"""

from collections.abc import Iterator

import msgspec

from harness.judging.chunkings import Cuts, chunkings
from harness.judging.expectation import Expectation
from harness.judging.replaying import Limits, replay
from harness.judging.results import Finding, Outcome, Replay
from harness.judging.rules import RULES
from harness.judging.rules.rule import evidence
from harness.judging.strict_reading.reading import StrictReading
from harness.normalizers.protocol import Normalizer
from harness.wire.cuts import WHOLE
from harness.wire.interaction import Interaction

# A replay that stopped in the middle is judged by these alone.
_ALWAYS = frozenset(("NO-CRASH", "NO-HANG", "CUT-INVARIANT", "REPEATABLE"))
_OF_MANY = ("CUT-INVARIANT", "REPEATABLE")


class Examined(msgspec.Struct):
    """What the replays of one interaction gave.

    Fields:
        place: of the interaction in its cassette.
        whole: the replay of the whole body in one read.
        worst: the smallest replay that breaks a MUST; `whole` where none does.
    """

    place: int
    interaction: Interaction
    expectation: Expectation
    strict: StrictReading
    whole: Replay
    findings: list[Finding]
    worst: Replay
    replays: int

    @property
    def broken(self) -> bool:
        """Whether a MUST rule was broken."""
        return any(finding.level == "MUST" for finding in self.findings)


def examine(  # noqa: PLR0913 - one call site, which names each
    place: int,
    interaction: Interaction,
    expectation: Expectation,
    strict: StrictReading,
    normalizer: Normalizer,
    *,
    cuts: Cuts,
    limits: Limits,
) -> Examined:
    """Replay one interaction through `normalizer` and hold it to the rules."""
    whole = replay(normalizer, interaction, WHOLE, limits)
    seen = Examined(place, interaction, expectation, strict, whole, [], whole, 0)
    for candidate, again in _replays(interaction, normalizer, whole, cuts, limits):
        seen.replays += 1
        _note(seen, normalizer, candidate, again)
        if candidate.hung:
            break  # each further replay would take its whole time limit
    return seen


def _replays(
    interaction: Interaction,
    normalizer: Normalizer,
    whole: Replay,
    cuts: Cuts,
    limits: Limits,
) -> Iterator[tuple[Replay, Replay | None]]:
    """Yield the replays, the whole body first and once more at the end."""
    yield whole, None
    for chunking in chunkings(interaction, cuts):
        if chunking:
            yield replay(normalizer, interaction, chunking, limits), None
    again = replay(normalizer, interaction, WHOLE, limits)
    yield again, again


def _note(seen: Examined, normalizer: Normalizer, candidate: Replay, again: Replay | None) -> None:
    """Add what is new about one replay to what was found."""
    first = candidate is seen.whole
    known = {(finding.rule, finding.path) for finding in seen.findings}
    at_hand = evidence(
        seen.place,
        seen.interaction,
        normalizer,
        seen.expectation,
        seen.strict,
        candidate,
        seen.whole,
        again,
    )
    stopped = bool(candidate.error) or candidate.hung
    found = [
        finding
        for rule in RULES.values()
        if (rule.id in _ALWAYS or not stopped)
        for finding in rule.findings(at_hand)
    ]
    if not first:
        found = _as_variance(found, candidate)
    new = [finding for finding in found if (finding.rule, finding.path) not in known]
    was_fine = not seen.broken
    seen.findings += new
    breaks = any(finding.level == "MUST" for finding in found)
    fewer_cuts = again is None and len(candidate.chunking) < len(seen.worst.chunking)
    if breaks and (was_fine or fewer_cuts):
        seen.worst = candidate


def _as_variance(found: list[Finding], candidate: Replay) -> list[Finding]:
    """A replay that differs from the whole body's breaks one rule, as badly as it differs."""
    variance = [finding for finding in found if finding.rule in _OF_MANY]
    prompt = [finding for finding in found if finding.rule == "TEXT-PROMPT"]
    if not variance:
        return prompt
    outcomes = [finding.outcome for finding in found if finding.level == "MUST"]
    if candidate.hung:
        outcomes = [Outcome.HANG]
    worst = min(outcomes, key=lambda outcome: outcome.badness)
    return [msgspec.structs.replace(finding, outcome=worst) for finding in variance] + prompt
