"""Make the kill table: for each rule, its mutants and the scenarios that kill them.

A rule that no mutant violates could check nothing, and a mutant that survives shows a gap in the
scenarios. The table is stored in the folder of the catalogue for the report. `harness doctor`
judges the mutants again and fails if the stored table differs.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TypeAlias, TypeVar

import msgspec

from harness import shipped
from harness.conversation.agent import Agent
from harness.conversation.mutants import MUTANTS as AGENT_MUTANTS
from harness.judging.conversations.judge import judge_conversation
from harness.judging.judge import LoadedSubject, judge_subject
from harness.judging.replaying import Cuts
from harness.judging.rules import RULES
from harness.normalizers.mutants import MUTANTS
from harness.normalizers.protocol import Normalizer
from harness.normalizers.timed import TIMED_MUTANTS
from harness.results.duties import About
from harness.results.kill_table import TABLE, KillRow, stored_rows
from harness.results.result import Result

AnyClient: TypeAlias = Normalizer | Agent
T = TypeVar("T")
_PARALLEL = 16
_ABOUTS: tuple[About, ...] = ("turns", "time", "conversation", "cost")


def write_kill_table(rows: Iterable[KillRow]) -> Path:
    """Store `rows` as JSON in the folder of the catalogue, and return the path of the file."""
    path = shipped.bundled_folder("catalogue") / TABLE
    lines = ",\n".join(msgspec.json.encode(row).decode() for row in sorted(rows, key=_sort_key))
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    return path


def all_rows(
    turns: Sequence[LoadedSubject],
    conversations: Sequence[LoadedSubject],
    timings: Sequence[LoadedSubject],
    *,
    every: bool,
) -> Iterator[KillRow]:
    """Judge all mutants, and yield the rows of the kill table.

    Args:
        turns: the subjects on which mutants of normalizers are judged.
        conversations: the subjects on which mutants of agents are judged.
        timings: the subjects on which mutants of the timed client are judged, in parallel, because
            they mostly wait. Without `every`, each is judged on the stored scenario alone.
        every: count all scenarios that kill a mutant, instead of stopping at the first.
    """
    for normalizer in MUTANTS.values():
        yield from kill_rows(normalizer, turns, every=every)
    for agent in AGENT_MUTANTS.values():
        yield from kill_rows(agent, conversations, every=every)
    jobs = [
        (it, each) for it in TIMED_MUTANTS.values() for each in _timings_for(it, timings, every)
    ]
    with ThreadPoolExecutor(_PARALLEL) as threads:
        results = tuple(threads.map(lambda job: judge_client(job[0], job[1], "whole"), jobs))
    for mutant in TIMED_MUTANTS.values():
        own = [each for each in results if each.normalizer == mutant.name]
        yield from kill_rows_from_results(mutant, own)


def _timings_for(
    mutant: Normalizer,
    subjects: Sequence[LoadedSubject],
    every: bool,  # noqa: FBT001 - as `all_rows` gets it
) -> Iterator[LoadedSubject]:
    stored = {row.scenario for row in stored_rows() if row.mutant == mutant.name}
    ordered = sorted(subjects, key=lambda it: it.id)
    return (each for each in ordered if every or each.id in stored)


def kill_rows(
    mutant: AnyClient, subjects: Sequence[LoadedSubject], *, every: bool
) -> tuple[KillRow, ...]:
    """Judge one mutant, and return a row for each rule that it declares to violate.

    Args:
        mutant: a normalizer or an agent.
        subjects: the subjects on which it is judged.
        every: count all scenarios that kill it, instead of stopping at the first.
    """
    cuts = cuts_for(mutant)
    results = (judge_client(mutant, each, cuts) for each in sorted(subjects, key=lambda it: it.id))
    return kill_rows_from_results(mutant, results, every=every)


def cuts_for(mutant: AnyClient) -> Cuts:
    """Return the mode with the fewest chunkings that shows every rule that `mutant` violates."""
    needs_cuts = any(RULES[rule].needs_cuts for rule in mutant.breaks)
    return "whole" if mutant.breaks and not needs_cuts else "quick"


def kill_rows_from_results(
    mutant: AnyClient, results: Iterable[Result], *, every: bool = True
) -> tuple[KillRow, ...]:
    """Return a row for each rule that `mutant` declares to violate, from results of the mutant.

    Args:
        mutant: a normalizer or an agent.
        results: its results, in the order of the ids of their scenarios.
        every: count all scenarios that kill it, instead of stopping at the first.
    """
    killed: dict[str, list[str]] = {rule: [] for rule in sorted(mutant.breaks)}
    for result in results:
        for rule in {finding.rule for finding in result.findings} & killed.keys():
            killed[rule].append(result.scenario)
        if not every and all(killed.values()):
            break
    return tuple(
        KillRow(rule, mutant.name, next(iter(scenarios), ""), len(scenarios))
        for rule, scenarios in killed.items()
    )


def judge_client(client: AnyClient, subject: LoadedSubject, cuts: Cuts) -> Result:
    """Judge one normalizer or agent on one subject, and return the result."""
    if isinstance(client, Agent):
        return judge_conversation(subject, client, cuts=cuts)[0]
    return judge_subject(subject, client, cuts=cuts)[0]


def stale_rows(rows: Iterable[KillRow]) -> Iterator[str]:
    """Yield a line for each difference between the stored kill table and `rows`.

    It compares the first scenario that kills each mutant, and ignores the number of scenarios.
    """
    found = {(row.rule, row.mutant): row.scenario for row in rows}
    stored = {(row.rule, row.mutant): row.scenario for row in stored_rows()}
    for key in sorted(found.keys() | stored.keys()):
        now, then = found.get(key, "no row"), stored.get(key, "no row")
        if now != then:
            yield f"{key[0]} {key[1]}: stored {then or 'survives'}, found {now or 'survives'}"


def _sort_key(row: KillRow) -> tuple[int, str, str]:
    """Return a key that puts the rules of turns first, then those of time."""
    about = RULES[row.rule].duty.about
    return _ABOUTS.index(about), row.rule, row.mutant
