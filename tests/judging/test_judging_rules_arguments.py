"""Rules about arguments: what a parse error quotes is what came, with any escapes."""

import pytest

from harness.dialects.kit.dialect import Dialect
from harness.dialects.table import DIALECTS, oracle_reading
from harness.judging.examine import examine
from harness.judging.judge import LoadedSubject, judge_subject
from harness.judging.replaying import DEFAULT_LIMITS
from harness.results.expectation import Expectation, ExpectedRejection
from harness.results.outcome import Outcome
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ParseError,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
    call_deltas,
)
from harness.wire.interaction import Interaction
from tests.judging.judging_samples import (
    DONE,
    a_cassette,
    a_normalizer,
    an_interaction,
    call,
    chunk,
)


@pytest.mark.parametrize(
    ("sent", "quoted", "broken"),
    [
        (r'{"a": "\u5317\u4eac', '{"a": "北京', False),
        ('{"a": "北京', r'{"a": "\u5317\u4EAC', False),
        (r'{"a": "\ud83d\ude00', '{"a": "😀', False),
        (r'{"a": "\ude00', '{"a": "\ufffd', False),
        (r'{"a": "\u5317\u4e', r'{"a": "\u5317\u4eac"', False),
        (r'{"a": "\u5317\u4e', '{"a": "北京"', False),
        (r'{"a": "\ud83d', '{"a": "😀', False),
        (r'{"a": "\ud83d\ud', r'{"a": "\ud83d\ude00', False),
        (r'{"a": "\u5317', '{"a": "京', True),
        ('{"a": "b', "", True),
    ],
)
def test_a_snippet_quotes_the_raw_text_in_any_escapes(sent: str, quoted: str, broken: bool) -> None:  # noqa: FBT001 - drawn from the table
    deltas = (ToolCallStart(0, "c", "f"), ToolCallRejected(0, ParseError("tool_use", "x", quoted)))
    by = a_normalizer(lambda reads: iter((list(reads), *deltas)[1:]))
    expected = Expectation(
        "scenario", rejected=(ExpectedRejection("f", sent),), judged=frozenset({"rejected"})
    )
    interaction = an_interaction(b"data: [DONE]\n\n")
    strict = oracle_reading(interaction)
    seen = examine(0, interaction, expected, strict, by, cuts=(), limits=DEFAULT_LIMITS)
    assert ("PARSE-ERROR-TOLD" in {each.rule for each in seen.findings}) is broken


@pytest.mark.parametrize(
    ("expected", "reported", "broken"),
    [
        (("",), ("",), False),
        (("",), ("f",), True),
        ((None,), ("f",), False),
        (("f", ""), ("", "f"), False),
        (("", ""), ("", "f"), True),
    ],
)
def test_a_call_without_a_name_is_reported_without_one(
    expected: tuple[str | None, ...],
    reported: tuple[str, ...],
    broken: bool,  # noqa: FBT001 - drawn from the table
) -> None:
    deltas: list[Delta] = [
        delta
        for index, name in enumerate(reported)
        for delta in (
            ToolCallStart(index, f"c{index}", name),
            ToolCallRejected(index, ParseError("tool_use", "x", "{")),
        )
    ]
    by = a_normalizer(lambda _reads: iter(deltas))
    rejected = tuple(ExpectedRejection(name, "{") for name in expected)
    turn = Expectation("scenario", rejected=rejected, judged=frozenset({"rejected"}))
    interaction = an_interaction(b"data: [DONE]\n\n")
    strict = oracle_reading(interaction)
    seen = examine(0, interaction, turn, strict, by, cuts=(), limits=DEFAULT_LIMITS)
    rules = {each.rule for each in seen.findings}
    assert rules == ({"PARSE-ERROR-NAME"} if broken else set())


@pytest.mark.parametrize(
    ("quoted", "outcome"),
    [
        (r'{"city": "\u0141\u00f3d\u017a", "n": 1.50, "ok": tru', Outcome.PARSE_ERROR),
        (r'{"city": "Łódź", "n": 1.50', Outcome.PARSE_ERROR),
        ("{'city': 'Łódź', 'n': 1.5}", Outcome.PARSE_ERROR),
        ("", Outcome.PARSE_ERROR),
        ('{"city": "Oslo", "n": 1.50, "ok": tru', Outcome.MISMATCH),
        ('{"city": "Łódź", "n": 1.60, "ok": tru', Outcome.MISMATCH),
        ('{"city": "Łódź", "n": 1.50, "ok": tru{"city": "Łódź"', Outcome.MISMATCH),
        ('{"path": "Łódź"}', Outcome.MISMATCH),
    ],
)
def test_a_rejected_call_quotes_what_came(quoted: str, outcome: Outcome) -> None:
    sent = r'{"city": "\u0141\u00f3d\u017a", "n": 1.50, "ok": tru'
    body = call(sent, id="c1", name="f") + chunk(None, "tool_calls") + DONE
    deltas = (
        ToolCallStart(0, "c1", "f"),
        ToolCallRejected(0, ParseError("tool_use", "not JSON", quoted)),
        Finish(FinishReason.TOOL_CALLS, "tool_calls"),
    )
    by = a_normalizer(lambda _reads: iter(deltas))
    result, _ = judge_subject(LoadedSubject(a_cassette(an_interaction(body))), by, cuts="whole")
    assert result.outcome is outcome
    assert ("CALL-ARGUMENTS-EXACT" in {each.rule for each in result.findings}) is (
        outcome is Outcome.MISMATCH
    )


def _cut_before_arguments(row: Dialect) -> Interaction:
    """Return a stream of the API that reaches its limit after the name of a call."""
    word = next(key for key, value in row.oracle.MEANINGS.items() if value is FinishReason.LENGTH)
    deltas = (ToolCallStart(0, "call_abc1", "writing"), Finish(FinishReason.LENGTH, word))
    return row.interaction(deltas)


def _has_limit(row: Dialect) -> bool:
    """Whether the API has arguments, and a word for a turn that reached its limit."""
    return row.arguments != "none" and FinishReason.LENGTH in row.oracle.MEANINGS.values()


@pytest.mark.parametrize("name", [row.name for row in DIALECTS.values() if _has_limit(row)])
@pytest.mark.parametrize("arguments", ["", "{}"])
def test_a_call_that_the_limit_cut_before_its_arguments_must_not_run(
    name: str, arguments: str
) -> None:
    row = DIALECTS[name]
    interaction = _cut_before_arguments(row)
    deltas = (
        ToolCallStart(0, "call_abc1", "writing"),
        ArgumentsDelta(0, arguments),
        ToolCallEnd(0),
        Finish(FinishReason.LENGTH, "length"),
    )
    client = a_normalizer(
        lambda reads: iter((list(reads), *deltas)[1:]), dialects=frozenset({name}), kind="sdk"
    )
    reading = oracle_reading(interaction)
    assert [call.arguments.strip("{}") for call in reading.calls or ()] == [""]
    result = judge_subject(LoadedSubject(a_cassette(interaction)), client, cuts="whole")[0]
    found = [(it.rule, it.level) for it in result.findings if it.rule == "BROKEN-CALL-NOT-RUN"]
    if reading.calls and reading.calls[0].arguments:  # the object came, so the call is complete
        assert found == []
    else:
        level = "MUST" if row.arguments == "text" else "SHOULD"
        assert found == [("BROKEN-CALL-NOT-RUN", level)]


# The finish value of the stream, what the client makes of it, which call is broken -> the level.
@pytest.mark.parametrize(
    ("word", "told", "broken", "level"),
    [
        ("length", FinishReason.LENGTH, 1, "SHOULD"),
        ("length", FinishReason.STOP, 1, "MUST"),
        ("length", FinishReason.LENGTH, 0, "MUST"),  # the limit did not cut this call
        ("tool_calls", FinishReason.TOOL_CALLS, 1, "MUST"),
    ],
)
def test_a_call_may_be_left_out_if_the_client_says_that_it_was_cut(
    word: str, told: FinishReason, broken: int, level: str
) -> None:
    texts = ['{"a": 1}', '{"a": 1}']
    texts[broken] = '{"a": '
    parts = (call(text, index=n, id=f"c{n}", name=f"f{n}") for n, text in enumerate(texts))
    body = b"".join(parts) + chunk(None, word) + DONE
    kept = 1 - broken
    deltas = (*call_deltas(kept, f"c{kept}", f"f{kept}", texts[kept]), Finish(told, word))
    by = a_normalizer(lambda _reads: iter(deltas))
    result, _ = judge_subject(LoadedSubject(a_cassette(an_interaction(body))), by, cuts="whole")
    levels = {each.rule: each.level for each in result.findings}
    assert levels["PARSE-ERROR-REPORTED"] == level


def test_a_usable_call_must_not_run_again_instead_of_one_that_has_no_name() -> None:
    body = call('{"a": 1}', id="c0", name="f") + call('{"b": ', index=1, id="c1", name="")
    calls = (call_deltas(place, f"c{place}", "f", '{"a": 1}') for place in range(2))
    deltas = (*(it for each in calls for it in each), Finish(FinishReason.TOOL_CALLS, "tool_calls"))
    by = a_normalizer(lambda _reads: iter(deltas))
    subject = LoadedSubject(a_cassette(an_interaction(body + chunk(None, "tool_calls") + DONE)))
    result, _ = judge_subject(subject, by, cuts="whole")
    assert result.outcome is Outcome.SILENT_WRONG
