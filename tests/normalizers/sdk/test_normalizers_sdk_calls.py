"""What a library hands over stays what it is: raw text, or a value of any type."""

import json
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.judging.judge import LoadedSubject, judge_subject
from harness.normalizers import sdk
from harness.normalizers.sdk.calls import text_of_value
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.turns.deltas import Delta, FinishReason
from harness.turns.fold import fold
from tests.judging.judging_samples import (
    DONE,
    a_cassette,
    a_normalizer,
    an_interaction,
    call,
    chunk,
)

OBJECT = '{"path": "a"}'
WORDS = {"tool_calls": FinishReason.TOOL_CALLS, "length": FinishReason.LENGTH}
NO_OBJECTS: tuple[object, ...] = ([], 0, False, None, [1], 5, "prose", OBJECT, {"a": float("inf")})


def judged(sent: str, handed: object, word: str = "tool_calls", *, parsed: bool = True) -> Result:
    """Judge an SDK that hands `handed` over where the stream contains the text `sent`."""
    body = call(sent, id="c1", name="writing") + chunk(None, word) + DONE

    def normalize(reads: Iterable[bytes]) -> Iterator[Delta]:
        list(reads)
        yield from sdk.handed_call(0, "c1", "writing", handed, parsed=parsed)
        yield sdk.finish_delta(word, WORDS)

    subject = LoadedSubject(a_cassette(an_interaction(body)))
    return judge_subject(subject, a_normalizer(normalize, kind="sdk"), cuts="whole")[0]


@pytest.mark.parametrize("sent", [OBJECT, "{}", "[1]", "5", "prose", "[]", '"prose"'])
@pytest.mark.parametrize("handed", NO_OBJECTS, ids=repr)
def test_a_value_that_is_not_an_object_is_neither_executed_nor_rejected(
    sent: str, handed: object
) -> None:
    result = judged(sent, handed)
    (finding,) = result.findings
    assert (finding.rule, finding.level) == ("ARGUMENTS-USABLE", "MUST")
    assert finding.actual == text_of_value(handed)
    assert result.outcome is Outcome.SILENT_WRONG


@pytest.mark.parametrize(
    ("sent", "handed", "word", "levels"),
    [
        (OBJECT, {"path": "a"}, "tool_calls", []),
        ("{}", {}, "tool_calls", []),
        ("", {}, "tool_calls", []),
        ("", None, "tool_calls", ["MAY"]),
        ("null", None, "tool_calls", ["MAY"]),
        ("", None, "length", ["MUST"]),
        ("", {}, "length", ["MUST"]),
        ('{"path": 1e999}', {"path": float("inf")}, "tool_calls", ["SHOULD"]),
    ],
)
def test_a_value_is_compared_with_what_the_stream_contains(
    sent: str, handed: object, word: str, levels: list[str]
) -> None:
    assert [finding.level for finding in judged(sent, handed, word).findings] == levels


def test_raw_text_is_parsed_as_agent_code_does() -> None:
    assert judged("prose", "prose", parsed=False).outcome is Outcome.PARSE_ERROR
    assert judged(OBJECT, OBJECT, parsed=False).outcome is Outcome.PASS


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_a_value_keeps_its_meaning(value: object) -> None:
    turn = fold(sdk.handed_call(0, "c1", "writing", value, parsed=True))
    (found,) = turn.tool_calls
    assert json.loads(found.arguments) == value


def test_a_value_that_json_does_not_have_is_written_by_its_repr() -> None:
    inside: list[object] = []
    inside.append(inside)
    for value in ({1, 2}, {(1, 2): 3}, inside, b"x"):
        assert repr(value) in text_of_value(value)
