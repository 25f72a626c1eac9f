"""One cell: a cassette through a normalizer, under many chunkings, against what must come out.

The expectation is the scenario's, or for an unlabelled cassette the strict reading's. Blame
comes from those two and never from the normalizer.
"""

from collections.abc import Iterator, Sequence
from functools import cache

import msgspec

from harness.dialects.openai_chat.request import read_request
from harness.judging.blame import blame_of_bytes
from harness.judging.case_of import make_case
from harness.judging.cases import Case
from harness.judging.chunkings import Cuts, chunkings
from harness.judging.expectation import Expectation
from harness.judging.replaying import DEFAULT_LIMITS, Limits, replay
from harness.judging.results import Blame, Finding, Outcome, Replay, Result, TurnFacts
from harness.judging.rules import RULES
from harness.judging.rules.rule import evidence
from harness.judging.scenario import Scenario
from harness.judging.schema_check import Checker
from harness.judging.strict_reading.expect import expectation_from
from harness.judging.strict_reading.openai_chat import strict_reading
from harness.judging.strict_reading.reading import StrictReading
from harness.judging.turn_success import problem_of
from harness.normalizers.protocol import Normalizer
from harness.turns.tools import Tool
from harness.wire.cassette import Cassette
from harness.wire.cuts import WHOLE, Chunking
from harness.wire.interaction import Interaction

CASSETTE_PREFIX = "cassette:"


class Loaded(msgspec.Struct, frozen=True):
    """A subject, loaded: a cassette, and the scenario that labels it where there is one."""

    cassette: Cassette
    scenario: Scenario | None = None

    @property
    def id(self) -> str:
        """The scenario's id, or the cassette's with a prefix."""
        return self.scenario.id if self.scenario else CASSETTE_PREFIX + self.cassette.id


class _Seen(msgspec.Struct):
    """What the replays of one interaction gave."""

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
        return any(finding.level == "MUST" for finding in self.findings)


@cache
def _checker() -> Checker:
    return Checker()


def judge(
    subject: Loaded,
    normalizer: Normalizer,
    *,
    cuts: Cuts = "standard",
    limits: Limits = DEFAULT_LIMITS,
) -> tuple[Result, Case | None]:
    """Judge one cell; the case is there where it does not conform."""
    if not _supported(subject, normalizer):
        return _result(subject, normalizer, ()), None
    seen = tuple(
        _judge_interaction(place, subject, normalizer, cuts, limits)
        for place in range(len(subject.cassette.interactions))
    )
    result = _result(subject, normalizer, seen)
    if result.outcome.conforms:
        return result, None
    failing = seen[result.interaction]
    return result, make_case(
        result.cell,
        failing.place,
        failing.interaction,
        failing.worst,
        failing.expectation,
        normalizer,
    )


def _supported(subject: Loaded, normalizer: Normalizer) -> bool:
    wanted = subject.scenario.capabilities if subject.scenario else ()
    dialect = subject.cassette.dialect in normalizer.dialects
    return dialect and normalizer.capabilities.issuperset(wanted)


def _judge_interaction(
    place: int, subject: Loaded, normalizer: Normalizer, cuts: Cuts, limits: Limits
) -> _Seen:
    interaction = subject.cassette.interactions[place]
    strict = strict_reading(interaction)
    expectation = subject.scenario.expect[place] if subject.scenario else expectation_from(strict)
    whole = replay(normalizer, interaction, WHOLE, limits)
    seen = _Seen(place, interaction, expectation, strict, whole, [], whole, 0)
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


def _note(seen: _Seen, normalizer: Normalizer, candidate: Replay, again: Replay | None) -> None:
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
    if was_fine and seen.broken:
        seen.worst = candidate


_ALWAYS = frozenset(("NO-CRASH", "NO-HANG", "CUT-INVARIANT", "REPEATABLE"))
_OF_MANY = ("CUT-INVARIANT", "REPEATABLE")


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


def _result(subject: Loaded, normalizer: Normalizer, seen: Sequence[_Seen]) -> Result:
    findings = [finding for part in seen for finding in part.findings]
    findings.sort(key=lambda f: (f.level != "MUST", f.outcome.badness, f.rule, f.path))
    outcome = _outcome(seen, findings)
    failing = next((part for part in seen if part.broken), None)
    scenario, cassette = subject.scenario, subject.cassette
    return Result(
        cell=f"{subject.id}/{normalizer.name}",
        scenario=subject.id,
        title=scenario.title if scenario else cassette.id,
        cassette=cassette.id,
        normalizer=normalizer.name,
        outcome=outcome,
        blame=_blame(outcome, subject, seen),
        findings=tuple(findings),
        chunking=_smallest(failing),
        interaction=failing.place if failing else 0,
        replays=sum(part.replays for part in seen),
        turns=tuple(_facts(subject, part) for part in seen),
        quirks=_quirks(subject, seen),
        provider=cassette.provider,
        model=cassette.model,
        prompt=cassette.prompt,
        dialect=cassette.dialect,
        origin=cassette.origin.kind,
    )


def _smallest(failing: _Seen | None) -> Chunking:
    return failing.worst.chunking if failing else WHOLE


def _outcome(seen: Sequence[_Seen], findings: Sequence[Finding]) -> Outcome:
    if not seen:
        return Outcome.UNSUPPORTED
    broken = [finding.outcome for finding in findings if finding.level == "MUST"]
    if broken:
        return min(broken, key=lambda outcome: outcome.badness)
    reported = any(part.whole.turn.parse_errors for part in seen)
    return Outcome.PARSE_ERROR if reported else Outcome.PASS


def _quirks(subject: Loaded, seen: Sequence[_Seen]) -> tuple[str, ...]:
    """Return the scenario's quirks, or those that the strict reading met in the bytes."""
    if subject.scenario:
        return subject.scenario.quirks
    return tuple(sorted({quirk for part in seen for quirk in part.strict.quirks}))


# Blame


def _blame(outcome: Outcome, subject: Loaded, seen: Sequence[_Seen]) -> Blame:
    if outcome in (Outcome.PASS, Outcome.UNSUPPORTED):
        return ""
    if outcome is not Outcome.PARSE_ERROR:
        return "normalizer"
    part = next(part for part in seen if part.whole.turn.parse_errors)
    return _blame_of_turn(subject, part)


def _blame_of_turn(subject: Loaded, part: _Seen) -> Blame:
    """Whose fault a turn is that is no success and that the normalizer read right."""
    if subject.scenario and subject.scenario.blame:
        return subject.scenario.blame
    return blame_of_bytes(part.strict, _tools(subject, part), _checker()) or "normalizer"


def _tools(subject: Loaded, part: _Seen) -> tuple[Tool, ...] | None:
    if subject.scenario and subject.scenario.tools is not None:
        return subject.scenario.tools
    request = read_request(part.interaction.request.body)
    return request.tools if request.tools_known else None


def _facts(subject: Loaded, part: _Seen) -> TurnFacts:
    turn = part.whole.turn
    why = part.whole.error or problem_of(turn, _tools(subject, part), _checker())
    why = "did not end" if part.whole.hung else why
    rejected_wrongly = any(f.rule == "GOOD-CALL-NOT-REJECTED" for f in part.findings)
    blame: Blame = ""
    if why:
        blame = "normalizer" if part.broken else _blame_of_turn(subject, part)
    parse_error_blame: Blame = ""
    if turn.parse_errors:
        parse_error_blame = "normalizer" if rejected_wrongly else _blame_of_turn(subject, part)
    return TurnFacts(
        interaction=part.place,
        success=not why,
        why=why,
        blame=blame,
        calls=len(turn.tool_calls),
        parse_errors=len(turn.parse_errors),
        parse_error_blame=parse_error_blame,
        finish=turn.finish.reason.value if turn.finish else "",
        failure=turn.failure.code if turn.failure else "",
    )
