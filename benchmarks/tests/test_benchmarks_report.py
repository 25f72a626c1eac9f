"""The benchmark of the dashboard makes runs that the report takes for real ones."""

from pathlib import Path

from benchmarks import report as benchmark
from harness.results.store import RunWriter, read_run


def test_a_synthetic_run_is_read_back_whole(tmp_path: Path) -> None:
    run = benchmark.synthetic_run(200, cases=True)
    with RunWriter(tmp_path / "run.jsonl") as writer:
        writer.header(run.header)
        for result in run.results:
            writer.add(result, run.cases.get(result.cell))
        writer.finish()
    assert read_run(tmp_path / "run.jsonl") == run
    failing = [each for each in run.results if not each.outcome.conforms]
    assert len(failing) == len(run.cases)
    assert 10 <= len(failing) <= 30


def test_a_row_for_a_page_with_the_bytes_of_cases_and_one_without(tmp_path: Path) -> None:
    without, with_cases = benchmark.measure(100, tmp_path, None)
    assert without.startswith("| 100 | no |")
    assert with_cases.startswith("| 100 | yes |")
    assert without.endswith("| not measured |")
