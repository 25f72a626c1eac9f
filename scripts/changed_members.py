"""Group the streams of two versions of some cassettes by the members that changed.

    python -m scripts.changed_members OLD NEW

OLD and NEW are folders of cassettes. Each class is printed with the number of its streams and the
first cassettes: `+` is a member that an object of the kind has now, `-` one that it has no longer,
`~` a changed value, and `#` a changed number of objects of a kind.
"""

import argparse
from collections import Counter
from pathlib import Path
from typing import Final, TypeAlias

from harness.judging.contract.shape import Grammar, iter_events, iter_parts
from harness.judging.contract.table import load_tables
from harness.turns.exact_json import write_exactly
from harness.wire.cassette_file import load_cassette
from harness.wire.interaction import Interaction

_SHOWN: Final = 3
# Kind -> how many objects there are; kind and member -> the values.
_Members: TypeAlias = tuple[Counter[str], dict[str, list[str]]]


def members(interaction: Interaction) -> _Members:
    """Return the objects of a stream by kind, and the values of each member that has no object."""
    table = load_tables().get(interaction.dialect)
    grammar = table.grammar if table else Grammar()
    objects: Counter[str] = Counter()
    values: dict[str, list[str]] = {}
    for event in iter_events(interaction, grammar):
        for part in iter_parts(event, grammar):
            if ":" not in part.kind:
                objects[part.kind] += 1
                for name, value in part.value.items():
                    plain = None if isinstance(value, dict | list) else value
                    values.setdefault(f"{part.kind}.{name}", []).append(write_exactly(plain))
    return objects, values


def changes(old: Interaction, new: Interaction) -> tuple[str, ...]:
    """Return what changed from `old` to `new`, as the module describes; () if nothing did."""
    (before, was), (after, now) = members(old), members(new)
    found = [f"#{kind}" for kind in before.keys() | after.keys() if before[kind] != after[kind]]
    found += [f"+{name}" for name in now.keys() - was.keys()]
    found += [f"-{name}" for name in was.keys() - now.keys()]
    for name in was.keys() & now.keys():
        if was[name] != now[name]:
            more = len(now[name]) - len(was[name])
            found.append(("+" if more > 0 else "-" if more else "~") + name)
    return tuple(sorted(found))


def main(arguments: list[str] | None = None) -> int:
    """Print the classes, the largest first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    options = parser.parse_args(arguments)
    classes: dict[tuple[str, ...], list[str]] = {}
    for path in sorted(options.new.rglob("*.yaml")):
        name = path.relative_to(options.new)
        before = options.old / name
        if before.is_file() and before.read_bytes() != path.read_bytes():
            pairs = zip(
                load_cassette(before).interactions, load_cassette(path).interactions, strict=True
            )
            for number, (old, new) in enumerate(pairs):
                if changed := changes(old, new):
                    classes.setdefault(changed, []).append(f"{name.with_suffix('')}#{number}")
    for changed, found in sorted(classes.items(), key=lambda it: -len(it[1])):
        print(f"{len(found)} streams: {', '.join(found[:_SHOWN])}")
        print(*(f"    {each}" for each in changed), sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
