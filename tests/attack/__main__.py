# ruff: noqa: T201 - a command prints
"""Make all attempts of an attack: `python -m tests.attack NAME [--count N] [-j N] [--kept FILE]`.

FILE has a line for each finished block, so that an attack that was stopped goes on from there.
`python -m tests.attack nightly` makes ten times as many attempts of each attack as `pytest -m
attack`, and other ones each day. The exit code is 1 if an attempt failed.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import parent_process
from pathlib import Path
from threading import Thread
from typing import TypedDict

from tests.attack.attack import NAMES, attack_named, make_block

_SHOWN = 20
_NIGHTLY = 10
_DAY = 86_400


class _Block(TypedDict):
    attack: str
    first: int
    end: int
    failed: list[str]


def _finished(kept: Path, name: str) -> Iterator[_Block]:
    """Yield the finished blocks in `kept`; a line that a kill cut short is not one."""
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    for line in lines:
        try:
            block: _Block = json.loads(line)
        except ValueError:
            continue
        if block["attack"] == name:
            yield block


def _end_with_parent() -> None:
    """End this process if the attack is killed."""
    parent = parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
        os._exit(1)

    Thread(target=wait, daemon=True).start()


def _attack(name: str, numbers: range, jobs: int, kept: Path) -> tuple[int, list[str]]:
    """Return the number of attempts that were made, now or before, and what went wrong."""
    size, count = attack_named(name).block, len(numbers)
    planned = {(first, min(first + size, numbers.stop)) for first in numbers[::size]}
    done = [block for block in _finished(kept, name) if (block["first"], block["end"]) in planned]
    left = sorted(planned - {(block["first"], block["end"]) for block in done})
    tried = sum(end - first for first, end in planned - set(left))
    failed = [line for block in done for line in block["failed"]]
    kept.parent.mkdir(parents=True, exist_ok=True)
    processes = ProcessPoolExecutor(jobs, initializer=_end_with_parent)
    with kept.open("a", encoding="utf-8") as file, processes as pool:
        waiting = {pool.submit(make_block, name, *span): span for span in left}
        for future in as_completed(waiting):
            first, end = waiting[future]
            block = _Block(attack=name, first=first, end=end, failed=future.result())
            file.write(f"{json.dumps(block)}\n")
            file.flush()
            tried += end - first
            failed += block["failed"]
            if sys.stderr.isatty():
                sys.stderr.write(f"\r{tried:,} of {count:,} tried, {len(failed):,} failed")
    return tried, failed


def _of_this_night(name: str) -> range:
    """Return the attempts that a nightly job makes today; after the last, the first follow."""
    attack = attack_named(name)
    count = min(_NIGHTLY * attack.part, attack.full)
    parts = -(-attack.full // count)
    first = int(time.time() // _DAY) % parts * count
    return range(first, min(first + count, attack.full))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.attack")
    parser.add_argument("name", choices=[*NAMES, "nightly"])
    parser.add_argument("--count", type=int, help="number of attempts (default: all)")
    parser.add_argument("-j", "--jobs", type=int, default=2)
    parser.add_argument("--kept", type=Path, default=Path("reports/attack.jsonl"))
    options = parser.parse_args()

    if options.name == "nightly":
        planned = {name: _of_this_night(name) for name in NAMES}
    else:
        full = attack_named(options.name).full if options.count is None else options.count
        planned = {options.name: range(full)}
    return max([_made(name, numbers, options) for name, numbers in planned.items()])


def _made(name: str, numbers: range, options: argparse.Namespace) -> int:
    """Make attempts, print what went wrong, and return the exit code."""
    tried, failed = _attack(name, numbers, options.jobs, options.kept)
    print(f"\n{name}: {tried:,} tried from number {numbers.start:,}, {len(failed):,} failed")
    for line in failed[:_SHOWN]:
        print(f"  {line}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
