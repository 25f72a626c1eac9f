"""Results, cases and runs for the tests of `harness.runs`."""

from collections.abc import Iterable

from harness.results.case import Case
from harness.results.expectation import Field
from harness.results.finding import Finding
from harness.results.outcome import Outcome
from harness.results.result import Result, TurnFacts
from harness.results.run import SCHEMA, Footer, Header, NormalizerFacts, Run, Selection
from harness.turns.turn import Turn


def a_header(*names: str, scenarios: int = 1) -> Header:
    return Header(
        schema=SCHEMA,
        harness="0.1.0",
        normalizers=tuple(NormalizerFacts(name) for name in names or ("reference",)),
        selection=Selection(("scenarios",), "standard"),
        command=("harness", "run", "scenarios"),
        scenario_count=scenarios,
    )


def a_turn(  # noqa: PLR0913 - a row has many columns
    interaction: int = 0,
    *,
    success: bool = True,
    parse_errors: int = 0,
    blame: str = "",
    digest: str = "",
    unjudged: dict[Field, str] | None = None,
) -> TurnFacts:
    return TurnFacts(
        interaction=interaction,
        success=success,
        why="" if success else "it failed",
        blame=blame,  # type: ignore[arg-type]  # a Blame, spelled by the test
        calls=1,
        parse_errors=parse_errors,
        parse_error_blame=blame if parse_errors else "",  # type: ignore[arg-type]  # as above
        finish="stop",
        failure="",
        digest=digest,
        unjudged=unjudged or {},
    )


def a_finding(rule: str, outcome: Outcome = Outcome.LOST_CALL, **other: str) -> Finding:
    level, raised = other.get("level", "MUST"), other.get("raised", "")
    return Finding(rule, level, outcome, "turns[0]", "a", "b", raised=raised)  # type: ignore[arg-type]  # a Level


def a_result(  # noqa: PLR0913 - a row has many columns
    scenario: str = "area/one",
    normalizer: str = "reference",
    *,
    outcome: Outcome = Outcome.PASS,
    cassette: str = "",
    model: str = "m",
    prompt: str = "p",
    origin: str = "recorded",
    turns: tuple[TurnFacts, ...] = (),
    findings: tuple[Finding, ...] = (),
    quirks: tuple[str, ...] = (),
    replays: int = 3,
    text_dialect: str = "",
) -> Result:
    result = Result(
        cell=f"{scenario}/{normalizer}",
        scenario=scenario,
        title="A title",
        cassette=cassette or scenario,
        normalizer=normalizer,
        outcome=outcome,
        blame="",
        findings=findings,
        chunking=(1, 2),
        interaction=0,
        replays=replays,
        turns=turns or (a_turn(),),
        quirks=quirks,
        provider="x",
        model=model,
        prompt=prompt,
        dialect="openai-chat",
        origin=origin,
        text_dialect=text_dialect,
    )
    return result.with_cause()


def a_case(cell: str) -> Case:
    return Case(
        cell=cell,
        interaction=0,
        body=b"data: \xff\x00\n\n",
        chunking=(1, 2),
        frames=(),
        deltas=(),
        reference=(),
        error="",
        expected=None,
        actual=Turn(text="\u2028"),
    )


def a_run(results: Iterable[Result], *names: str, interrupted: bool = False) -> Run:
    rows = tuple(sorted(results, key=lambda result: result.cell))
    footer = Footer(len(rows), sum(row.replays for row in rows), interrupted, int(interrupted))
    return Run(a_header(*names), rows, {}, footer)
