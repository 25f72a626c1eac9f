"""A new cassette -> a scenario file with what the strict reading finds in it, to be confirmed."""

from pathlib import Path

from harness.judging.scenario_text import scenario_text
from harness.judging.strict_reading.expect import expectation_from
from harness.judging.strict_reading.table import strict_reading
from harness.wire.cassette import Cassette


def write_scenario(cassette: Cassette, path: Path) -> None:
    """Write the scenario of `cassette` to `path`.

    Args:
        cassette: as it was recorded.
        path: the new scenario file.
    """
    expected = [
        expectation_from(strict_reading(interaction)) for interaction in cassette.interactions
    ]
    title = f"{cassette.model} answers {path.stem}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(scenario_text(title, cassette.id, expected), "utf-8")
