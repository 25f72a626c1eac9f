"""The files of `equivalent_mutants/`: why the suite cannot notice some faults in the code."""

from collections.abc import Sequence
from itertools import repeat
from pathlib import Path
from typing import Final

import msgspec
import yaml

EQUIVALENT: Final = Path(__file__).parent / "equivalent_mutants"


class Explained(msgspec.Struct, frozen=True):
    """The faults that mean the same as the code, or that no input shows, and why.

    Fields:
        by_name: name of the fault -> reason.
        by_start: start of names -> reason, for faults of one expression or function. The suite is
            asked about these too, and the reason counts if it notices nothing.
    """

    by_name: dict[str, str]
    by_start: dict[str, str]

    def reason(self, name: str) -> str:
        """Return the reason for a survivor; "" if there is none."""
        starts = (why for start, why in self.by_start.items() if name.startswith(start))
        return self.by_name.get(name) or next(starts, "")


def read_equivalent() -> Explained:
    """Return the reasons in the files of `equivalent_mutants/`; an entry may end with `*`."""
    found: dict[str, str] = {}
    for path in sorted(EQUIVALENT.glob("*.yaml")):
        by_file: dict[str, dict[str, str]] = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
        found |= {
            f"{file}: {name}": why for file, each in by_file.items() for name, why in each.items()
        }
    starts = {name.removesuffix("*"): why for name, why in found.items() if name.endswith("*")}
    return Explained({name: why for name, why in found.items() if not name.endswith("*")}, starts)


def stale(names: Sequence[str]) -> list[str]:
    """Return the entries of `equivalent_mutants/` that name none of all faults."""
    explained = read_equivalent()
    unused = (
        start for start in explained.by_start if not any(map(str.startswith, names, repeat(start)))
    )
    return sorted((explained.by_name.keys() - set(names)) | set(unused))
