"""The benchmark of drift counts alarms and draws what it counted."""

from xml.etree import ElementTree as ET

from benchmarks import drift as benchmark


def test_results_are_tables_and_a_picture() -> None:
    steady = benchmark.count_alarms(benchmark.STEADY[0], 3)
    delay = benchmark.measure_delay(0.10, 1_000, 2)
    assert [each.alpha for each in steady] == list(benchmark.ALPHAS)
    assert delay.found[-1] == 1
    assert delay.median is not None
    results = benchmark.Results(steady, (delay,))
    lines = list(benchmark.lines(results))
    assert lines[2].startswith("| few days | ")
    assert lines[-1].startswith("| 95 % to 85% | ")
    ET.fromstring(benchmark.picture(results))  # noqa: S314 - made by us


def test_a_rate_with_memory_has_more_alarms() -> None:
    steady, memory = (
        benchmark.count_alarms(kind, 25)[0].alarms
        for kind in (benchmark.STEADY[1], benchmark.STEADY[-1])
    )
    assert memory > steady
