"""The benchmark of slopes tells linear growth from quadratic, and writes recordings of a size."""

import json
from pathlib import Path

from benchmarks.slopes import SHAPES, exponent, write_recording
from tests.tables import each_row


@each_row(
    ("costs", "expected"),
    [((1.0, 4.0), 1.0), ((1.0, 16.0), 2.0), ((0.0, 0.05), None), ((0.0, 0.1), 1.0)],
)
def test_exponent_is_that_of_the_growth(costs: tuple[float, float], expected: float | None) -> None:
    found = exponent((1_000, 4_000), costs, 0.1)
    assert found == expected or (found is not None and round(found, 6) == expected)


def test_each_shape_has_the_size_that_was_asked_for(tmp_path: Path) -> None:
    small, large = tmp_path / "small.har", tmp_path / "large.har"
    for name, recording in SHAPES.items():
        one, four = (
            write_recording(recording, size, path)
            for size, path in ((10_000, small), (40_000, large))
        )
        assert 2_500 < one < 25_000, name
        assert 2 < four / one < 5, name
        assert json.loads(large.read_text())["log"]["entries"], name
