"""How many quirks of bundled scenarios `harness lint` finds, for each dialect.

    python -m benchmarks.lint_recall [DIALECT...] [--json]

A pair is a scenario and one of its quirks that has a duty of the level MUST or SHOULD. It is found
if lint of the scenario's cassette reports the quirk. The command prints the pairs that are not.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Final

import msgspec

from harness import shipped
from harness.checks.lint import lint_cassette
from harness.judging.scenario_file import find_scenarios, load_scenario
from harness.results.catalogue import load_catalogue
from harness.results.server_duties import load_server_duties
from harness.wire.cassette_file import load_cassette

_LEVELS: Final = ("MUST", "SHOULD")


class Pair(msgspec.Struct, frozen=True):
    """A scenario, one of its quirks with a duty, and whether lint finds it."""

    dialect: str
    scenario: str
    quirk: str
    is_found: bool


def pairs(wanted: frozenset[str]) -> Iterator[Pair]:
    """Yield the pairs of the bundled scenarios, of the wanted dialects only if any is given."""
    root = shipped.bundled_folder("scenarios")
    cassettes = shipped.bundled_folder("cassettes")
    catalogue = load_catalogue(shipped.bundled_folder("catalogue") / "quirks")
    duties = load_server_duties()
    for path in find_scenarios([root]):
        scenario = load_scenario(path, root)
        due = [quirk for quirk in scenario.quirks if quirk in duties]
        if not due:
            continue
        cassette = load_cassette(cassettes / f"{scenario.cassette}.yaml", cassettes)
        dialect = cassette.dialect
        levels = {quirk: duties[quirk].level_in(dialect, ambiguous=False) for quirk in due}
        due = [quirk for quirk in due if levels[quirk] in _LEVELS]
        if due and (not wanted or dialect in wanted):
            found = {it.quirk for it in lint_cassette("", cassette, catalogue).findings}
            yield from (Pair(dialect, scenario.id, quirk, quirk in found) for quirk in due)


def main(arguments: list[str] | None = None) -> int:
    """Print the pairs that are not found, and a table of the dialects."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dialects", nargs="*")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(arguments)
    every = tuple(pairs(frozenset(options.dialects)))
    if options.json:
        sys.stdout.write(msgspec.json.encode(every).decode() + "\n")
        return 0
    for each in every:
        if not each.is_found:
            sys.stdout.write(f"not found: {each.dialect} {each.scenario} {each.quirk}\n")
    totals, found = Counter(it.dialect for it in every), Counter[str]()
    found.update(it.dialect for it in every if it.is_found)
    for dialect, total in sorted(totals.items()):
        sys.stdout.write(f"{dialect}: {found[dialect]} of {total}\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
