"""One cell: a cassette through a normalizer, against what must come out -> one result.

The expectation is the scenario's, or for an unlabelled cassette the strict reading's.
"""

from collections.abc import Sequence
from functools import cached_property

import msgspec

from harness.dialects.kit.oracle.reading import OracleReading
from harness.dialects.table import oracle_reading
from harness.judging.blame import blame_of_turn, turn_facts
from harness.judging.case import Case, make_case
from harness.judging.examine import ExaminedTurn, examine
from harness.judging.expected import apply_declared_policies, expectation_from
from harness.judging.replaying import DEFAULT_LIMITS, Cuts, ReplayLimits, deadlines
from harness.judging.results import Blame, Finding, Outcome, Result
from harness.judging.scenario import Scenario
from harness.normalizers.protocol import Normalizer
from harness.wire.cassette import Cassette
from harness.wire.cuts import UNSPLIT, Chunking

CASSETTE_PREFIX = "cassette:"


class LoadedSubject(msgspec.Struct, frozen=True, dict=True):
    """A subject, loaded: a cassette, and the scenario that labels it where there is one."""

    cassette: Cassette
    scenario: Scenario | None = None

    @property
    def id(self) -> str:
        """The scenario's id, or the cassette's with a prefix."""
        return self.scenario.id if self.scenario else CASSETTE_PREFIX + self.cassette.id

    @cached_property
    def strict_readings(self) -> tuple[OracleReading, ...]:
        """What each interaction holds by contract, read once for all normalizers."""
        return tuple(map(oracle_reading, self.cassette.interactions))


def judge_subject(
    subject: LoadedSubject,
    normalizer: Normalizer,
    *,
    cuts: Cuts = "standard",
    limits: ReplayLimits = DEFAULT_LIMITS,
) -> tuple[Result, Case | None]:
    """Judge one cell; the case is there where it does not conform."""
    if not is_supported_by_normalizer(subject, normalizer):
        return _result(subject, normalizer, ()), None
    with deadlines():
        seen = tuple(
            _examine_interaction(place, subject, normalizer, cuts, limits)
            for place in range(len(subject.cassette.interactions))
        )
    result = _result(subject, normalizer, seen)
    if result.outcome.conforms or not seen:  # an empty cassette shows nothing
        return result, None
    failing = seen[result.interaction]
    return result, make_case(
        result.cell,
        failing.place,
        failing.interaction,
        failing.worst,
        failing.expectation,
        normalizer,
        limits,
    )


def is_supported_by_normalizer(subject: LoadedSubject, normalizer: Normalizer) -> bool:
    """Return whether `normalizer` declares all that `subject` asks for."""
    spoken = {interaction.dialect for interaction in subject.cassette.interactions}
    if not spoken <= normalizer.dialects:
        return False
    scenario = subject.scenario
    return scenario is None or (
        scenario.conversation is None and _matches_declarations(normalizer, scenario)
    )


def _matches_declarations(normalizer: Normalizer, scenario: Scenario) -> bool:
    """Whether what the normalizer declares about itself lets it be judged by the scenario."""
    declared = normalizer.policies
    return (
        normalizer.capabilities.issuperset(scenario.capabilities)
        and (not scenario.text_dialect or scenario.text_dialect in normalizer.text_dialects)
        and all(declared.get(name, value) == value for name, value in scenario.policies.items())
    )


def _examine_interaction(
    place: int, subject: LoadedSubject, normalizer: Normalizer, cuts: Cuts, limits: ReplayLimits
) -> ExaminedTurn:
    interaction = subject.cassette.interactions[place]
    strict = subject.strict_readings[place]
    scenario = subject.scenario
    expectation = scenario.expect[place] if scenario else expectation_from(strict)
    expectation = apply_declared_policies(expectation, normalizer.policies)
    return examine(place, interaction, expectation, strict, normalizer, cuts=cuts, limits=limits)


def _result(subject: LoadedSubject, normalizer: Normalizer, seen: Sequence[ExaminedTurn]) -> Result:
    findings = [finding for part in seen for finding in part.findings]
    findings.sort(key=lambda f: (f.level != "MUST", f.outcome.badness, f.rule, f.path))
    outcome = _outcome(seen, findings)
    broken = [part for part in seen if part.broken]
    failing = min(broken, key=lambda part: part.badness) if broken else None
    return msgspec.structs.replace(
        empty_result(subject, normalizer.name),
        outcome=outcome,
        blame=_blame(outcome, subject, seen),
        findings=tuple(findings),
        chunking=_smallest(failing),
        interaction=failing.place if failing else 0,
        replays=sum(part.replays for part in seen),
        turns=tuple(turn_facts(subject.scenario, part) for part in seen),
        quirks=_quirks_of_subject(subject, seen),
    )


def empty_result(subject: LoadedSubject, normalizer: str) -> Result:
    """Return the result of a cell that was not replayed: who and what, and nothing found."""
    scenario, cassette = subject.scenario, subject.cassette
    return Result(
        cell=f"{subject.id}/{normalizer}",
        scenario=subject.id,
        title=scenario.title if scenario else cassette.id,
        cassette=cassette.id,
        normalizer=normalizer,
        outcome=Outcome.UNSUPPORTED,
        blame="",
        findings=(),
        chunking=UNSPLIT,
        interaction=0,
        replays=0,
        turns=(),
        quirks=scenario.quirks if scenario else (),
        provider=cassette.provider,
        model=cassette.model,
        prompt=cassette.prompt,
        dialect=cassette.dialect,
        origin=cassette.origin.kind,
        text_dialect=scenario.text_dialect if scenario else "",
    )


def _smallest(failing: ExaminedTurn | None) -> Chunking:
    return failing.worst.chunking if failing else UNSPLIT


def _outcome(seen: Sequence[ExaminedTurn], findings: Sequence[Finding]) -> Outcome:
    if not seen:
        return Outcome.UNSUPPORTED
    broken = [finding.outcome for finding in findings if finding.level == "MUST"]
    if broken:
        return min(broken, key=lambda outcome: outcome.badness)
    reported = any(part.whole.turn.parse_errors for part in seen)
    return Outcome.PARSE_ERROR if reported else Outcome.PASS


def _quirks_of_subject(subject: LoadedSubject, seen: Sequence[ExaminedTurn]) -> tuple[str, ...]:
    """Return the scenario's quirks, or those that the strict reading met in the bytes."""
    if subject.scenario:
        return subject.scenario.quirks
    return tuple(sorted({quirk for part in seen for quirk in part.strict.quirks}))


def _blame(outcome: Outcome, subject: LoadedSubject, seen: Sequence[ExaminedTurn]) -> Blame:
    if outcome in (Outcome.PASS, Outcome.UNSUPPORTED):
        return ""
    if outcome is not Outcome.PARSE_ERROR:
        return "normalizer"
    part = next(part for part in seen if part.whole.turn.parse_errors)
    return blame_of_turn(subject.scenario, part)
