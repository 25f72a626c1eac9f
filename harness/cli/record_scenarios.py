"""A new cassette -> a scenario file with what the strict reading finds in it, to be confirmed."""

from collections.abc import Sequence
from pathlib import Path

from harness.judging.scenario_text import scenario_text
from harness.judging.strict_reading.expect import expectation_from
from harness.judging.strict_reading.table import strict_reading
from harness.wire.cassette import Cassette


def write_scenario(
    cassette: Cassette, path: Path, title: str = "", quirks: Sequence[str] = ()
) -> None:
    """Write the scenario of `cassette` to `path`.

    Args:
        cassette: as it was recorded or written.
        path: the new scenario file.
        title: one line; "" for one that names the model.
        quirks: those that its bytes show.
    """
    expected = [
        expectation_from(strict_reading(interaction)) for interaction in cassette.interactions
    ]
    title = title or f"{cassette.model} answers {path.stem}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(scenario_text(title, cassette.id, expected, quirks), "utf-8")
