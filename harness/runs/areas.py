"""The area of a scenario: the folder that its id begins with."""

from harness.judging.judge import CASSETTE_PREFIX


def area_of(scenario: str) -> str:
    """Return the folder part of a scenario's id, or of an unlabelled cassette's."""
    return scenario.removeprefix(CASSETTE_PREFIX).rpartition("/")[0]
