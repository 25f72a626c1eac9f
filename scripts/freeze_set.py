"""Freeze what the suite now contains as a requirement set: `python -m scripts.freeze_set 2026.12`.

Each release has one. A set that was released never changes; before that, delete its file first.
"""

import sys
from collections.abc import Iterable
from pathlib import Path

import msgspec

from harness.judging.rules import RULES
from harness.runs.plan import subject_id
from harness.runs.requirement_sets import sets_folder
from harness.runs.selection import select_subjects


def set_text() -> str:
    """Return the file of a set with all bundled scenarios and recordings, and all rules."""
    subjects = select_subjects((), recordings=True)
    members = {
        "scenarios": [subject_id(each) for each in subjects if each.kind == "scenario"],
        "recordings": [subject_id(each) for each in subjects if each.kind != "scenario"],
        "rules": RULES,
    }
    lists = (f'"{key}": [\n{_lines(names)}\n]' for key, names in members.items())
    return "{\n" + ",\n".join(lists) + "\n}\n"


def _lines(names: Iterable[str]) -> str:
    return ",\n".join(msgspec.json.encode(name).decode() for name in sorted(names))


def freeze(path: Path) -> None:
    """Write the set to `path`.

    Raises:
        SystemExit: the set exists.
    """
    if path.exists():
        raise SystemExit(f"{path}: the set exists; delete it first unless it was released")
    path.parent.mkdir(exist_ok=True)
    path.write_text(set_text(), encoding="utf-8")


if __name__ == "__main__":
    freeze(sets_folder() / f"{sys.argv[1]}.json")
