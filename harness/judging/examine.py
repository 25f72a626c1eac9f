"""One interaction of a cell: replayed under many chunkings, each replay held to every rule.

Turn rules look at the whole body's replay. What differs under other cuts is one finding, as
bad as the difference is, so that one fault of a normalizer is not told forty times.
"""

from collections.abc import Iterator

import msgspec

from harness.dialects.kit.oracle.reading import OracleReading
from harness.judging.expectation import Expectation
from harness.judging.replaying import Cuts, ReplayLimits, iter_chunkings, replay
from harness.judging.results import Finding, Outcome, Replay
from harness.judging.rule import TurnEvidence, turn_evidence
from harness.judging.rules import RULES, deltas
from harness.normalizers.protocol import Normalizer
from harness.turns.turn import Turn
from harness.wire.cuts import UNSPLIT, Chunking
from harness.wire.interaction import Interaction

# A replay that stopped in the middle is judged by these alone.
_ALWAYS = frozenset(("NO-CRASH", "NO-HANG", "CUT-INVARIANT", "REPEATABLE"))
_OF_MANY = ("CUT-INVARIANT", "REPEATABLE")
# These look at the deltas one by one and hold for each replay alone.
_OF_TIME = frozenset(("TEXT-PROMPT", "TEXT-HELD-BACK"))
_OF_DELTAS = frozenset((*(rule.id for rule in deltas.RULES), "END-ONCE", *_OF_TIME))
_TIME_RULES = tuple(rule for rule in RULES.values() if rule.id in _OF_TIME)
_DELTA_RULES = tuple(rule for rule in RULES.values() if rule.id in _OF_DELTAS)
_FINE = len(Outcome)


class ExaminedTurn(msgspec.Struct):
    """What the replays of one interaction gave.

    Fields:
        place: of the interaction in its cassette.
        whole: the replay of the whole body in one read.
        worst: the replay that breaks a MUST worst, with the fewest cuts; `whole` where none
            does.
        badness: of that replay's worst outcome; smaller is worse.
        broken_whole: a MUST rule that the replay of the whole body breaks; "" where none.
        first: what the rules saw of that replay.
    """

    place: int
    interaction: Interaction
    expectation: Expectation
    strict: OracleReading
    whole: Replay
    findings: list[Finding]
    worst: Replay
    replays: int
    badness: int = _FINE
    broken_whole: str = ""
    first: TurnEvidence | None = None

    @property
    def broken(self) -> bool:
        """Whether a MUST rule was broken."""
        return any(finding.level == "MUST" for finding in self.findings)


def examine(  # noqa: PLR0913 - one call site, which names each
    place: int,
    interaction: Interaction,
    expectation: Expectation,
    strict: OracleReading,
    normalizer: Normalizer,
    *,
    cuts: Cuts | tuple[Chunking, ...],
    limits: ReplayLimits,
) -> ExaminedTurn:
    """Replay one interaction through `normalizer` and hold it to the rules.

    The whole body is replayed first and once more at the end, whatever `cuts` are.
    """
    whole = replay(normalizer, interaction, UNSPLIT, limits)
    seen = ExaminedTurn(place, interaction, expectation, strict, whole, [], whole, 0)
    for candidate, again in _replays(interaction, normalizer, whole, cuts, limits):
        seen.replays += 1
        _add_findings(seen, normalizer, candidate, again)
        if candidate.hung:
            break  # each further replay would take its whole time limit
    return seen


def _replays(
    interaction: Interaction,
    normalizer: Normalizer,
    whole: Replay,
    cuts: Cuts | tuple[Chunking, ...],
    limits: ReplayLimits,
) -> Iterator[tuple[Replay, Replay | None]]:
    """Yield the replays, the whole body first and once more at the end."""
    yield whole, None
    for chunking in iter_chunkings(interaction, cuts) if isinstance(cuts, str) else cuts:
        if chunking:
            yield replay(normalizer, interaction, chunking, limits), None
    again = replay(normalizer, interaction, UNSPLIT, limits)
    yield again, again


def _add_findings(
    seen: ExaminedTurn, normalizer: Normalizer, candidate: Replay, again: Replay | None
) -> None:
    """Add what is new about one replay to what was found."""
    first = candidate is seen.whole
    if seen.first is not None and _same_end(seen.whole, candidate):
        found = _findings_of_cuts(seen.first, candidate)
    else:
        found = _findings_of_all(seen, normalizer, candidate, again)
    if not found:
        return
    known = {(finding.rule, finding.path) for finding in seen.findings}
    seen.findings += [each for each in found if (each.rule, each.path) not in known]
    badness = min((f.outcome.badness for f in found if f.level == "MUST"), default=None)
    if badness is None:
        return
    if first:
        seen.broken_whole = next(f.rule for f in found if f.level == "MUST")
    fewer_cuts = again is None and len(candidate.chunking) < len(seen.worst.chunking)
    if badness < seen.badness or (badness == seen.badness and fewer_cuts):
        seen.badness = badness
        seen.worst = candidate


def _same_end(whole: Replay, candidate: Replay) -> bool:
    """Whether both came to an end, and to the same turn."""
    stopped = whole.error or whole.hung or candidate.error or candidate.hung
    return not stopped and candidate.turn == whole.turn


def _findings_of_cuts(first: TurnEvidence, candidate: Replay) -> list[Finding]:
    """Hold a replay with the turn of the whole body's to the rules that may yet differ.

    Almost all replays are such, so this decides what judging costs.
    """
    at_hand = msgspec.structs.replace(first, replay=candidate)
    rules = _TIME_RULES if _same_deltas(first.whole, candidate) else _DELTA_RULES
    return [finding for rule in rules for finding in rule.findings(at_hand)]


def _same_deltas(whole: Replay, candidate: Replay) -> bool:
    return [each.delta for each in whole.emissions] == [each.delta for each in candidate.emissions]


def _findings_of_all(
    seen: ExaminedTurn, normalizer: Normalizer, candidate: Replay, again: Replay | None
) -> list[Finding]:
    at_hand = turn_evidence(
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
    if candidate is seen.whole:
        seen.first = at_hand
        return found
    return _merge_into_variance(found, seen.whole, candidate)


def _merge_into_variance(found: list[Finding], whole: Replay, candidate: Replay) -> list[Finding]:
    """A replay that differs from the whole body's breaks one rule, as badly as it differs.

    What a rule says of the deltas themselves stays, since no turn shows it.
    """
    variance = [finding for finding in found if finding.rule in _OF_MANY]
    rest = [finding for finding in found if finding.rule in _OF_DELTAS]
    if not variance:
        return rest
    outcomes = [finding.outcome for finding in found if finding.level == "MUST"]
    outcomes.append(_outcome_of_difference(whole.turn, candidate.turn))
    worst = min(outcomes, key=lambda outcome: outcome.badness)
    if candidate.hung:
        worst = Outcome.HANG
    return [msgspec.structs.replace(finding, outcome=worst) for finding in variance] + rest


def _outcome_of_difference(whole: Turn, other: Turn) -> Outcome:
    """How bad it is that the calls of one turn are not those of the other."""
    before = {(call.name, call.arguments) for call in whole.tool_calls}
    after = {(call.name, call.arguments) for call in other.tool_calls}
    if after - before:
        return Outcome.SILENT_WRONG
    return Outcome.LOST_CALL if before - after else Outcome.MISMATCH
