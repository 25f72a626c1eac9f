"""How fast `reference` replays the streams of each dialect, against the dialect's own floor.

    python -m benchmarks.dialects [--json] [--repeats N] [DIALECT ...]

The streams of `replay.py`, written by each dialect's own writer. The floor is what no reader
of these bytes can go below: cut out the payloads in the cheapest way that the framing allows,
decode each with orjson, make nothing of them. Where an API sends arguments whole, or has no
calls, their pieces are said as text, so that the number of events is alike.
"""

import argparse
import importlib
import json
import os
import platform
from collections.abc import Iterable, Iterator
from typing import Any

from benchmarks.replay import (
    LONG_DELTAS,
    SHORT_STREAMS,
    Streams,
    best_of,
    long_deltas,
    reference_recorded,
    reference_whole,
    short_deltas,
)
from harness.cost.fitting import deltas_fitter
from harness.cost.floor import Floor, floor_of
from harness.dialects.kit.dialect import Dialect
from harness.dialects.table import DIALECTS
from harness.judging.replaying import deadlines
from harness.turns.deltas import Delta
from harness.wire.interaction import Interaction, Request

GOAL = 4.0


# The streams


def streams(dialect: Dialect, said: Iterable[Iterable[Delta]]) -> list[Interaction]:
    """Return what the dialect's writer makes of each sequence of deltas."""
    fit = deltas_fitter(dialect)
    request = Request(body=b'{"model": "any", "stream": true}')
    return [dialect.interaction(fit(deltas), request=request) for deltas in said]


# The floors


def make_floor(stream: Interaction) -> Floor:
    """Return what cuts out and decodes the payloads of streams like this one, with orjson."""
    return floor_of(stream, importlib.import_module("orjson").loads)


# The measure


def compare(made: Streams, repeats: int) -> dict[str, Any]:
    """Return sizes, seconds and ratios for streams of one dialect."""
    said = reference_whole(made)
    assert said == reference_recorded(made), "whole and recorded reads disagree"
    floor = make_floor(made[0])
    seconds = best_of(
        repeats,
        {
            "floor": lambda: [floor(each.body) for each in made],
            "reference": lambda: reference_whole(made),
            "recorded": lambda: reference_recorded(made),
        },
    )
    return {
        "events": sum(len(each.reads) for each in made),
        "bytes": sum(len(each.body) for each in made),
        "calls": len(said),
        "seconds": seconds,
        "reference_to_floor": seconds["reference"] / seconds["floor"],
        "recorded_to_floor": seconds["recorded"] / seconds["floor"],
    }


def measure(names: Iterable[str], repeats: int) -> dict[str, Any]:
    """Measure each dialect; return it as one object."""
    found: dict[str, Any] = {}
    for name in names:
        dialect = DIALECTS[name]
        short = (short_deltas(number) for number in range(SHORT_STREAMS))
        found[name] = {
            "long": compare(streams(dialect, [long_deltas(LONG_DELTAS)]), repeats),
            "short": compare(streams(dialect, short), repeats),
        }
    return {
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "repeats": repeats,
        "goal": GOAL,
        "dialects": found,
    }


def as_text(measured: dict[str, Any]) -> Iterator[str]:
    """Yield one table; a ratio above the goal is marked."""
    yield f"Python {measured['python']}, {measured['cores']} cores, best of {measured['repeats']}"
    yield f"reference / floor; goal {measured['goal']:.1f}, ! where it is missed"
    yield ""
    yield (
        f"{'':<20}{'long':>10}{'floor ms':>10}{'ratio':>8}{'recorded':>10}"
        f"{'short':>10}{'floor ms':>10}{'ratio':>8}{'recorded':>10}{'both':>8}"
    )
    for name, parts in measured["dialects"].items():
        yield (
            f"{name:<20}"
            + "".join(_row(parts[part], measured["goal"]) for part in ("long", "short"))
            + f"{_both(parts):>8.2f}"
        )


def _both(parts: dict[str, dict[str, Any]]) -> float:
    """Return the ratio over both kinds of streams together."""
    seconds = [parts[part]["seconds"] for part in ("long", "short")]
    return float(
        sum(each["reference"] for each in seconds) / sum(each["floor"] for each in seconds)
    )


def _row(part: dict[str, Any], goal: float) -> str:
    ratio = part["reference_to_floor"]
    mark = "!" if ratio > goal else " "
    floor = 1e3 * part["seconds"]["floor"]
    return (
        f"{part['events']:>10}{floor:>10.1f}{ratio:>7.2f}{mark}{part['recorded_to_floor']:>10.2f}"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("dialects", nargs="*", metavar="DIALECT", help="all, where none is named")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--repeats", type=int, default=5, help="turns for each contender")
    options = parser.parse_args()
    with deadlines():  # as every run has them
        measured = measure(options.dialects or sorted(DIALECTS), max(1, options.repeats))
    print(json.dumps(measured, indent=2) if options.json else "\n".join(as_text(measured)))


if __name__ == "__main__":
    main()
