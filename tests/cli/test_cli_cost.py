"""`harness cost`: a table, its JSON, and what cannot be measured."""

from pathlib import Path

import msgspec
import pytest

from harness.cli import cost as cost_module
from harness.normalizers.mutants import COST_MUTANTS
from harness.reporting.cost_table import COST_HEAD
from harness.results.cost import Cost
from tests.cli.conftest import Harness

SHORT = ("--deltas", "200", "400")


def test_json_has_cost_and_findings_and_is_also_written(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "new" / "cost.json"
    options = ("-n", "stream-first", "--dialect", "openai-chat", *SHORT)
    left = harness("cost", *options, "--format", "json", "-o", str(file))
    assert left.code == 0  # a finding does not change it
    (found,) = left.json
    assert (found["normalizer"], found["kind"]) == ("stream-first", "gateway")
    assert (found["cost"]["dialect"], found["cost"]["deltas"]) == ("openai-chat", 400)
    assert [each["rule"] for each in found["findings"]] == ["COST-FIRST-TEXT"]
    assert msgspec.json.decode(file.read_bytes()) == left.json
    # The table shows the same measurement.
    measured = msgspec.convert(found["cost"], Cost)
    monkeypatch.setattr(cost_module, "measure", lambda *_: measured)
    left = harness("cost", *options)
    assert left.code == 0
    assert all(column in left.out for column in COST_HEAD)
    assert "SHOULD COST-FIRST-TEXT: expected at most 16384 bytes held back" in left.out


def test_a_client_that_reads_no_stream_is_not_measured(harness: Harness) -> None:
    left = harness("cost", "-n", "tool-calls-empty", *SHORT)
    assert left.code == 1
    assert "not measured: tool-calls-empty: it does not return the text and the call" in left.out


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ((), "Pass -n NAME or --client CMD."),
        (("-n", "naive", "--dialect", "gemini"), "Choose one of: openai-chat."),
        (("-n", "reference", "--deltas", "400", "400"), "longer than the shortest"),
    ],
)
def test_what_cannot_be_measured_is_an_error(
    harness: Harness, options: tuple[str, ...], text: str
) -> None:
    left = harness("cost", *options)
    assert left.code == 2
    assert text in left.err


def test_each_mutant_of_cost_can_be_selected_and_names_its_rule(harness: Harness) -> None:
    listed = {row["name"]: row for row in harness("list", "normalizers", "--format", "json").json}
    assert {name: set(listed[name]["breaks"]) for name in COST_MUTANTS} == {
        name: set(mutant.breaks) for name, mutant in COST_MUTANTS.items()
    }
