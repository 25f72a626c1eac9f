"""The benchmark of the fuzzer judges what it means to, and keeps what it measured."""

import json
from pathlib import Path

import msgspec
import pytest

from benchmarks import fuzzing as benchmark
from harness import shipped
from harness.results.kill_table import Sensitivity
from harness.runs.selection import select_subjects


@pytest.fixture(autouse=True)
def _unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(benchmark, "_CLEAN", {})


def test_throughput_judges_every_chunking() -> None:
    measured = benchmark.throughput(1, ["ollama/length"])
    assert measured["scenarios"].keys() == {"ollama/length"}
    assert measured["chunkings"] > 0 < measured["per_second"]
    assert list(benchmark.as_text(measured))[-1].split()[0] == "all"


def test_sensitivity_of_a_normalizer_and_an_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    few = select_subjects([shipped.bundled_folder("scenarios") / "mistral"])
    monkeypatch.setattr(benchmark, "select_subjects", lambda _paths: few)
    monkeypatch.setattr(benchmark, "EXAMPLES", 100)
    rows = dict(benchmark.sensitivity(1, ["name-doubled", "last-result-lost"]))
    assert {name: row["rule"] for name, row in rows.items()} == {
        "name-doubled": "CALL-NAME-EXACT",
        "last-result-lost": "HIST-MISSING-RESULT",
    }
    assert all(0 < row["worst"] <= 100 for row in rows.values())


def test_mutant_that_is_not_found_has_no_median(monkeypatch: pytest.MonkeyPatch) -> None:
    few = select_subjects([shipped.bundled_folder("scenarios") / "tgi"])
    monkeypatch.setattr(benchmark, "select_subjects", lambda _paths: few)
    monkeypatch.setattr(benchmark, "EXAMPLES", 1)
    ((_, row),) = benchmark.sensitivity(1, ["index-from-one"])
    assert (row["found"], row["median"], row["worst"]) == (0, None, None)


def test_kill_table_reads_the_stored_sensitivity(tmp_path: Path) -> None:
    path = tmp_path / "sensitivity.json"
    row = {"rule": "CALLS-KEPT", "seeds": 20, "found": 20, "median": 3.0, "worst": 5}
    benchmark.keep({"b": row}, path)
    benchmark.keep({"a": row}, path)
    kept = json.loads(path.read_bytes())
    assert list(kept) == ["a", "b"]
    assert msgspec.convert(kept["a"], Sensitivity).worst == 5
