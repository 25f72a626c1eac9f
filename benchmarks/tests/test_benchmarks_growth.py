"""The benchmark of growth measures what it means to, and prints a row for each reader."""

import pytest

from benchmarks import growth as benchmark
from benchmarks import growth_files
from harness.dialects.table import DIALECTS
from harness.recording.importing import Imported
from harness.text_calls import TEXT_DIALECTS

SMALL = benchmark.Limits(largest=4_000, floor=0.0)


def test_every_reader_scanner_and_importer_has_families() -> None:
    readers = {task.reader for task in benchmark.tasks()}
    assert {f"read {name}" for name in DIALECTS} <= readers
    assert {f"oracle {name}" for name in DIALECTS} <= readers
    assert {f"text {name}" for name in TEXT_DIALECTS} <= readers
    assert {f"import {name}" for name in growth_files.CONTAINERS} <= readers


@pytest.mark.parametrize("kind", growth_files.CONTAINERS)
def test_a_file_of_entries_is_of_its_container(kind: str) -> None:
    make = dict(growth_files.file_families(kind))["entries"]
    found = growth_files.import_body(make(4_000))
    assert isinstance(found, Imported)
    assert found.container == kind


def test_the_slope_is_that_of_the_logarithms() -> None:
    assert benchmark.slope({10: 1.0, 100: 10.0, 1_000: 100.0}, 0.0) == pytest.approx(1.0)
    assert benchmark.slope({10: 1.0, 100: 100.0}, 0.0) == pytest.approx(2.0)
    assert benchmark.slope({10: 0.001, 100: 1.0}, 0.01) is None


def test_a_size_that_would_take_too_long_is_left_out() -> None:
    task = next(benchmark.tasks())
    limits = benchmark.Limits(largest=4_000, floor=0.0, seconds=0.0)
    assert len(benchmark.measure(task, limits).seconds) == 1


def test_the_table_has_a_row_for_each_reader() -> None:
    tasks = [task for task in benchmark.tasks() if task.reader in {"read tgi", "text kimi"}]
    lines = list(benchmark.as_lines(benchmark.measure(task, SMALL) for task in tasks))
    assert [line.split("|")[1].strip() for line in lines[2:4]] == ["read tgi", "text kimi"]
