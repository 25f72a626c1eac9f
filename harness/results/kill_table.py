"""Load the stored kill table: for each rule, the mutants that violate it.

`harness.checks.kill_table` makes the table, and the report shows it.
"""

from typing import Final, TypeVar

import msgspec

from harness import shipped
from harness.errors import UnreadableError
from harness.project import ClientKind
from harness.results.duties import About, load_duties
from harness.results.finding import Level

T = TypeVar("T")

# Mutants of `reference` normalize, and mutants of the tool loop execute calls.
_KIND_OF_MUTANTS: Final[dict[About, ClientKind]] = {
    "turns": "gateway",
    "conversation": "agent",
    "cost": "gateway",
    "time": "gateway",
}
TABLE: Final = "kill-table.json"
SMOKE_TABLE: Final = "smoke-kills.json"
_SENSITIVITY: Final = "sensitivity.json"


class KillRow(msgspec.Struct, frozen=True, rename={"mutant": "miniature"}):  # codespell:ignore
    """One row of the stored kill table: a rule, and a mutant that violates it.

    The file has another name for `mutant`, which is part of its format.

    Fields:
        scenario: the first scenario, by id, that kills the mutant; "" if the mutant survives.
        scenarios: the number of scenarios that kill the mutant; 0 if it survives.
        scenarios: the number of such scenarios.
    """

    rule: str
    mutant: str
    scenario: str
    scenarios: int


class MeasuredKill(msgspec.Struct, frozen=True, rename={"mutant": "miniature"}):  # codespell:ignore
    """One row of the kill table as the report shows it, with the results of the fuzzer.

    Fields:
        about: what the rule judges: turns, a conversation, cost, or time.
        level, title: the level of the rule for the mutant's kind of client, and the rule's title.
        fuzz_median, fuzz_worst: number of inputs that the fuzzer needs to find the mutant, over
            all random seeds; None if not measured, or if it failed with one of the seeds.
        fuzz_found, fuzz_seeds: number of random seeds with which the fuzzer found the mutant, and
            of all random seeds.
    """

    rule: str
    level: Level
    title: str
    about: About
    mutant: str
    scenario: str
    scenarios: int
    fuzz_median: float | None = None
    fuzz_worst: int | None = None
    fuzz_found: int = 0
    fuzz_seeds: int = 0


class Sensitivity(msgspec.Struct, frozen=True):
    """The result of the fuzzer's benchmark for one mutant.

    Fields:
        rule: the rule that the mutant violates.
        seeds: the number of random seeds with which the fuzzer searched.
        found: the number of random seeds with which it found the violation.
        median, worst: number of inputs until then; None if the search failed with a random seed.
    """

    rule: str
    seeds: int = 0
    found: int = 0
    median: float | None = None
    worst: int | None = None


def load_kill_table() -> tuple[MeasuredKill, ...]:
    """Return the bundled kill table with the benchmark of the fuzzer, in the stored order.

    Raises:
        UnreadableError: a file cannot be read, or names an unknown rule.
    """
    measured = _read(_SENSITIVITY, dict[str, Sensitivity], {})
    return tuple(_kill(row, measured) for row in stored_rows())


def stored_rows() -> tuple[KillRow, ...]:
    """Return the rows of the stored kill table; () if there is no file.

    Raises:
        UnreadableError: the file cannot be read.
    """
    return _read(TABLE, tuple[KillRow, ...], ())


def smoke_rows() -> tuple[KillRow, ...]:
    """Return the mutants of turns, and the scenario of the requirement set `smoke` for each.

    Their counts are of scenarios that state evidence. Only invented streams kill a mutant whose row
    has no scenario.

    Raises:
        UnreadableError: the file cannot be read.
    """
    return _read(SMOKE_TABLE, tuple[KillRow, ...], ())


def _kill(row: KillRow, measured: dict[str, Sensitivity]) -> MeasuredKill:
    duty = load_duties().get(row.rule)
    if duty is None:
        raise UnreadableError(
            f"there is no rule {row.rule}",
            where=TABLE,
            hint="write it again with `harness doctor --write-kill-table`",
        )
    # An agent has another name there if a normalizer has its own.
    names = (f"{row.mutant} (agent)", row.mutant)
    known = (measured[name] for name in names if name in measured)
    fuzz = next((found for found in known if found.rule == row.rule), Sensitivity(""))
    return MeasuredKill(
        **msgspec.structs.asdict(row),
        level=duty.ruling(_KIND_OF_MUTANTS[duty.about]).level,
        title=duty.title,
        about=duty.about,
        fuzz_median=fuzz.median,
        fuzz_worst=fuzz.worst,
        fuzz_found=fuzz.found,
        fuzz_seeds=fuzz.seeds,
    )


def _read(name: str, shape: type[T], otherwise: T) -> T:
    path = shipped.bundled_folder("catalogue") / name
    try:
        return msgspec.json.decode(path.read_bytes(), type=shape)
    except FileNotFoundError:
        return otherwise
    except (OSError, msgspec.DecodeError, ValueError) as error:
        raise UnreadableError(str(error), where=str(path)) from error
