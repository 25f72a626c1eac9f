"""A scenario to confirm, read back, expects what the strict reading found in the bytes."""

from pathlib import Path

import pytest

from harness.judging.expectation import ALL_FIELDS, Expectation, ExpectedCall, ExpectedRejection
from harness.judging.scenario_file import load_scenario
from harness.judging.scenario_text import scenario_text
from harness.turns.deltas import FinishReason

CALL = ExpectedCall("get", {"city": "Łódź\u2028", "n": 1.5}, "c1")
CUSTOM = ExpectedCall("run", {}, None, "ls: -l\n# x", "custom")
REJECTED = ExpectedRejection("get", '{"city": "Os', None)
EXPECTED = (
    Expectation("strict", text="yes: no\n", finish=FinishReason.STOP),
    Expectation("strict", calls=(CALL, CUSTOM), finish=FinishReason.TOOL_CALLS),
    Expectation("strict", reasoning="- a", rejected=(REJECTED,), finish=FinishReason.LENGTH),
    Expectation("strict", failure="*", failure_says="quota: 'x'"),
    Expectation("strict", failure="interrupted", text="{"),
)
FIELDS = ("text", "reasoning", "rejected", "failure", "failure_says", "finish")


def read_back(text: str, folder: Path) -> tuple[Expectation, ...]:
    path = folder / "a.yaml"
    path.write_text(text, "utf-8")
    return load_scenario(path, folder).expect


def test_what_was_found_is_read_back(tmp_path: Path) -> None:
    found = read_back(scenario_text('A "title": #1', "p/m/n", EXPECTED), tmp_path)
    for said, expected in zip(found, EXPECTED, strict=True):
        for field in FIELDS:
            assert getattr(said, field) == getattr(expected, field), field
        calls = [(call.name, call.arguments, call.id, call.kind) for call in said.calls]
        assert calls == [(c.name, c.arguments, c.id, c.kind) for c in expected.calls]
    assert found[1].calls[1].arguments_text == CUSTOM.arguments_text


def test_what_the_bytes_leave_open_is_told(tmp_path: Path) -> None:
    open_one = Expectation("strict", finish=None, judged=ALL_FIELDS - {"rejected", "finish"})
    text = scenario_text("t", "c", [open_one])
    assert "# The bytes leave open: finish, rejected" in text
    (said,) = read_back(text, tmp_path)
    assert "rejected" not in said.judged
    assert said.finish is FinishReason.OTHER


@pytest.mark.parametrize("text", ["---", "\u0085", "\ud800", "*a", "!!python/none x"])
def test_any_text_is_only_text(text: str, tmp_path: Path) -> None:
    (said,) = read_back(
        scenario_text("t", "c", [Expectation("strict", text=text, finish=FinishReason.STOP)]),
        tmp_path,
    )
    assert said.text == text.encode("utf-8", "backslashreplace").decode()
