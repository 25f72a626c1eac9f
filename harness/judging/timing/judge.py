"""Judge a cell of a timing scenario.

A violation counts only if it appears in two plays, and if this process kept its own times. If the
machine is busy, the second play has longer times, and so a client may react later. A cell that
shows no certain result is not judged, and says why.
"""

from typing import Final

import msgspec

from harness.dialects.table import oracle_reading
from harness.judging.expected import expectation_from
from harness.judging.replaying import overload
from harness.judging.rule import Rule, findings
from harness.judging.timing.evidence import TimingEvidence
from harness.judging.timing.play import play
from harness.judging.timing.script import TimingScript
from harness.normalizers.protocol import Normalizer
from harness.normalizers.timing import TimedClient
from harness.results.finding import Finding
from harness.results.result import TimingFacts
from harness.wire.cassette import Cassette

# How much later than planned this process may be for a verdict about times.
MOST_LATE: Final = 0.15
# How many processes may compete for each core before times are longer, and how much longer.
_MOST_OVERLOAD: Final = 1.5
_SLOW_SCALE: Final = 4.0


class TimingVerdict(msgspec.Struct, frozen=True):
    """The findings of a cell, and facts about its plays. If `why` is not "", it was not judged."""

    findings: tuple[Finding, ...]
    facts: TimingFacts
    plays: int

    @property
    def why(self) -> str:
        """Why the cell was not judged."""
        return self.facts.unjudged


def is_told_by(script: TimingScript, normalizer: Normalizer) -> bool:
    """Return whether `normalizer` takes part in timing, and can be told what `script` tells."""
    timed = normalizer.timed
    return timed is not None and script.told.isdisjoint(timed.untold)


def judge_timing(
    script: TimingScript,
    cassette: Cassette,
    normalizer: Normalizer,
    rules: dict[str, Rule[TimingEvidence]],
    *,
    unsent: bool = False,
) -> TimingVerdict:
    """Play `script` to a client, and check what it did.

    Args:
        script: the script.
        cassette: the cassette with its bytes.
        normalizer: the client, which takes part in timing.
        rules: the rules to check.
        unsent: whether no server is known to act like this.
    """
    timed = normalizer.timed
    if timed is None:
        raise ValueError(f"{normalizer.name} does not take part in timing")
    first, evidence = _played(script, cassette, normalizer, timed, rules, 1.0, unsent=unsent)
    if not first or normalizer.role == "mutant":  # whose fault is known, on a busy machine too
        return TimingVerdict(tuple(first), _facts(evidence), 1)
    is_busy = evidence.played.late > MOST_LATE or overload() > _MOST_OVERLOAD
    scale = _SLOW_SCALE if is_busy else 1.0
    second, evidence = _played(script, cassette, normalizer, timed, rules, scale, unsent=unsent)
    names = {each.rule for each in first}
    again = tuple(each for each in second if each.rule in names)
    is_late = evidence.played.late > MOST_LATE * scale
    # What a client does in another order than it must does not depend on a clock.
    certain = tuple(it for it in again if not is_late or rules[it.rule].of != "time")
    if certain:
        return TimingVerdict(certain, _facts(evidence), 2)
    why = "a violation in one play did not appear in the next one"
    if is_late:
        why = "this machine was too busy to keep the times of the scenario"
    return TimingVerdict((), _facts(evidence, why), 2)


def _played(  # noqa: PLR0913, PLR0917 - what one play needs
    script: TimingScript,
    cassette: Cassette,
    normalizer: Normalizer,
    timed: TimedClient,
    rules: dict[str, Rule[TimingEvidence]],
    scale: float,
    *,
    unsent: bool,
) -> tuple[list[Finding], TimingEvidence]:
    played, turn = play(script, cassette, timed, scale), script.expect.turn
    content = None
    if turn is not None:
        content = expectation_from(oracle_reading(cassette.interactions[turn]))
    evidence = TimingEvidence(
        script,
        played,
        content,
        normalizer.kind,
        hides_text="text" in normalizer.hides,
        unsent=unsent,
        scale=scale,
    )
    return findings(rules.values(), evidence), evidence


def _facts(evidence: TimingEvidence, why: str = "") -> TimingFacts:
    played = evidence.played
    turn = played.turn
    ended = "answered"
    if turn.failure is not None:
        ended = "failed"
    elif played.hung:
        ended = "hung"
    elif turn.finish is None:
        ended = "left"
    return TimingFacts(ended, len(played.requests), len(turn.tool_calls), why)
