"""Judge one cell: replay a cassette through a normalizer, and compare with the expected turns.

The scenario specifies the expected turns. Without a scenario, the oracle derives them from bytes.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Literal, TypeAlias

import msgspec

from harness.dialects.table import oracle_reading
from harness.judging.blame import blame_of_turn, request_digest, turn_facts
from harness.judging.evidence import TurnEvidence
from harness.judging.examine import ExaminedTurn, examine
from harness.judging.expected import apply_declarations, expectation_from, hidden_fields
from harness.judging.make_case import make_case
from harness.judging.random_values import sent_ids
from harness.judging.replaying import DEFAULT_LIMITS, Cuts, ReplayLimits, deadlines
from harness.judging.required import shown_capabilities, transport_capabilities
from harness.judging.rules import TIMING_RULES
from harness.judging.scenario import Scenario
from harness.judging.timing.judge import is_told_by, judge_timing
from harness.judging.timing.script import TimingScript
from harness.judging.translation import translate_expectation
from harness.normalizers.protocol import Normalizer
from harness.results.case import Case
from harness.results.expectation import Expectation, Field
from harness.results.finding import LEVELS, Finding, lower
from harness.results.outcome import Blame, Outcome
from harness.results.result import CASSETTE_PREFIX, Result, TurnFacts, body_digest
from harness.results.scenario_evidence import ScenarioEvidence, evidence_rank, is_own
from harness.turns.oracle_reading import OracleReading
from harness.wire.cassette import Cassette
from harness.wire.cuts import UNSPLIT
from harness.wire.interaction import Interaction
from harness.workers import process_limits

# What happens to turns whose evidence is `own`: judged as all others (clients of this repository),
# judged with SHOULD as the highest level, or left out.
OwnTurns: TypeAlias = Literal["judged", "lowered", "left out"]


class LoadedSubject(msgspec.Struct, frozen=True, dict=True):
    """The loaded subject of a cell: a cassette, and the scenario for it, or None."""

    cassette: Cassette
    scenario: Scenario | None = None

    @property
    def id(self) -> str:
        """The id of the scenario, or `cassette:` and the id of the cassette."""
        return self.scenario.id if self.scenario else CASSETTE_PREFIX + self.cassette.id

    @property
    def evidence(self) -> ScenarioEvidence | None:
        """What shows that a server sends the stream; a recording is its own evidence."""
        stated = self.scenario.evidence if self.scenario else None
        if stated is None and self.cassette.origin.kind != "emulated":
            return ScenarioEvidence("recorded", self.cassette.id)
        return stated

    def is_own_turn(self, index: int) -> bool:
        """Return whether no server is known to send the stream of the turn at `index`."""
        return is_own(self.expectations[index].evidence or self.evidence)

    @cached_property
    def oracle_readings(self) -> tuple[OracleReading, ...]:
        """The oracle's reading of each interaction, computed once."""
        return tuple(map(oracle_reading, self.cassette.interactions))

    @cached_property
    def expectations(self) -> tuple[Expectation, ...]:
        """The expected turn of each interaction, from the scenario, or else from the oracle."""
        if self.scenario:
            return self.scenario.expect
        return tuple(map(expectation_from, self.oracle_readings))

    @cached_property
    def required_capabilities(self) -> frozenset[str]:
        """The capabilities that a normalizer needs, from the scenario, or else from the bytes."""
        interactions = self.cassette.interactions
        transport = transport_capabilities(interactions)
        if self.scenario:
            return transport.union(self.scenario.capabilities)
        return transport | shown_capabilities(interactions, self.oracle_readings)


def judge_subject(  # noqa: PLR0913 - options, by keyword
    subject: LoadedSubject,
    normalizer: Normalizer,
    *,
    cuts: Cuts = "standard",
    limits: ReplayLimits = DEFAULT_LIMITS,
    shows_turns: bool = False,
    own: OwnTurns = "judged",
) -> tuple[Result, Case | None]:
    """Judge one cell; return its result, and the case of a failing cell, else None.

    Args:
        subject: a scenario or a recording.
        normalizer: the client under test.
        cuts: the mode of the chunkings to replay.
        limits: the limits of each replay.
        shows_turns: whether to return a case also if the cell conforms but a turn failed.
        own: what happens to turns that no server is known to send.
    """
    bare = empty_result(subject, normalizer.name)
    if not subject.cassette.interactions or not is_supported_by_normalizer(subject, normalizer):
        return bare, None
    if subject.scenario is not None and subject.scenario.timing is not None:
        return _judged_timing(bare, subject, subject.scenario.timing, normalizer, own), None
    if normalizer.link is not None:
        normalizer.link.prepare()
    with deadlines():
        parts = _examined_turns(subject, normalizer, cuts, limits, own)
    process_limits.renew_for_work()
    if reason := _not_played_reason(parts):
        return msgspec.structs.replace(bare, unsupported=reason), None
    result = _judged_turns(bare, subject, parts, hides=bool(hidden_fields(normalizer)))
    shown = _shown_turn(result, shows_turns=shows_turns)
    cases = (make_case(result.cell, part, limits) for part in parts if part.evidence.index == shown)
    return result, next(cases, None)


def _judged_timing(
    bare: Result,
    subject: LoadedSubject,
    script: TimingScript,
    normalizer: Normalizer,
    own: OwnTurns,
) -> Result:
    unsent = own != "judged" and is_own(subject.evidence)
    if unsent and own == "left out":
        return bare
    with deadlines():
        found = judge_timing(script, subject.cassette, normalizer, TIMING_RULES, unsent=unsent)
    process_limits.renew_for_work()
    judged = with_findings(
        bare, found.findings, parse_errors=False, blame=lambda: "", judged=not found.why
    )
    return msgspec.structs.replace(judged, replays=found.plays, timing=found.facts)


def _not_played_reason(parts: Iterable[ExaminedTurn]) -> str:
    """Return why a gateway was not sent a response of the cell; "" if it was sent all."""
    exchanges = (part.whole.exchange for part in parts)
    return next((each.not_played for each in exchanges if each and each.not_played), "")


def _shown_turn(result: Result, *, shows_turns: bool) -> int | None:
    """Return the index of the interaction that the case shows; None if there is no case."""
    if result.outcome.fails:
        return result.interaction
    failed = (turn.interaction for turn in result.turns if not turn.success)
    return next(failed, None) if shows_turns else None


def is_supported_by_normalizer(subject: LoadedSubject, normalizer: Normalizer) -> bool:
    """Return whether `normalizer` declares support for all that `subject` requires."""
    dialects = {interaction.dialect for interaction in subject.cassette.interactions}
    scenario, declared = subject.scenario, normalizer.policies
    return (
        dialects <= normalizer.dialects
        and normalizer.only <= subject.required_capabilities <= normalizer.capabilities
        and (
            scenario is None
            or (
                scenario.conversation is None
                and (not scenario.text_dialect or scenario.text_dialect in normalizer.text_dialects)
                and (scenario.timing is None or is_told_by(scenario.timing, normalizer))
                and scenario.allows(declared)
            )
        )
    )


def _examined_turns(
    subject: LoadedSubject, normalizer: Normalizer, cuts: Cuts, limits: ReplayLimits, own: OwnTurns
) -> tuple[ExaminedTurn, ...]:
    parts: list[ExaminedTurn] = []
    generated: dict[int, tuple[bytes, set[str]]] = {}  # body of each request, ids for its response
    for index, interaction in enumerate(subject.cassette.interactions):
        unsent = own != "judged" and subject.is_own_turn(index)
        if unsent and own == "left out":
            continue
        body = interaction.request.body
        earlier = {
            each: at
            for at, (other, ids) in reversed(generated.items())
            # The same response to the same request may have the same ids.
            if other != body
            for each in ids
        }
        oracle = subject.oracle_readings[index]
        expectation = apply_declarations(subject.expectations[index], normalizer)
        expectation = translate_expectation(expectation, interaction, normalizer)
        part = examine(
            index,
            interaction,
            expectation,
            oracle,
            normalizer,
            cuts=cuts,
            limits=limits,
            earlier=earlier,
            unsent=unsent,
        )
        parts.append(part)
        generated[index] = body, _generated_ids(part.evidence)
    return tuple(parts)


def _generated_ids(evidence: TurnEvidence) -> set[str]:
    ids = [call.id for call in evidence.whole.turn.tool_calls]
    return set(ids) - sent_ids(ids, [evidence.interaction.body])


def _judged_turns(
    bare: Result, subject: LoadedSubject, parts: Sequence[ExaminedTurn], *, hides: bool
) -> Result:
    """Return the result of a cell; `hides` says whether the client does not expose all fields."""
    scenario = subject.scenario
    reported = [part for part in parts if part.whole.turn.parse_errors]
    broken = [part for part in parts if part.broken]
    worst = min(broken, key=lambda part: part.badness) if broken else None
    quirks = tuple(sorted({it for part in parts for it in part.evidence.oracle.quirks}))
    turns = tuple(turn_facts(scenario, part) for part in parts)
    examined = {part.evidence.index for part in parts}
    judged = with_findings(
        msgspec.structs.replace(bare, turns=turns, quirks=scenario.quirks if scenario else quirks),
        (finding for part in parts for finding in part.findings),
        parse_errors=bool(reported),
        blame=lambda: blame_of_turn(scenario, reported[0]),
        judged=any("calls" not in turn.ambiguous for turn in turns)
        and not (hides and all(map(_has_nothing_to_show, parts))),
    )
    return msgspec.structs.replace(
        judged,
        chunking=worst.worst.chunking if worst else UNSPLIT,
        interaction=worst.evidence.index if worst else 0,
        replays=sum(part.replays for part in parts),
        left_out=tuple(
            each for each in range(len(subject.cassette.interactions)) if each not in examined
        ),
    )


def _has_nothing_to_show(part: ExaminedTurn) -> bool:
    """Return whether a client that emits nothing would conform, because it hides the rest."""
    expected = part.evidence.expectation
    values: dict[Field, object] = {
        "text": expected.text,
        "reasoning": expected.reasoning,
        "calls": expected.calls,
        "rejected": expected.rejected,
        "failure": expected.failure,
        "finish": expected.finish,
    }
    return not any(value for field, value in values.items() if field in expected.judged)


def with_findings(
    result: Result,
    found: Iterable[Finding],
    *,
    parse_errors: bool,
    blame: Callable[[], Blame],
    judged: bool = True,
) -> Result:
    """Return `result` with findings, the worst first, and with their outcome and blame.

    Of findings with one outcome, those with the best evidence come first.

    Args:
        result: the result of the cell with its turns, without findings.
        found: the findings.
        parse_errors: whether the client reported a parse error.
        blame: a function that returns the party to blame for a parse error.
        judged: whether the cell may conform: False if the calls of no turn were judged.
    """

    def rank(finding: Finding) -> tuple[int, int, float, str, str]:
        evidence = evidence_rank(result.evidence_of(finding))
        badness = finding.outcome.badness
        return LEVELS.index(finding.level), badness, evidence, finding.rule, finding.path

    ordered = sorted(found, key=rank)
    if ordered and ordered[0].level == "MUST":
        outcome = ordered[0].outcome
    elif judged:
        outcome = Outcome.PARSE_ERROR if parse_errors else Outcome.PASS
    else:
        outcome = Outcome.UNJUDGED
    party: Blame = "normalizer" if outcome.fails else ""
    return msgspec.structs.replace(
        result,
        outcome=outcome,
        blame=blame() if outcome is Outcome.PARSE_ERROR else party,
        findings=tuple(ordered),
    ).with_cause()


def empty_result(subject: LoadedSubject, normalizer: str) -> Result:
    """Return a result for a cell without replays and findings: its outcome is `unsupported`.

    Args:
        subject: the subject of the cell.
        normalizer: the name of the normalizer.
    """
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
        evidence=subject.evidence,
        kind="timing" if scenario is not None and scenario.timing is not None else "turns",
    )


def crashed_result(
    subject: LoadedSubject, normalizer: str, reason: str, own: OwnTurns = "judged"
) -> Result:
    """Return the result of a cell whose normalizer ended its process.

    Args:
        subject: the subject of the cell.
        normalizer: the name of the normalizer.
        reason: how the process ended.
        own: as in `judge_subject`. If the level of some turns is lowered, that of the cell is.
    """
    finding = Finding("NO-CRASH", "MUST", Outcome.CRASH, "replay", "no exception", reason)
    if own == "lowered" and any(map(subject.is_own_turn, range(len(subject.expectations)))):
        finding = lower(finding)
    bare = empty_result(subject, normalizer)
    return msgspec.structs.replace(
        with_findings(bare, [finding], parse_errors=False, blame=lambda: "normalizer"),
        turns=()
        if bare.kind == "timing"
        else tuple(
            _crashed_turn(index, each, reason)
            for index, each in enumerate(subject.cassette.interactions)
        ),
    )


def _crashed_turn(index: int, interaction: Interaction, reason: str) -> TurnFacts:
    """Return the facts about a turn whose client ended its process, so that it is not a success."""
    return TurnFacts(
        interaction=index,
        success=False,
        why=reason,
        blame="normalizer",
        calls=0,
        parse_errors=0,
        parse_error_blame="",
        finish="",
        failure="",
        digest=body_digest(interaction.body),
        asked=request_digest(interaction.request),
    )
