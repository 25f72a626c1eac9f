"""The stored kill table: each rule with the mutants that violate it, as the report shows it.

`harness.checks.kill_table` makes it.
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
}
TABLE: Final = "kill-table.json"
_SENSITIVITY: Final = "sensitivity.json"


class KillRow(msgspec.Struct, frozen=True, rename={"mutant": "miniature"}):  # codespell:ignore
    """One row as it is stored; the stored name of `mutant` is part of the file format.

    Fields:
        scenario: the first, by id, in which the mutant breaks the rule; "" if it survives.
        scenarios: the number of such scenarios.
    """

    rule: str
    mutant: str
    scenario: str
    scenarios: int


class MeasuredKill(msgspec.Struct, frozen=True, rename={"mutant": "miniature"}):  # codespell:ignore
    """One row as it is shown, with its rule and what the benchmark of the fuzzer measured.

    Fields:
        about: what the rule is about.
        level, title: of the rule; the level is that for the mutant.
        fuzz_median, fuzz_worst: number of inputs that the fuzzer needs to find the mutant from
            clean cassettes, over all seeds; None if not measured, or if a seed did not find it.
        fuzz_found, fuzz_seeds: number of seeds that found it, and of all seeds.
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
    """The fuzzer's benchmark of one mutant; None if a seed did not find it."""

    rule: str
    seeds: int = 0
    found: int = 0
    median: float | None = None
    worst: int | None = None


def load_kill_table() -> tuple[MeasuredKill, ...]:
    """Return the bundled table, by rule and then mutant, with the benchmark of the fuzzer.

    Raises:
        UnreadableError: a file cannot be read, or names an unknown rule.
    """
    measured = _read(_SENSITIVITY, dict[str, Sensitivity], {})
    return tuple(_kill(row, measured) for row in stored_rows())


def stored_rows() -> tuple[KillRow, ...]:
    """Return the stored rows; none if there is no file.

    Raises:
        UnreadableError: the file cannot be read.
    """
    return _read(TABLE, tuple[KillRow, ...], ())


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
