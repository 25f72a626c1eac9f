"""Levels of rules: by the kind of the client, and by what the stream contained."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UnreadableError
from harness.files.typed import convert
from harness.judging.judge import LoadedSubject, judge_subject
from harness.judging.rules import RULES, TURN_RULES
from harness.judging.rules.stream_content import changed_arguments, unusable_arguments
from harness.normalizers.mutants import MUTANTS
from harness.project import ClientKind
from harness.results.catalogue import load_catalogue
from harness.results.duties import KINDS, Duty, load_duties, rulings_of, undocumented_quirks
from harness.results.finding import Came, Finding, Level
from harness.results.outcome import Outcome
from harness.turns.deltas import (
    ArgumentsDelta,
    Delta,
    Finish,
    FinishReason,
    ParseError,
    ReasoningDelta,
    StreamFailure,
    TextDelta,
    ToolCallEnd,
    ToolCallRejected,
    ToolCallStart,
)
from scripts.rules_reference import with_rules
from tests.judging.judging_samples import (
    DONE,
    a_cassette,
    a_normalizer,
    an_interaction,
    call,
    chunk,
    shipped_subjects,
)


def test_each_rule_has_a_duty_and_a_ruling_for_each_kind_of_its_clients() -> None:
    assert load_duties().keys() == RULES.keys()
    for rule in RULES.values():
        defaults = [each for each in rulings_of(rule.id) if not each.came]
        assert tuple(each.kind for each in defaults) == KINDS[rule.duty.about]
        assert all(each.source for each in defaults)


def test_an_unknown_key_of_a_duty_is_an_error_that_names_it() -> None:
    duty = {"duty": "Do.", "why": "So.", "source": ["https://a"], "levle": "MAY"}
    with pytest.raises(UnreadableError, match="levle"):
        convert({"RULE": duty}, dict[str, Duty], "duties.toml")


def test_a_duty_without_a_source_is_an_error() -> None:
    with pytest.raises(UnreadableError, match="source"):
        convert({"RULE": {"duty": "Do.", "why": "So.", "source": []}}, dict[str, Duty], "x")


def _findings(
    body: bytes, deltas: tuple[Delta, ...], kind: ClientKind, **policies: str
) -> dict[str, Finding]:
    def emit(reads: Iterable[bytes]) -> Iterator[Delta]:
        assert list(reads)
        yield from deltas

    known = {name.replace("_", "-"): value for name, value in policies.items()}
    sample = a_normalizer(emit, kind=kind, policies=known)
    subject = LoadedSubject(a_cassette(an_interaction(body, tools=())))
    result, _ = judge_subject(subject, sample, cuts="whole")
    assert (result.blame == "normalizer") == any(it.level == "MUST" for it in result.findings)
    assert all(it.level != "MAY" for it in result.reported)
    return {finding.rule: finding for finding in result.findings}


def _call(
    call_id: str, name: str = "writing", index: int = 0, arguments: str = "{}"
) -> tuple[Delta, ...]:
    start = ToolCallStart(index, call_id, name)
    return start, ArgumentsDelta(index, arguments), ToolCallEnd(index)


_FINISH = Finish(FinishReason.TOOL_CALLS, "tool_calls")
_END = chunk(None, "tool_calls") + DONE
_ONE = call("{}", id="a", name="writing")
_NO_ID = call("{}", name="writing")
_NO_NAME = call("{}", id="a")
_TWO = _ONE + call("{}", index=1, id="a", name="other")
_TWO_IDS = _ONE + call("{}", index=1, id="b", name="other")
_STOP = chunk(None, "stop") + DONE
_THOUGHT = chunk({"reasoning_content": "so so", "content": "so so"}) + _STOP
_ONLY_THOUGHT = chunk({"reasoning_content": "so so"}) + chunk({"content": "yes"}) + _STOP
_LEAKED = (ReasoningDelta("so so"), TextDelta("so so"), Finish(FinishReason.STOP, "stop"))
_WITHHELD = (
    ToolCallStart(0, "a", "writing"),
    ToolCallRejected(0, ParseError("tool_use", "the loop does not run it", "{}", "a", "writing")),
    Finish(FinishReason.OTHER, "x_new"),
)
_STOPPED = (*_WITHHELD[:2], Finish(FinishReason.STOP, "stop"))
_PROMISE = chunk({"content": "yes"}) + _END
_BROKEN_OFF = (*_call("a", arguments='{"a":1}'), StreamFailure("interrupted"))
_SHARED = (*_call("a"), *_call("a", "other", 1), _FINISH)


@pytest.mark.parametrize(
    ("rule", "body", "deltas", "of_sdk"),
    [
        ("CALL-ID-PRESENT", _NO_ID + _END, (*_call(""), _FINISH), "MAY"),
        ("CALL-ID-PRESENT", _ONE + _END, (*_call(""), _FINISH), "MUST"),
        ("CALL-NAMED", _NO_NAME + _END, (*_call("a", ""), _FINISH), "MAY"),
        ("CALL-NAMED", _ONE + _END, (*_call("a", ""), _FINISH), "MUST"),
        ("CALL-IDS-UNIQUE", _TWO_IDS + _END, _SHARED, "MUST"),
        ("FINISH-REASON", _ONE + _STOP, (*_call("a"), Finish(FinishReason.STOP, "stop")), "MAY"),
        ("FINISH-REASON", _ONE + _END, (*_call("a"), Finish(FinishReason.STOP, "stop")), "MUST"),
        ("REASONING-NOT-IN-TEXT", _ONLY_THOUGHT, _LEAKED, "MUST"),
        ("GOOD-CALL-NOT-REJECTED", _ONE + chunk(None, "x_new") + DONE, _WITHHELD, "MAY"),
        ("GOOD-CALL-NOT-REJECTED", _ONE + _STOP, _STOPPED, "SHOULD"),
        ("GOOD-CALL-NOT-REJECTED", _ONE + _END, _STOPPED, "MUST"),
        ("GOOD-CALL-NOT-REJECTED", _ONE + _END, _WITHHELD, "MUST"),
        (
            "FAILURE-REPORTED",
            _PROMISE,
            (TextDelta("yes"), Finish(FinishReason.OTHER, "tool_calls")),
            "MAY",
        ),
        ("FAILURE-REPORTED", _PROMISE, (TextDelta("yes"), _STOPPED[2]), "MUST"),
        ("TRUNCATED-CALL-NOT-RUN", call('{"a": 1}', id="a", name="writing"), _BROKEN_OFF, "SHOULD"),
        ("TRUNCATED-CALL-NOT-RUN", call('{"a": 2}', id="a", name="writing"), _BROKEN_OFF, "MUST"),
    ],
)
def test_an_sdk_may_hand_over_what_came_and_must_not_damage_it(
    rule: str, body: bytes, deltas: tuple[Delta, ...], of_sdk: Level
) -> None:
    assert _findings(body, deltas, "sdk")[rule].level == of_sdk
    assert _findings(body, deltas, "gateway")[rule].level == "MUST"


def test_a_client_may_reject_the_calls_of_an_answer_that_a_filter_stopped() -> None:
    body = _ONE + chunk(None, "content_filter") + DONE
    levels = {
        kind: _findings(body, _WITHHELD, kind)["GOOD-CALL-NOT-REJECTED"].level
        for kind in ("sdk", "gateway")
    }
    assert levels == {"sdk": "MAY", "gateway": "SHOULD"}


def test_a_client_may_keep_an_id_that_the_stream_repeats() -> None:
    assert _findings(_TWO + _END, _SHARED, "sdk")["CALL-IDS-UNIQUE"].level == "MAY"
    assert _findings(_TWO + _END, _SHARED, "gateway")["CALL-IDS-UNIQUE"].level == "SHOULD"


_NULL = call("null", id="a", name="writing") + _END
_LIMIT = chunk(None, "length") + DONE
_TOO_LONG = (StreamFailure("error", "the answer is empty"),)


@pytest.mark.parametrize("kind", ["sdk", "gateway"])
def test_null_may_be_read_as_no_arguments(kind: ClientKind) -> None:
    read = (*_call("a"), _FINISH)
    assert _findings(_NULL, read, kind)["BROKEN-CALL-NOT-RUN"].level == "MAY"
    guessed = (*_call("a", arguments='{"x": 1}'), _FINISH)
    assert _findings(_NULL, guessed, kind)["BROKEN-CALL-NOT-RUN"].level == "MUST"


@pytest.mark.parametrize("kind", ["sdk", "gateway"])
def test_an_answer_that_ended_at_its_limit_before_any_output_may_be_a_failure(
    kind: ClientKind,
) -> None:
    assert _findings(_LIMIT, _TOO_LONG, kind)["FAILURE-NOT-INVENTED"].level == "SHOULD"
    begun = chunk({"content": "so"}) + _LIMIT
    assert _findings(begun, _TOO_LONG, kind)["FAILURE-NOT-INVENTED"].level == "MUST"


_UNINDEXED = (
    chunk({"tool_calls": [{"id": "a", "function": {"name": "f", "arguments": "{}"}}]}) + _END
)
_REFUSED = (StreamFailure("error", "no index"),)
_INVENTED = (*_call("a", "f", arguments='{"x": 1}'), _FINISH)


@pytest.mark.parametrize("kind", ["sdk", "gateway"])
@pytest.mark.parametrize(
    ("body", "deltas", "rule", "level"),
    [
        (
            _UNINDEXED,
            _REFUSED,
            "FAILURE-NOT-INVENTED",
            "SHOULD",
        ),  # the client says that it cannot read it
        (_UNINDEXED, (TextDelta("x"), Finish(FinishReason.STOP, "stop")), "CALLS-KEPT", "MUST"),
        (_UNINDEXED, _INVENTED, "CALL-ARGUMENTS-EXACT", "MUST"),
        (_ONE + _END, _REFUSED, "FAILURE-NOT-INVENTED", "MUST"),  # the API documents this form
    ],
)
def test_a_client_may_refuse_a_form_that_the_api_does_not_document(
    body: bytes, deltas: tuple[Delta, ...], rule: str, level: Level, kind: ClientKind
) -> None:
    assert _findings(body, deltas, kind)[rule].level == level


def test_undocumented_forms_are_quirks_of_the_catalogue() -> None:
    catalogue = load_catalogue(Path(__file__).parents[2] / "catalogue" / "quirks")
    assert undocumented_quirks() <= set(catalogue)


@pytest.mark.parametrize(
    ("body", "raw", "of_sdk"),
    [
        (chunk({"content": "yes"}), "", "MAY"),
        (chunk({"content": "yes"}) + b"d", "", "MAY"),  # in the middle of an event
        (chunk({"content": "yes"}), "stop", "MUST"),
        (b'data: {"error": {"message": "no", "code": "busy"}}\n\n', "", "MUST"),
    ],
)
def test_an_sdk_hands_over_that_an_answer_has_no_finish_value(
    body: bytes, raw: str, of_sdk: Level
) -> None:
    deltas = (TextDelta("yes"), Finish(FinishReason.STOP if raw else FinishReason.OTHER, raw))
    assert _findings(body, deltas, "sdk")["FAILURE-REPORTED"].level == of_sdk
    of_gateway = "SHOULD" if of_sdk == "MAY" else "MUST"
    assert _findings(body, deltas, "gateway")["FAILURE-REPORTED"].level == of_gateway


def test_a_gateway_may_document_that_an_answer_without_a_finish_value_is_complete() -> None:
    body, deltas = chunk({"content": "yes"}), (TextDelta("yes"), Finish(FinishReason.STOP, ""))
    assert _findings(body, deltas, "gateway")["FAILURE-REPORTED"].level == "MUST"
    documented = _findings(body, deltas, "gateway", absent_finish="stop")
    assert documented["FAILURE-REPORTED"].level == "SHOULD"


_OSLO = _call("w1", "get_weather", arguments='{"city": "Oslo"}')
_STOP_NOW = Finish(FinishReason.STOP, "stop")
_OSLO_A = _call("call_a", "get_weather", arguments='{"city": "Oslo"}')
_A_FILE = (*_call("call_a", "read_file", arguments='{"path": "a.txt"}'), _FINISH)
_B_FILE = (*_call("call_a", "read_file", arguments='{"path": "b.txt"}'), _FINISH)
_OTHER_ID = (*_call("call_other", "get_weather", arguments='{"city": "Oslo"}'), _FINISH)
_LOST = (Finish(FinishReason.OTHER, "completed"),)


@pytest.mark.parametrize(
    ("scenario", "deltas", "kind", "rule", "level"),
    [
        (
            "gemini/call-again-without-signature",
            (*_OSLO, *_call("w1", "get_weather", 1, '{"city":"Oslo"}'), _FINISH),
            "gateway",
            "CALLS-NOT-INVENTED",
            "SHOULD",
        ),
        (
            "gemini/call-again-without-signature",
            (*_OSLO, *_call("w1", "get_weather", 1), _FINISH),
            "gateway",
            "CALLS-NOT-INVENTED",
            "MUST",
        ),
        (
            "finish/missing-text",
            (TextDelta("It is noon."), Finish(FinishReason.OTHER, "")),
            "gateway",
            "FINISH-REASON",
            "SHOULD",
        ),
        ("finish/unknown-reason-call", (*_OSLO_A, _STOP_NOW), "gateway", "FINISH-REASON", "SHOULD"),
        ("finish/unknown-reason-call", (_STOP_NOW,), "gateway", "FINISH-REASON", "MUST"),
        ("arguments/trailing-markup", _A_FILE, "gateway", "BROKEN-CALL-NOT-RUN", "SHOULD"),
        ("arguments/trailing-markup", _B_FILE, "gateway", "BROKEN-CALL-NOT-RUN", "MUST"),
        ("arguments/lone-surrogate", _REFUSED, "gateway", "FAILURE-NOT-INVENTED", "SHOULD"),
        ("openai-responses/output-empty", _LOST, "sdk", "CALLS-KEPT", "SHOULD"),
        ("openai-responses/call-id-changes", _OTHER_ID, "sdk", "CALL-ID-EXACT", "SHOULD"),
        ("openai-responses/output-empty", _LOST, "gateway", "CALLS-KEPT", "MUST"),
        (
            "anthropic/error-without-event-line",
            (Finish(FinishReason.OTHER, ""),),
            "gateway",
            "FAILURE-REPORTED",
            "SHOULD",
        ),
        (
            "anthropic/error-without-event-line",
            (Finish(FinishReason.STOP, "end_turn"),),
            "gateway",
            "FAILURE-REPORTED",
            "MUST",
        ),
    ],
)
def test_what_the_stream_contains_can_lower_a_level(
    scenario: str, deltas: tuple[Delta, ...], kind: ClientKind, rule: str, level: Level
) -> None:
    subject = next(each for each in shipped_subjects() if each.id == scenario)
    dialects = frozenset((subject.cassette.interactions[0].dialect,))
    sample = a_normalizer(
        lambda reads: iter(deltas * bool(list(reads))), kind=kind, dialects=dialects
    )
    result, _ = judge_subject(subject, sample, cuts="whole")
    assert {it.level for it in result.findings if it.rule == rule} == {level}


@pytest.mark.parametrize("kind", ["sdk", "gateway"])
def test_a_client_may_fail_if_the_end_has_no_finish_value(kind: ClientKind) -> None:
    withheld = (*_WITHHELD[:2], StreamFailure("interrupted"))
    assert not _findings(_ONE + DONE, withheld, kind)
    assert not _findings(_ONE + DONE, (*_call("a"), Finish(FinishReason.TOOL_CALLS, "")), kind)


@pytest.mark.parametrize(
    ("body", "status", "level"),
    [
        (b"", 200, "SHOULD"),
        (DONE, 200, "SHOULD"),
        (b": ping\n\n", 200, "SHOULD"),
        (b"<html>502</html>", 200, "SHOULD"),
        (b'{"choices": []}', 200, "SHOULD"),
        (b'{"error": {"message": "no"}}', 400, "MUST"),
        (b"data: null\n\n" + _ONE, 200, "MUST"),
        (b"\xef\xbb\xbf" + _ONE, 200, "MUST"),
        (b"data: null\r\r" + _ONE.replace(b"\n", b"\r"), 200, "MUST"),
    ],
)
def test_an_exception_is_worse_if_the_body_has_an_event(
    body: bytes, status: int, level: Level
) -> None:
    def crash(_: object) -> Iterator[Delta]:
        raise ValueError("no chunk")

    subject = LoadedSubject(a_cassette(an_interaction(body, status=status)))
    result, _ = judge_subject(subject, a_normalizer(crash), cuts="whole")
    assert [(it.rule, it.level) for it in result.findings] == [("NO-CRASH", level)]


def test_text_that_repeats_the_reasoning_is_what_came() -> None:
    assert "REASONING-NOT-IN-TEXT" not in _findings(_THOUGHT, _LEAKED, "gateway")


@pytest.mark.parametrize(("kind", "level"), [("sdk", "MUST"), ("gateway", "SHOULD")])
def test_a_lost_finish_value_fails_an_sdk_only(kind: ClientKind, level: Level) -> None:
    mutants = [each for each in MUTANTS.values() if each.breaks == {"FINISH-RAW-KEPT"}]
    lossy = msgspec.structs.replace(mutants[0], kind=kind)
    subject = next(each for each in shipped_subjects() if each.id == "anthropic/call")
    result, _ = judge_subject(subject, lossy, cuts="whole")
    assert [(it.rule, it.level) for it in result.findings] == [("FINISH-RAW-KEPT", level)]
    assert result.outcome is (Outcome.MISMATCH if level == "MUST" else Outcome.PASS)


@pytest.mark.parametrize(
    ("sent", "executed", "level"),
    [
        ('{"a": 1, "a": 2}', '{"a": 2}', "SHOULD"),
        ('{"a": "x\ty"}', '{"a": "x\\ty"}', "SHOULD"),
        ('{"a": 1, "a": 2}', '{"a": 1}', "SHOULD"),
        ('{"a": [1, ], }', '{"a": [1]}', "SHOULD"),
        ('{"a": ",}",}', '{"a": ",}"}', "SHOULD"),
        ('{"a": 1,', '{"a": 1}', "MUST"),
        ("{'a': True, 'b': None}", '{"a": true, "b": null}', "SHOULD"),
        ("{'a': True, 'b': None}", '{"a": "True", "b": null}', "MUST"),
        ("{'a': {1, 2}}", '{"a": [1, 2]}', "MUST"),
        ("{'a': " + "[" * 9000, '{"a": []}', "MUST"),
        ('{"a": ",}",}', '{"a": "}"}', "MUST"),
        ('{"a": 1, "a": 2}', "{}", "MUST"),
        ('{"a": NaN}', '{"a": null}', "MUST"),
        ('{"a": 1', '{"a": 1}', "MUST"),
        ('{"a": 1}}', '{"a": 1}', "MUST"),
        ("words", "{}", "MUST"),
    ],
)
def test_parsing_what_json_forbids_is_worse_than_what_rfc_8259_permits(
    sent: str, executed: str, level: Level
) -> None:
    body = call(sent, id="a", name="writing") + _END
    found = _findings(body, (*_call("a", arguments=executed), _FINISH), "gateway")
    assert found["BROKEN-CALL-NOT-RUN"].level == level


@pytest.mark.parametrize(
    ("sent", "actual", "came"),
    [
        ('{"a": 1.0}', '{"a": 1}', "number-form"),
        ('{"a": 1e2}', '{"a": 100}', "number-form"),
        ('{"a": 0.1000000000000000055}', '{"a": 0.1}', "number-form"),
        ('{"a": 9007199254740993}', '{"a": 9007199254740992}', ""),
        ('{"a": 1}', '{"a": true}', ""),
        ('{"a": "\\ud83d"}', '{"a": "\\ufffd"}', "lone-surrogate"),
        ('{"a": "\\ude00"}', '{"a": "?"}', "lone-surrogate"),
        ('{"a": "\\ud83d\\ude00"}', '{"a": "?"}', ""),
        ('{"a": 1', "{}", ""),
    ],
)
def test_what_came_excuses_only_changes_that_rfc_8259_permits(
    sent: str, actual: str, came: str
) -> None:
    assert changed_arguments(sent, actual) == came


@pytest.mark.parametrize(
    "text", ["{'a': 1}" + " " * 10_000 + "x", '{"a": "' + '\\"' * 50_000, '{"a": "\\']
)
def test_long_arguments_are_read_to_their_end_and_once(text: str) -> None:
    assert unusable_arguments(text) == ""


@pytest.mark.parametrize("text", ['{"a": NaN}', '{"a": 1e999}', '{"a": 1}x', "[1]", "words", ""])
def test_arguments_that_a_parser_would_have_to_guess_have_no_excuse(text: str) -> None:
    assert unusable_arguments(text) == ""


def test_the_page_of_the_rules_is_up_to_date() -> None:
    page = Path(__file__).parents[2] / "docs" / "reference" / "rules.md"
    written = page.read_text(encoding="utf-8")
    assert with_rules(written) == written, "run `python -m scripts.rules_reference`"
    assert [came for came in get_args(Came) if came and f"| `{came}` |" not in written] == []


@given(st.dictionaries(st.text(max_size=3), st.none() | st.integers() | st.text(max_size=5)))
def test_strict_json_is_never_called_unusable(value: dict[str, object]) -> None:
    assert unusable_arguments(msgspec.json.encode(value).decode()) == ""


def test_the_level_of_a_rule_about_turns_is_the_same_for_an_agent_as_by_default() -> None:
    for rule in TURN_RULES:
        duty = load_duties()[rule]
        assert duty.ruling("agent").level == duty.level


@pytest.mark.parametrize(
    ("arguments", "level"), [("{}", "MAY"), ('{"path": 1}', "MAY"), ('{"path": "a"}', "MUST")]
)
def test_a_client_may_reject_arguments_that_do_not_fit_their_tool(
    arguments: str, level: Level
) -> None:
    answer = an_interaction(call(arguments, id="a", name="writing") + _END)
    sample = a_normalizer(lambda reads: iter((*_WITHHELD[:2], _FINISH) * bool(list(reads))))
    result, _ = judge_subject(LoadedSubject(a_cassette(answer)), sample, cuts="whole")
    levels = {it.rule: it.level for it in result.findings}
    assert levels["GOOD-CALL-NOT-REJECTED"] == level


def test_a_failure_that_is_invented_loses_no_call_and_no_text() -> None:
    body = chunk({"content": "yes"}) + _ONE + _END
    assert set(_findings(body, _REFUSED, "gateway")) == {"FAILURE-NOT-INVENTED"}
    other = (TextDelta("no"), *_REFUSED)
    assert set(_findings(body, other, "gateway")) == {"FAILURE-NOT-INVENTED", "TEXT-EXACT"}


def test_an_sdk_may_discard_a_finish_value_in_an_event_without_its_blank_line() -> None:
    body = call('{"a', id="a", name="writing") + chunk(None, "tool_calls").rstrip()
    withheld = (*_WITHHELD[:2], Finish(FinishReason.OTHER, ""))
    assert "FAILURE-REPORTED" not in {
        rule for rule, it in _findings(body, withheld, "sdk").items() if it.level == "MUST"
    }
    kept = (*_WITHHELD[:2], Finish(FinishReason.STOP, "stop"))
    assert _findings(body, kept, "sdk")


@pytest.mark.parametrize(("raw", "level"), [("stop", "MAY"), ("tool_callsstop", "MUST")])
def test_an_sdk_may_keep_one_of_several_finish_values(raw: str, level: Level) -> None:
    subject = next(each for each in shipped_subjects() if each.id == "finish/tool-calls-then-stop")
    (expected,) = subject.expectations
    assert subject.scenario is not None
    alone = msgspec.structs.replace(expected, alternatives=())
    scenario = msgspec.structs.replace(subject.scenario, expect=(alone,))
    subject = LoadedSubject(subject.cassette, scenario)
    calls = tuple(
        delta
        for index, each in enumerate(expected.calls)
        for delta in _call(each.id or "", each.name, index, each.json_text)
    )
    deltas = (TextDelta(expected.text), *calls, Finish(FinishReason.TOOL_CALLS, raw))
    sample = a_normalizer(lambda reads: iter(deltas * bool(list(reads))), kind="sdk")
    result, _ = judge_subject(subject, sample, cuts="whole")
    levels = {it.rule: it.level for it in result.findings}
    assert levels == {"FINISH-RAW-KEPT": level}


def test_an_sdk_may_raise_if_the_calls_of_the_stream_are_ambiguous() -> None:
    def crash(_reads: Iterable[bytes]) -> Iterator[Delta]:
        raise ValueError("no")
        yield

    body = chunk({"content": "<｜t"}) + call("{k: 1}", id="a", name="writing") + _END
    result, _ = judge_subject(
        LoadedSubject(a_cassette(an_interaction(body))),
        a_normalizer(crash, kind="sdk"),
        cuts="whole",
    )
    assert [(it.rule, it.level) for it in result.findings] == [("NO-CRASH", "SHOULD")]
