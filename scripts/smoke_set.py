"""Choose the requirement set `smoke`: few cells that kill every mutant of turns.

`python -m scripts.smoke_set RUN...` chooses few scenarios that show each cause for which the
third-party clients of these run files fail, and adds scenarios until each mutant and known-bad
client is found. A server is known to send the stream of each of them.

`python -m scripts.smoke_set` without runs keeps the set, and only adds scenarios for new mutants.
"""

import multiprocessing
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from harness import shipped
from harness.checks.bundled_data import BundledData
from harness.checks.kill_table import cuts_for, judge_client
from harness.judging.judge import LoadedSubject
from harness.normalizers.discovery import find_normalizer, load_normalizer, normalizer_names
from harness.normalizers.mutants import MUTANTS
from harness.results.kill_table import SMOKE_TABLE, KillRow, smoke_rows, stored_rows
from harness.results.store import read_run
from harness.runs.requirement_sets import load_set, sets_folder
from harness.verdicts.causes import group_causes

NAME: Final = "smoke"
# A client, the level of a cause, and the cause.
Cause: TypeAlias = tuple[str, str, str]

_SUBJECTS: list[LoadedSubject] = []  # the processes inherit it


def subjects_with_evidence() -> list[LoadedSubject]:
    """Return the scenarios about turns whose streams a server is known to send."""
    found = (it for it in BundledData().subjects if it.evidence and it.evidence.kind != "own")
    return sorted(found, key=lambda it: it.id)


def choose(runs: Iterable[Path], known: Iterable[str]) -> list[str]:
    """Return few scenarios that show all causes of the runs: greedily, without superfluous ones."""
    shown: Mapping[str, set[Cause]] = defaultdict(set)
    names = set(known)
    for path in runs:
        for cause in group_causes(read_run(path).results):
            for cell in cause.all_cells:
                scenario = cell.removesuffix(f"/{cause.normalizer}")
                if scenario in names:
                    shown[scenario].add((cause.normalizer, cause.level, cause.cause))
    chosen: list[str] = []
    left = set().union(*shown.values())
    while left:
        best = min(shown, key=lambda it: (-len(shown[it] & left), it))
        chosen.append(best)
        left -= shown[best]
    for each in list(chosen):
        others = [it for it in chosen if it != each]
        if shown[each] <= set().union(*(shown[it] for it in others)):
            chosen = others
    return chosen


def kill_rows(job: tuple[str, Sequence[str]]) -> list[KillRow]:
    """Return a row for each rule that a mutant violates: a scenario that kills it.

    The scenarios of the set come first, then the one of the kill table. Only invented streams kill
    a mutant whose row has no scenario.
    """
    name, chosen = job
    mutant = MUTANTS.get(name) or load_normalizer(name)
    stored = {row.scenario for row in stored_rows() if row.mutant == name}
    order = [*chosen, *(it.id for it in _SUBJECTS if it.id in stored), *(it.id for it in _SUBJECTS)]
    by_id = {it.id: it for it in _SUBJECTS}
    found = dict.fromkeys(sorted(mutant.breaks), "")
    for each in dict.fromkeys(order):
        if all(found.values()):
            break
        result = judge_client(mutant, by_id[each], cuts_for(mutant))
        for rule in {finding.rule for finding in result.findings} & found.keys():
            found[rule] = found[rule] or each
    return [KillRow(rule, name, scenario, int(bool(scenario))) for rule, scenario in found.items()]


def all_rows(names: Iterable[str], chosen: Sequence[str]) -> Iterator[KillRow]:
    """Yield the rows of these mutants and known-bad clients, judged in parallel."""
    jobs = [(name, chosen) for name in names]
    with multiprocessing.get_context("fork").Pool(os.cpu_count()) as pool:
        for rows in pool.imap_unordered(kill_rows, jobs):
            print(*rows, sep="\n", file=sys.stderr, flush=True)
            yield from rows


def write(chosen: Iterable[str], rows: Iterable[KillRow]) -> None:
    """Write the set, and the rows that its test checks."""
    ordered = sorted(rows, key=lambda row: (row.rule, row.mutant))
    members = sorted({*chosen, *(row.scenario for row in ordered if row.scenario)})
    lists = {"scenarios": members, "recordings": []}
    text = msgspec.json.format(msgspec.json.encode(lists), indent=0).decode()
    (sets_folder() / f"{NAME}.json").write_text(f"{text}\n", encoding="utf-8")
    lines = ",\n".join(msgspec.json.encode(row).decode() for row in ordered)
    path = shipped.bundled_folder("catalogue") / SMOKE_TABLE
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def main(runs: Sequence[Path]) -> None:
    """Choose the set again by the runs, or add to it."""
    _SUBJECTS.extend(subjects_with_evidence())
    known = [it.id for it in _SUBJECTS]
    known_bad = [it for it in normalizer_names() if find_normalizer(it).role == "known-bad"]
    kept = [] if runs else list(smoke_rows())
    chosen = choose(runs, known) if runs else sorted(load_set(NAME).scenarios)
    done = {row.mutant for row in kept}
    rows = all_rows([it for it in (*MUTANTS, *known_bad) if it not in done], chosen)
    write(chosen, [*kept, *rows])


if __name__ == "__main__":
    main([Path(each) for each in sys.argv[1:]])
