"""Actions of the client in Responses streams: typed calls, and no calls of functions.

Without a scenario they may also be rejected, because a normalizer need not have such a type.
"""

from collections.abc import Iterable, Iterator

import pytest

from harness.judging.judge import LoadedSubject, judge_subject
from harness.results.outcome import Outcome
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
LOST = (Outcome.LOST_CALL, "normalizer")
WRONG = (Outcome.SILENT_WRONG, "normalizer")


@pytest.mark.parametrize(
    ("kind", "arguments", "error", "with_scenario", "without"),
    [
        ("action", COMMAND, None, ACTION_PASSES, ACTION_PASSES),
        ("action", COMMAND.replace(" ", ""), None, ACTION_PASSES, ACTION_PASSES),
        ("action", "", ParseError("tool_use", "no tool", "", "call_a", "local_shell"),
         LOST, REJECTION_CONFORMS),
        ("action", COMMAND.replace("date", "rm"), None, WRONG, WRONG),
        ("action", "[1]", None, WRONG, WRONG),
        ("function", COMMAND, None, WRONG, WRONG),
    ],
)  # fmt: skip
def test_an_action_is_a_typed_call(
    kind: CallKind,
    arguments: str,
    error: ParseError | None,
    with_scenario: tuple[Outcome, str],
    without: tuple[Outcome, str],
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
    tested = a_normalizer(
        normalize,
        dialects=frozenset(("openai-responses",)),
        capabilities=frozenset(("client-actions",)),
        streams=False,
    )
    for scenario, expected in ((shipped.scenario, with_scenario), (None, without)):
        result, _ = judge_subject(LoadedSubject(shipped.cassette, scenario), tested, cuts="whole")
        assert (result.outcome, result.blame) == expected
        assert (result.turns[0].why == "") == (result.outcome is Outcome.PASS)
