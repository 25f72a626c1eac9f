"""How many quirks of bundled scenarios `harness lint` finds, for each dialect.

    python -m benchmarks.lint_recall [DIALECT...] [--json]

A pair is a scenario and one of its quirks that has a duty of the level MUST or SHOULD. It is found
if lint of the scenario's cassette reports the quirk. `lint_recall.toml` lists the other pairs with
the reason, and which deviation lint reports instead. The command prints the pairs that are neither
found nor listed, and exits with 1 if there are any.
"""

import argparse
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

import msgspec

from harness import shipped
from harness.checks.lint import lint_cassette
from harness.judging.scenario_file import find_scenarios, load_scenario
from harness.results.catalogue import load_catalogue
from harness.results.server_duties import load_server_duties
from harness.wire.cassette_file import load_cassette

_LEVELS: Final = ("MUST", "SHOULD")


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Why lint need not report some pairs.

    Fields:
        quirks: the quirks of the pairs.
        why: the reason.
        scenarios: the scenarios of the pairs; () for each that lint reports one of `same` of.
        same: what lint reports instead; () if it need not report anything.
    """

    quirks: tuple[str, ...]
    why: str
    scenarios: tuple[str, ...] = ()
    same: tuple[str, ...] = ()

    def fits(self, scenario: str, quirk: str, found: Collection[str]) -> bool:
        """Return whether the row explains that lint reports `found` in place of the quirk."""
        is_listed = quirk in self.quirks and scenario in (self.scenarios or (scenario,))
        return is_listed and (not self.same or not set(self.same).isdisjoint(found))


class Pair(msgspec.Struct, frozen=True):
    """A scenario and one of its quirks; whether lint finds it, or `why` it need not."""

    dialect: str
    scenario: str
    quirk: str
    is_found: bool
    why: str = ""


def load_rows() -> tuple[Row, ...]:
    """Return the rows of `lint_recall.toml`."""
    path = Path(__file__).with_suffix(".toml")
    return msgspec.convert(msgspec.toml.decode(path.read_bytes())["rows"], tuple[Row, ...])


def pairs(wanted: frozenset[str]) -> Iterator[Pair]:
    """Yield the pairs of the bundled scenarios, of the wanted dialects only if any is given."""
    root = shipped.bundled_folder("scenarios")
    cassettes = shipped.bundled_folder("cassettes")
    catalogue = load_catalogue(shipped.bundled_folder("catalogue") / "quirks")
    duties, rows = load_server_duties(), load_rows()
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
            for quirk in due:
                fitting = (row.why for row in rows if row.fits(scenario.id, quirk, found))
                is_found = quirk in found
                why = "" if is_found else next(fitting, "")
                yield Pair(dialect, scenario.id, quirk, is_found, why)


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
    missed = [each for each in every if not each.is_found and not each.why]
    for each in missed:
        sys.stdout.write(f"not found: {each.dialect} {each.scenario} {each.quirk}\n")
    for dialect in sorted({each.dialect for each in every}):
        rows = [each for each in every if each.dialect == dialect]
        found, listed = sum(it.is_found for it in rows), sum(bool(it.why) for it in rows)
        sys.stdout.write(f"{dialect}: {found} of {len(rows)}, {listed} listed with a reason\n")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
