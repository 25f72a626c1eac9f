"""The reasons in failures: the oracle says why a call is unusable, in the words of its stream."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from harness.judging.examine import examine
from harness.judging.judge import LoadedSubject, judge_subject
from harness.judging.replaying import DEFAULT_LIMITS
from harness.results.finding import Finding
from harness.turns.deltas import Delta, Finish, FinishReason, call_deltas
from tests.judging.judging_samples import (
    DONE,
    a_cassette,
    a_normalizer,
    an_interaction,
    call,
    chunk,
    shipped_subjects,
)

_END = Finish(FinishReason.TOOL_CALLS, "tool_calls")


def _findings(subject: LoadedSubject, *deltas: Delta) -> dict[str, Finding]:
    """Judge a client that emits `deltas` after each body; return rule -> finding."""

    def read_all(reads: Iterable[bytes]) -> Iterator[Delta]:
        list(reads)
        yield from deltas

    client = a_normalizer(read_all)
    return {it.rule: it for it in judge_subject(subject, client, cuts="whole")[0].findings}


def _subject(*chunks: bytes) -> LoadedSubject:
    return LoadedSubject(a_cassette(an_interaction(b"".join(chunks))))


@pytest.mark.parametrize(
    ("finish", "reason"),
    [
        ("tool_calls", "expected one JSON object, found the end of the text at offset 9"),
        ("length", "the answer was stopped (length); expected one JSON object"),
    ],
)
def test_the_reason_of_unusable_arguments_is_expected(finish: str, reason: str) -> None:
    part = call('{"path": ', id="c1", name="writing"), chunk(None, finish), DONE
    end = Finish(FinishReason(finish), finish)
    dropped = _findings(_subject(*part), end)["PARSE-ERROR-REPORTED"]
    assert dropped.expected.startswith(f"writing rejected: {reason}")
    run = _findings(_subject(*part), *call_deltas(0, "c1", "writing", "{}"), end)
    assert run["BROKEN-CALL-NOT-RUN"].expected.startswith(
        f"a parse error, nothing executed: {reason}"
    )


def test_two_ids_of_one_call_are_named_for_a_client_that_executes_neither_reading() -> None:
    subject = _subject(
        call("", id="call_a", name="writing"),
        call('{"path": ', id="call_b", name="writing"),
        call('"a"}', id="call_a", name="writing"),
        chunk(None, "tool_calls"),
        DONE,
    )
    reason = "its deltas have the ids 'call_a' and 'call_b'"
    dropped = _findings(subject, _END)
    assert any(it.expected.endswith(f": {reason}") for it in dropped.values())


def test_the_error_of_a_failed_turn_is_expected() -> None:
    subject = _subject(
        call("{}", id="c1", name="writing"),
        b'data: {"error": {"code": 429, "message": "too many"}}\n\n',
    )
    found = _findings(subject, *call_deltas(0, "c1", "writing", "{}"), _END)
    expected = "no call from a turn that failed: the provider sent the error 429: too many"
    assert found["TRUNCATED-CALL-NOT-RUN"].expected == expected


@pytest.mark.parametrize(
    ("scenario", "turn", "reason"),
    [
        ("anthropic/max-tokens-in-input", 0, "the answer was stopped (max_tokens)"),
        ("calls/index-changes", 1, "fragments of arguments belong to no call"),
        ("cohere/v1-forms", 6, "its pieces and the list at the end have different parameters"),
        ("gemini/calls-to-be-continued", 9, "the response ended before its last part"),
        ("openai-responses/call-events", 5, "its deltas and its complete arguments differ"),
        ("bedrock-converse/end-in-message", 0, "the stream ended before the end of the answer"),
        ("anthropic-invoke/cut-before-end", 0, "the markup of the call is not complete"),
    ],
)
def test_each_api_states_its_reason(scenario: str, turn: int, reason: str) -> None:
    (subject,) = (each for each in shipped_subjects() if each.id == scenario)
    rejection = next(it for each in subject.expectations[turn].readings for it in each.rejected)
    name, call_id = rejection.name or "f", rejection.id or "c"
    shown = ""
    for deltas in ((), call_deltas(0, call_id, name, '{"other": 1}')):

        def client_deltas(reads: Any, it: Any = deltas) -> Any:  # noqa: ANN401 - one stream
            return iter((list(reads), *it, _END)[1:])

        client = a_normalizer(client_deltas)
        seen = examine(
            turn,
            subject.cassette.interactions[turn],
            subject.expectations[turn],
            subject.oracle_readings[turn],
            client,
            cuts=(),
            limits=DEFAULT_LIMITS,
        )
        shown += "".join(finding.expected for finding in seen.findings)
    assert reason in shown
