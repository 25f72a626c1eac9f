"""The text of a scenario to confirm is read back as the expected result."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from harness.judging.scenario_file import load_scenario
from harness.judging.scenario_text import scenario_text
from harness.results.expectation import (
    ALL_FIELDS,
    Expectation,
    ExpectedCall,
    ExpectedRejection,
    Field,
)
from harness.turns.arguments import same_value
from harness.turns.deltas import FinishReason

CALL = ExpectedCall("get", {"city": "Łódź\u2028", "n": 1.5}, "c1")
CUSTOM = ExpectedCall("run", {}, None, "ls: -l\n# x", "custom")
ACTION = ExpectedCall("computer", {}, "c2", '[{"x": 1}]', "action")
REJECTED = ExpectedRejection("get", '{"city": "Os', None)
EXPECTED = (
    Expectation("oracle", text="yes: no\n", finish=FinishReason.STOP),
    Expectation("oracle", calls=(CALL, CUSTOM, ACTION), finish=FinishReason.TOOL_CALLS),
    Expectation("oracle", reasoning="- a", rejected=(REJECTED,), finish=FinishReason.LENGTH),
    Expectation("oracle", rejected=(REJECTED,), finish=FinishReason.STOP, may_fail=True),
    Expectation("oracle", failure="*", failure_says="quota: 'x'"),
    Expectation("oracle", failure="interrupted", text="{"),
)
CONFIRMED = ALL_FIELDS - {"finish_raw", "usage"}
FIELDS = ("text", "reasoning", "rejected", "failure", "failure_says", "finish", "may_fail")


def read_back(text: str, folder: Path) -> tuple[Expectation, ...]:
    path = folder / "a.yaml"
    path.write_text(text, "utf-8")
    return load_scenario(path, folder).expect


def test_scenario_text_is_read_back(tmp_path: Path) -> None:
    found = read_back(scenario_text('A "title": #1', "p/m/n", EXPECTED), tmp_path)
    for said, expected in zip(found, EXPECTED, strict=True):
        for field in FIELDS:
            assert getattr(said, field) == getattr(expected, field), field
        calls = [(call.name, call.arguments, call.id, call.kind) for call in said.calls]
        assert calls == [(c.name, c.arguments, c.id, c.kind) for c in expected.calls]
    assert found[1].calls[1].arguments_text == CUSTOM.arguments_text
    assert same_value(found[1].calls[2].arguments_text, ACTION.arguments_text)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("scenarios")


@given(
    judged=st.sets(st.sampled_from(sorted(CONFIRMED))),
    whole=st.sampled_from(EXPECTED),
    at_most=st.booleans(),
)
def test_ambiguous_fields_are_not_judged(
    folder: Path, judged: set[Field], whole: Expectation, *, at_most: bool
) -> None:
    expected = replace(whole, judged=frozenset(judged), calls_at_most=at_most)
    text = scenario_text("t", "c", [expected])
    (said,) = read_back(text, folder)
    ends = {"finish"} if expected.finish is not None else set()
    assert said.judged == judged & (CONFIRMED - {"finish"} | ends)
    for field in said.judged - {"calls"}:
        assert getattr(said, field) == getattr(expected, field), field
    is_open = CONFIRMED - said.judged - ({"finish"} if said.failure else set())
    assert ("# The bytes are ambiguous" in text) is bool(is_open)
    assert said.calls_at_most is (at_most and "calls" not in judged)


@pytest.mark.parametrize("text", ["---", "\u0085", "\ud800", "*a", "!!python/none x"])
def test_any_text_is_quoted(text: str, tmp_path: Path) -> None:
    (said,) = read_back(
        scenario_text("t", "c", [Expectation("oracle", text=text, finish=FinishReason.STOP)]),
        tmp_path,
    )
    assert said.text == text.encode("utf-8", "backslashreplace").decode()
