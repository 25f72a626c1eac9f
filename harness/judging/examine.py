"""Replay one interaction of a cell under many chunkings, and check each replay by the rules.

Rules about turns check the replay of the unsplit body. If a replay under other cuts differs from
it, that is one finding, with the outcome of the difference. So one fault is reported once, and not
for each of forty chunkings.
"""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from harness.judging.evidence import TurnEvidence
from harness.judging.replaying import Cuts, ReplayLimits, iter_chunkings, replay
from harness.judging.rule import findings
from harness.judging.rules import TURN_RULES
from harness.normalizers.protocol import Normalizer
from harness.results.expectation import Expectation
from harness.results.finding import Finding
from harness.results.outcome import Outcome
from harness.results.replay import Replay
from harness.turns.oracle_reading import OracleReading
from harness.turns.turn import Turn
from harness.wire.cuts import UNSPLIT, Chunking
from harness.wire.interaction import Interaction
from harness.workers import process_limits

_TIME_RULES = tuple(rule for rule in TURN_RULES.values() if rule.of == "time")
_DELTA_RULES = tuple(rule for rule in TURN_RULES.values() if rule.of in ("deltas", "time"))
_FINE = len(Outcome)
_NO_IDS: Final[Mapping[str, int]] = {}


class ExaminedTurn(msgspec.Struct):
    """The findings of all replays of one interaction, and the worst replay.

    Fields:
        evidence: the evidence of the replay of the unsplit body.
        worst: the replay with the worst violation of a MUST rule. Among equally bad replays, it is
            the one with the fewest cuts. Without a violation, it is the one of the unsplit body.
        findings: the distinct findings of all replays.
        replays: the number of replays.
        badness: the badness of the worst outcome of `worst`; smaller is worse.
        violated: a MUST rule that the replay of the unsplit body violates; "" if there is none.
    """

    evidence: TurnEvidence
    worst: Replay
    findings: list[Finding] = []
    replays: int = 0
    badness: int = _FINE
    violated: str = ""

    @property
    def whole(self) -> Replay:
        """The replay of the unsplit body."""
        return self.evidence.whole

    @property
    def broken(self) -> bool:
        """Whether any replay violated a MUST rule."""
        return any(finding.level == "MUST" for finding in self.findings)

    def is_as_bad(self, other: Replay) -> bool:
        """Return whether `other` violates MUST rules at least as badly as the worst replay."""
        evidence = msgspec.structs.replace(self.evidence, replay=other, whole=other)
        return min(map(_badness, _findings(evidence)), default=_FINE) <= self.badness

    def add(self, evidence: TurnEvidence) -> None:
        """Add the findings of one replay. If an equal violation is known, keep the worse one."""
        found = _findings(evidence)
        self.replays += 1
        if not found:
            return
        known = {(each.rule, each.path): place for place, each in enumerate(self.findings)}
        for each in found:
            place = known.get((each.rule, each.path))
            if place is None:
                self.findings.append(each)
            elif each.outcome.badness < self.findings[place].outcome.badness:
                self.findings[place] = each
        must = [each for each in found if each.level == "MUST"]
        if not must:
            return
        replayed = evidence.replay
        if replayed is self.whole:
            self.violated = must[0].rule
        badness = min(finding.outcome.badness for finding in must)
        fewer_cuts = evidence.again is None and len(replayed.chunking) < len(self.worst.chunking)
        if badness < self.badness or (badness == self.badness and fewer_cuts):
            self.badness = badness
            self.worst = replayed


def _badness(finding: Finding) -> int:
    return finding.outcome.badness if finding.level == "MUST" else _FINE


def examine(  # noqa: PLR0913 - one call site, which names each
    index: int,
    interaction: Interaction,
    expectation: Expectation,
    oracle: OracleReading,
    normalizer: Normalizer,
    *,
    cuts: Cuts | tuple[Chunking, ...],
    limits: ReplayLimits,
    earlier: Mapping[str, int] = _NO_IDS,
    unsent: bool = False,
) -> ExaminedTurn:
    """Replay one interaction through `normalizer` and check each replay by the rules.

    If several turns are correct, it compares with the one closest to the turn of the unsplit body.
    If the turn may fail and did, it compares with the expected failed turn.
    It replays the unsplit body first and again at the end, whatever `cuts` are.

    Args:
        index: the index of the interaction in the cassette.
        interaction: the interaction.
        expectation: the expected turn.
        oracle: the oracle's reading of the bytes.
        normalizer: the client under test.
        cuts: the mode of the chunkings, or the chunkings to replay.
        limits: the limits of each replay.
        earlier: ids that the client generated for earlier responses -> index of the response.
        unsent: as in `TurnEvidence`.
    """
    whole = replay(normalizer, interaction, UNSPLIT, limits)
    failed = whole.reports_failure and (expectation.may_fail or interaction.broken)
    expected = (
        each.failed() if failed and each.failure is None else each for each in expectation.readings
    )
    readings = [
        TurnEvidence(
            *(index, interaction, normalizer, each, oracle, whole, whole),
            earlier=earlier,
            unsent=unsent,
        )
        for each in expected
    ]
    first = min(readings, key=_distance) if len(readings) > 1 else readings[0]
    examined = ExaminedTurn(first, whole)
    for evidence in _iter_evidence(first, cuts, limits):
        examined.add(evidence)
        if evidence.replay.hung:
            return examined  # each further replay would take its whole time limit
    _find_fewer_cuts(examined, limits)
    return examined


def _find_fewer_cuts(examined: ExaminedTurn, limits: ReplayLimits) -> None:
    """Halve the cuts of the worst replay as long as one half gives as bad a result."""
    first, cuts = examined.evidence, examined.worst.chunking
    while len(cuts) > 1:
        middle = len(cuts) // 2
        for half in (cuts[:middle], cuts[middle:]):
            other = replay(first.normalizer, first.interaction, half, limits)
            examined.add(msgspec.structs.replace(first, replay=other))
            if examined.worst is other:
                break
        else:
            return
        if other.hung:
            return
        cuts = half


def _distance(evidence: TurnEvidence) -> tuple[bool, bool, int, int, int]:
    """Return a sort key: how far the replay is from one of several turns that are correct.

    These are whether it violates a MUST rule, whether the client had to report a failure and did
    not, the number of violated MUST rules, their worst outcome, and all violations. A client that
    reports no failure follows a turn that does not fail, and has lost what that contains.
    """
    found = _findings(evidence)
    must = [finding for finding in found if finding.level == "MUST"]
    is_silent = any(finding.rule == "FAILURE-REPORTED" for finding in must)
    worst = max((_FINE - finding.outcome.badness for finding in must), default=0)
    return bool(must), is_silent, len(must), worst, len(found)


def _iter_evidence(
    first: TurnEvidence, cuts: Cuts | tuple[Chunking, ...], limits: ReplayLimits
) -> Iterator[TurnEvidence]:
    """Yield the evidence of each replay; the unsplit body comes first and again at the end."""
    yield first
    for chunking in iter_chunkings(first.interaction, cuts) if isinstance(cuts, str) else cuts:
        if chunking:
            other = replay(first.normalizer, first.interaction, chunking, limits)
            yield msgspec.structs.replace(first, replay=other)
    again = replay(first.normalizer, first.interaction, UNSPLIT, limits)
    yield msgspec.structs.replace(first, replay=again, again=again)


def _findings(evidence: TurnEvidence) -> list[Finding]:
    whole, other = evidence.whole, evidence.replay
    stopped = whole.error or whole.hung or other.error or other.hung
    if other is whole or stopped or other.turn != whole.turn:
        process_limits.renew_for_work()
    if other is whole:
        return findings(TURN_RULES.values(), evidence)
    if stopped or other.turn != whole.turn:
        return _merge_variance(findings(TURN_RULES.values(), evidence), whole, other)
    # Almost all replays end with the turn of the unsplit body, so this decides what judging costs.
    return findings(_TIME_RULES if _has_same_deltas(whole, other) else _DELTA_RULES, evidence)


def _has_same_deltas(whole: Replay, other: Replay) -> bool:
    return [each.delta for each in whole.emissions] == [each.delta for each in other.emissions]


def _merge_variance(found: list[Finding], whole: Replay, other: Replay) -> list[Finding]:
    """Return the findings for a replay that differs from the replay of the unsplit body.

    These are one finding with the outcome of the difference, and the findings of rules about single
    deltas and times, which a turn does not show.
    """
    variance = [finding for finding in found if TURN_RULES[finding.rule].of == "many"]
    rest = [finding for finding in found if TURN_RULES[finding.rule].of in ("deltas", "time")]
    if not variance:
        return rest
    outcomes = [finding.outcome for finding in found if finding.level == "MUST"]
    outcomes.append(_outcome_of_difference(whole.turn, other.turn))
    worst = min(outcomes, key=lambda outcome: outcome.badness)
    if other.hung:
        worst = Outcome.HANG
    return [msgspec.structs.replace(finding, outcome=worst) for finding in variance] + rest


def _outcome_of_difference(whole: Turn, other: Turn) -> Outcome:
    """Return the outcome of a difference between the turns of two replays."""
    before = {(call.name, call.arguments) for call in whole.tool_calls}
    after = {(call.name, call.arguments) for call in other.tool_calls}
    if after - before:
        return Outcome.SILENT_WRONG
    return Outcome.LOST_CALL if before - after else Outcome.MISMATCH
