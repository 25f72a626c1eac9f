"""What each attack on the harness is: numbered attempts, each the same whenever it is made.

`pytest -m attack` makes the first attempts of every attack. `python -m tests.attack` makes all of
them, in processes, and goes on where it was stopped.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path


@dataclass(frozen=True)
class Attack:
    """One kind of attack.

    Fields:
        attempt: attacks once and returns what went wrong, nothing if the harness held. Takes the
            number of the attempt, from 0; an equal number attacks in an equal way.
        full: number of attempts of the whole attack.
        part: number of attempts that the tests make.
        block: number of attempts that a process makes before it reports.
    """

    attempt: Callable[[int], Sequence[str]]
    full: int
    part: int
    block: int = 1


NAMES = sorted(
    path.stem
    for path in Path(__file__).parent.glob("*.py")
    if "\nATTACK = " in path.read_text(encoding="utf-8")
)


def attack_named(name: str) -> Attack:
    """Return the attack of `tests/attack/NAME.py`."""
    attack: Attack = import_module(f"tests.attack.{name}").ATTACK
    return attack


def make_block(name: str, first: int, end: int) -> list[str]:
    """Make the attempts `first` to `end` (excluded) and return what went wrong, by number."""
    attempt = attack_named(name).attempt
    return [f"{number}: {what}" for number in range(first, end) for what in attempt(number)]
