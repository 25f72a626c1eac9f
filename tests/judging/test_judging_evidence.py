"""Pairing: each call once, equal ones first, so that a damaged call is not a lost one."""

from collections.abc import Hashable, Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging import evidence
from harness.judging.evidence import pair_calls
from harness.judging.judge import LoadedSubject, judge_subject
from harness.results.expectation import Expectation, ExpectedCall, ExpectedRejection
from harness.turns.arguments import meaning
from harness.turns.deltas import (
    Delta,
    Finish,
    FinishReason,
    ParseError,
    StreamFailure,
    TextDelta,
    ToolCall,
    ToolCallRejected,
    ToolCallStart,
)
from harness.turns.turn import Turn
from tests.judging.judging_samples import (
    DONE,
    a_cassette,
    a_normalizer,
    an_interaction,
    call,
    chunk,
    shipped_subjects,
)

NAMES = st.sampled_from(["read", "write", ""])
EXPECTED = st.builds(
    ExpectedCall,
    name=st.sampled_from(["read", "write"]),
    arguments=st.dictionaries(st.sampled_from("ab"), st.integers(0, 1), max_size=2),
    id=st.none() | st.sampled_from(["c1", "c2"]),
)
ACTUAL = st.builds(
    ToolCall,
    id=st.sampled_from(["c1", "c2", ""]),
    name=NAMES,
    arguments=st.sampled_from(['{"a": 0}', '{"a":0}', "{}", "", "broken"]),
)


def expecting(*calls: ExpectedCall, rejected: tuple[ExpectedRejection, ...] = ()) -> Expectation:
    return Expectation("scenario", calls=calls, rejected=rejected)


def pairs(expected: list[ExpectedCall], actual: list[ToolCall]) -> tuple[tuple[int, int], ...]:
    return pair_calls(expecting(*expected), Turn(tool_calls=tuple(actual))).pairs


def came(call: ExpectedCall, call_id: str) -> ToolCall:
    return ToolCall(call_id, call.name, call.json_text)


@given(st.lists(EXPECTED, max_size=4), st.lists(ACTUAL, max_size=4))
def test_pairs_contain_each_index_at_most_once_and_lose_none(
    expected: list[ExpectedCall], actual: list[ToolCall]
) -> None:
    found = pair_calls(expecting(*expected), Turn(tool_calls=tuple(actual)))
    ours, theirs = [one for one, _ in found.pairs], [other for _, other in found.pairs]
    assert sorted((*ours, *found.missing)) == list(range(len(expected)))
    assert sorted((*theirs, *found.surplus)) == list(range(len(actual)))


@given(st.lists(EXPECTED, max_size=5), st.randoms(use_true_random=False))
def test_equal_calls_are_paired_in_any_order(expected: list[ExpectedCall], random: object) -> None:
    calls = [came(call, call.id or f"made_{place}") for place, call in enumerate(expected)]
    random.shuffle(calls)  # type: ignore[attr-defined]  # a Random of Hypothesis
    found = pair_calls(expecting(*expected), Turn(tool_calls=tuple(calls)))
    assert (found.missing, found.surplus) == ((), ())
    for ours, theirs in found.pairs:
        assert calls[theirs].name == expected[ours].name


READ = ExpectedCall("read", {"a": 0}, "c1")
WRITE = ExpectedCall("write", {"b": 1}, "c2")


def test_a_call_with_one_damaged_field_is_paired() -> None:
    good = came(WRITE, "c2")
    for damaged in (
        ToolCall("c1", "read", "broken"),
        ToolCall("", "read", '{"a": 0}'),
        ToolCall("c9", "read", '{"a": 0}'),
        ToolCall("c1", "", '{"a": 0}'),
        ToolCall("c1", "readread", '{"a": 0}'),
        ToolCall("", "", '{"a": 0}'),
        ToolCall("c9", "readread", '{"a": 0}'),
        ToolCall("", "", "broken"),
    ):
        assert pairs([READ, WRITE], [damaged, good]) == ((0, 0), (1, 1)), damaged
        assert pairs([READ, WRITE], [good, damaged]) == ((0, 1), (1, 0)), damaged


def test_of_two_equal_calls_the_one_with_the_right_id_is_paired() -> None:
    other = ToolCall("c7", "read", '{"a": 0}')
    assert pairs([READ], [other, came(READ, "c1")]) == ((0, 1),)


def test_arguments_are_compared_as_text_when_it_is_known() -> None:
    spelled = '{"x": 3.14159265358979323846}'
    call = ExpectedCall("read", {"x": 3.141592653589793}, None, spelled)
    assert call.json_text == spelled
    other = ToolCall("c1", "read", '{"x": 3.141592653589793}')
    assert pairs([call], [other, ToolCall("c2", "read", spelled)]) == ((0, 1),)


def test_arguments_with_the_same_meaning_are_paired() -> None:
    spelled = '{"a": [1.0, {"b": "x"}], "c": {"d": -0}}'
    call = ExpectedCall("read", {}, None, spelled)
    same = ToolCall("c2", "read", '{"c":{"d":0},"a":[1.00,{"b":"\\u0078"}]}')
    for other in ('{"a": [1, {"b": "x"}], "c": {"d": 0}}', '{"a": ["float", "1.0"]}', "[]"):
        assert pairs([call], [ToolCall("c1", "read", other), same]) == ((0, 1),)


def test_pairing_parses_each_text_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(text: str) -> Hashable:
        read.append(text)
        return meaning(text)

    monkeypatch.setattr(evidence, "meaning", counted)
    expected = [ExpectedCall("f", {"a": n}, f"c{n}") for n in range(50)]
    actual = [ToolCall(f"z{n}", "f", f'{{"b": {n}}}') for n in range(50)]
    assert pairs(expected, actual) == tuple((n, n) for n in range(50))
    assert len(read) == 100


def test_an_unknown_call_is_surplus_and_the_expected_one_missing() -> None:
    found = pair_calls(expecting(READ), Turn(tool_calls=(ToolCall("c9", "delete", "{}"),)))
    assert (found.pairs, found.missing, found.surplus) == ((), (0,), (0,))


def _errors(*names: str) -> tuple[ParseError, ...]:
    return tuple(ParseError("tool_use", "no", name=name) for name in names)


def test_rejections_are_paired_by_name_and_a_nameless_one_with_any() -> None:
    wanted = (ExpectedRejection("read"), ExpectedRejection(""))
    expectation = expecting(rejected=wanted)
    found = pair_calls(expectation, Turn(parse_errors=_errors("read", "write")))
    assert (found.unreported, found.unexpected) == ((), ())
    found = pair_calls(expectation, Turn(parse_errors=_errors("write")))
    assert found.unreported == (0,)
    assert expectation.rejected[found.unreported[0]].name == "read"


def test_further_rejections_are_unexpected() -> None:
    found = pair_calls(
        expecting(rejected=(ExpectedRejection("read"),)), Turn(parse_errors=_errors("x"))
    )
    assert [error.name for error in found.unexpected] == ["x"]
    assert found.unreported == (0,)


def test_a_rejection_without_a_name_does_not_take_the_error_of_another() -> None:
    wanted = (ExpectedRejection(""), ExpectedRejection("read"))
    found = pair_calls(expecting(rejected=wanted), Turn(parse_errors=_errors("read", "write")))
    assert (found.unreported, found.unexpected) == ((), ())


@given(st.permutations(_errors("", "read", "write")))
def test_a_rejection_without_a_name_takes_the_error_without_a_name(
    errors: list[ParseError],
) -> None:
    expectation = expecting(rejected=(ExpectedRejection("", id="c"),))
    found = pair_calls(expectation, Turn(parse_errors=tuple(errors)))
    assert {error.name for error in found.unexpected} == {"read", "write"}


def test_a_call_with_the_id_of_a_rejected_one_is_not_another_call() -> None:
    expectation = expecting(
        ExpectedCall("read", {}, "c2"), rejected=(ExpectedRejection("write", "", "c1"),)
    )
    found = pair_calls(expectation, Turn(tool_calls=(ToolCall("c1", "writewrite", "{}"),)))
    assert (found.missing, found.surplus, found.unreported) == ((0,), (0,), (0,))


# Two calls, of which the second one is broken, and a chunk of an undocumented form.
_UNDOCUMENTED = (
    b'data: {"id": "r"}\n\n'
    + call('{"path": "a"}', id="c1", name="writing")
    + call('{"path": ', index=1, id="c2", name="reading")
    + chunk(None, "tool_calls")
    + DONE
)
_FINISH = Finish(FinishReason.TOOL_CALLS, "tool_calls")
_REFUSED = ParseError("tool_use", "two calls in one", '{"path": ')


@pytest.mark.parametrize(
    ("deltas", "level"),
    [
        ((_FINISH,), "MUST"),  # folding derives a failure, the client reports none
        ((ToolCallStart(0, "c1", "writing"), _FINISH), "MUST"),
        # What the stream requires in any case says nothing about the other call.
        ((ToolCallStart(0, "c2", "reading"), ToolCallRejected(0, _REFUSED), _FINISH), "MUST"),
        ((ToolCallStart(0, "c1", "writing"), ToolCallRejected(0, _REFUSED), _FINISH), "SHOULD"),
        # A client that joins both calls rejects both.
        (
            (ToolCallStart(0, "c1", "writingreading"), ToolCallRejected(0, _REFUSED), _FINISH),
            "SHOULD",
        ),
        # A rejection says nothing about the loss of a usable call.
        ((ToolCallStart(0, "c3", "other"), ToolCallRejected(0, _REFUSED), _FINISH), "MUST"),
        ((StreamFailure("bad_stream", "two calls in one"),), "SHOULD"),
    ],
)
def test_only_what_the_client_itself_reports_lowers_the_level(
    deltas: tuple[Delta, ...], level: str
) -> None:
    def read_all(reads: Iterable[bytes]) -> Iterator[Delta]:
        list(reads)
        yield from deltas

    client = a_normalizer(read_all)
    subject = LoadedSubject(a_cassette(an_interaction(_UNDOCUMENTED)))
    assert "CHUNK-CHOICES-ABSENT" in subject.oracle_readings[0].quirks
    result = judge_subject(subject, client, cuts="whole")[0]
    worst = result.findings[0]
    assert (worst.level, result.outcome.fails) == (level, level == "MUST")


@pytest.mark.parametrize(
    ("finish", "level"),
    [
        (Finish(FinishReason.OTHER, "network_error"), "SHOULD"),
        # A caller does not see from another value that the answer failed.
        (Finish(FinishReason.OTHER, ""), "MUST"),
        (Finish(FinishReason.STOP, "stop"), "MUST"),
        (Finish(FinishReason.STOP, "network_error"), "MUST"),
    ],
)
def test_a_client_may_hand_over_the_word_that_says_the_failure(finish: Finish, level: str) -> None:
    def read_all(reads: Iterable[bytes]) -> Iterator[Delta]:
        list(reads)
        yield from (TextDelta("It"), finish)

    (subject,) = (it for it in shipped_subjects() if it.id == "finish/network-error")
    levels = {}
    for kind in ("sdk", "gateway"):
        result = judge_subject(subject, a_normalizer(read_all, kind=kind), cuts="whole")[0]
        levels[kind] = {each.rule: each.level for each in result.findings}["FAILURE-REPORTED"]
    assert levels == {"sdk": level, "gateway": level}
