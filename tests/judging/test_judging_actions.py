"""Actions of the client in Responses streams: typed or rejected, and no calls of functions."""

from collections.abc import Iterable, Iterator

import pytest

from harness.judging.judge import LoadedSubject, judge_subject
from harness.judging.results import Outcome
from harness.judging.scenario import Scenario
from harness.turns.deltas import (
    ArgumentsDelta,
    CallKind,
    Delta,
    Finish,
    FinishReason,
    ParseError,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
)
from tests.judging.judging_samples import a_normalizer, shipped_subjects

COMMAND = '{"type": "exec", "command": ["date"], "env": {}}'
ACTION_PASSES = (Outcome.PASS, "")
REJECTION_CONFORMS = (Outcome.PARSE_ERROR, "normalizer")
WRONG = (Outcome.SILENT_WRONG, "normalizer")


@pytest.mark.parametrize("labelled", [True, False])
@pytest.mark.parametrize(
    ("kind", "arguments", "error", "expected"),
    [
        ("action", COMMAND, None, ACTION_PASSES),
        ("action", "", ParseError("tool_use", "no tool", "", "call_a", "local_shell"),
         REJECTION_CONFORMS),
        ("action", COMMAND.replace("date", "rm"), None, WRONG),
        ("function", COMMAND, None, WRONG),
    ],
)  # fmt: skip
def test_an_action_is_typed_or_rejected(
    kind: CallKind,
    arguments: str,
    error: ParseError | None,
    expected: tuple[Outcome, str],
    labelled: bool,  # noqa: FBT001 - drawn
) -> None:
    def normalize(reads: Iterable[bytes]) -> Iterator[Delta]:
        for _ in reads:
            pass
        yield ToolCallStart(0, "call_a", "local_shell", kind)
        if arguments:
            yield ArgumentsDelta(0, arguments)
        yield ToolCallRejected(0, error) if error else ToolCallEnd(0)
        yield Finish(FinishReason.TOOL_CALLS, "completed")

    (shipped,) = (it for it in shipped_subjects() if it.id == "openai-responses/local-shell")
    scenario: Scenario | None = shipped.scenario if labelled else None
    tested = a_normalizer(normalize, dialects=frozenset(("openai-responses",)), streams=False)
    result, _ = judge_subject(LoadedSubject(shipped.cassette, scenario), tested, cuts="whole")
    outcome, blame = expected
    if scenario is not None and outcome is Outcome.PARSE_ERROR:
        blame = scenario.blame or blame
    assert (result.outcome, result.blame) == (outcome, blame)
    assert (result.turns[0].why == "") == (result.outcome is Outcome.PASS)
