"""A run of `reference` and `naive` -> what README.md shows of it, from the bytes that it printed.

    harness run -n reference -n naive -o reports/readme
    python -m scripts.readme_output reports/readme/run.jsonl README.md

The tables that README has no room for are left out whole; a line is never changed.
"""

import re
import sys
from pathlib import Path
from typing import Final

from harness.reporting.text.terminal import tables
from harness.runs.gate import summarize
from harness.runs.store import read_run

_SHOWN: Final = ("Normalizers by conformance", "Outcomes of cells", "Models by turn success")
_BLOCK: Final = re.compile(rf"(?<=```text\n){_SHOWN[0]}\n.*?(?=```)", re.DOTALL)


def shown(printed: str) -> str:
    """Return the tables of `printed` that README shows, each with the blank line between."""
    found = (table for table in printed.split("\n\n") if table.startswith(_SHOWN))
    return "\n\n".join(table.strip("\n") for table in found) + "\n"


def renewed(readme: str, printed: str) -> str:
    """Return `readme` with the tables of `printed` in place of those that it shows.

    Raises:
        ValueError: it shows none.
    """
    block = shown(printed)
    text, count = _BLOCK.subn(lambda _: block, readme)
    if count != 1:
        raise ValueError(f"expected one block of tables, found {count}")
    return text


def main(run: Path, readme: Path) -> None:
    """Write what `run` prints into `readme`."""
    printed = tables(summarize(read_run(run)), colour=False)
    readme.write_text(renewed(readme.read_text("utf-8"), printed), "utf-8", newline="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
