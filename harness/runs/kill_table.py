"""The kill table: each rule with the miniatures that break it, and what catches each of them.

It is the proof that green is earned: a rule that no miniature breaks could be empty, and a
miniature that nothing catches shows a hole in the scenarios. The table is kept beside the
catalogue, so that a report can show it; `harness doctor` judges the miniatures again and fails
where the kept table says otherwise.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias, TypeVar

import msgspec

from harness import shipped
from harness.conversation.agent import Agent
from harness.conversation.mutants import MUTANTS as AGENT_MINIATURES
from harness.errors import UnreadableError
from harness.judging.conversations.judge import judge_conversation
from harness.judging.judge import LoadedSubject, judge_subject
from harness.judging.replaying import Cuts
from harness.judging.results import Level, Result
from harness.judging.rule import About
from harness.judging.rules import RULES, TURN_RULES
from harness.normalizers.mutants import MUTANTS
from harness.normalizers.protocol import Normalizer

AnyMutant: TypeAlias = Normalizer | Agent
T = TypeVar("T")

_TABLE: Final = "kill-table.json"
_SENSITIVITY: Final = "sensitivity.json"


class KillRow(msgspec.Struct, frozen=True):
    """One row as it is kept.

    Fields:
        scenario: the first one, by id, that catches the miniature breaking the rule; "" where
            none does.
        scenarios: how many do.
    """

    rule: str
    miniature: str
    scenario: str
    scenarios: int


class MeasuredKill(msgspec.Struct, frozen=True):
    """One row as it is shown; see `Caught` for what the scenarios did.

    Fields:
        about: what the rule is about.
        level, title: of the rule.
        fuzz_median, fuzz_worst: how many examples the fuzzer needs to find the miniature from
            clean cassettes, over all seeds; None where that was not measured, or not each found it.
        fuzz_found, fuzz_seeds: how many seeds found it, and how many were tried.
    """

    rule: str
    level: Level
    title: str
    about: About
    miniature: str
    scenario: str
    scenarios: int
    fuzz_median: float | None = None
    fuzz_worst: int | None = None
    fuzz_found: int = 0
    fuzz_seeds: int = 0


class Sensitivity(msgspec.Struct, frozen=True):
    """What the benchmark of the fuzzer measured for one miniature; None where a seed found none."""

    rule: str
    seeds: int = 0
    found: int = 0
    median: float | None = None
    worst: int | None = None


_NOT_MEASURED: Final = Sensitivity("")


def load_kill_table() -> tuple[MeasuredKill, ...]:
    """Return the table that ships, by rule and then miniature, with what fuzzing measured.

    Raises:
        UnreadableError: a file cannot be read, or names a rule that there is not.
    """
    measured = _read(_SENSITIVITY, dict[str, Sensitivity], {})
    return tuple(_kill(row, measured) for row in stored_rows())


def stored_rows() -> tuple[KillRow, ...]:
    """Return the rows that are kept beside the catalogue; none where there is no file.

    Raises:
        UnreadableError: the file cannot be read.
    """
    return _read(_TABLE, tuple[KillRow, ...], ())


def write_kill_table(rows: Iterable[KillRow]) -> Path:
    """Keep `rows` beside the catalogue, one to a line; return the file."""
    path = shipped.bundled_folder("catalogue") / _TABLE
    lines = ",\n".join(msgspec.json.encode(row).decode() for row in sorted(rows, key=_sort_key))
    path.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    return path


def all_rows(
    turns: Sequence[LoadedSubject], conversations: Sequence[LoadedSubject], *, every: bool
) -> Iterator[KillRow]:
    """Yield the rows of all miniatures.

    Args:
        turns: subjects for normalizers.
        conversations: subjects for agents.
        every: count all scenarios, instead of stopping at the first that catches.
    """
    for normalizer in MUTANTS.values():
        yield from kill_rows(normalizer, turns, every=every)
    for agent in AGENT_MINIATURES.values():
        yield from kill_rows(agent, conversations, every=every)


def kill_rows(
    miniature: AnyMutant, subjects: Sequence[LoadedSubject], *, every: bool
) -> tuple[KillRow, ...]:
    """Judge one miniature; a row for each rule that it declares to break."""
    cuts = cuts_for(miniature)
    results = (
        judge_mutant(miniature, each, cuts) for each in sorted(subjects, key=lambda it: it.id)
    )
    return kill_rows_from_results(miniature, results, every=every)


def cuts_for(miniature: AnyMutant) -> Cuts:
    """Return the fewest cuts that show all that `miniature` is caught at."""
    of_turns = isinstance(miniature, Normalizer) and miniature.breaks
    needs_cuts = any(RULES[rule].needs_cuts for rule in miniature.breaks)
    return "whole" if of_turns and not needs_cuts else "quick"


def kill_rows_from_results(
    miniature: AnyMutant, results: Iterable[Result], *, every: bool = True
) -> tuple[KillRow, ...]:
    """Return the rows that `results` of a miniature give; they come in the order of their ids."""
    caught: dict[str, list[str]] = {rule: [] for rule in sorted(miniature.breaks)}
    for result in results:
        for rule in {finding.rule for finding in result.findings} & caught.keys():
            caught[rule].append(result.scenario)
        if not every and all(caught.values()):
            break
    return tuple(
        KillRow(rule, miniature.name, next(iter(scenarios), ""), len(scenarios))
        for rule, scenarios in caught.items()
    )


def judge_mutant(miniature: AnyMutant, subject: LoadedSubject, cuts: Cuts) -> Result:
    """Return what one miniature did with one subject."""
    if isinstance(miniature, Agent):
        return judge_conversation(subject, miniature, cuts=cuts)[0]
    return judge_subject(subject, miniature, cuts=cuts)[0]


def stale_rows(rows: Iterable[KillRow]) -> Iterator[str]:
    """Yield how the kept table differs from `rows`; numbers of scenarios are not compared."""
    found = {(row.rule, row.miniature): row.scenario for row in rows}
    kept = {(row.rule, row.miniature): row.scenario for row in stored_rows()}
    for key in sorted(found.keys() | kept.keys()):
        now, then = found.get(key, "no row"), kept.get(key, "no row")
        if now != then:
            yield f"{key[0]} {key[1]}: kept {then or 'survives'}, found {now or 'survives'}"


def _kill(row: KillRow, measured: dict[str, Sensitivity]) -> MeasuredKill:
    rule = RULES.get(row.rule)
    if rule is None:
        raise UnreadableError(
            f"there is no rule {row.rule}",
            where=_TABLE,
            hint="write it again with `harness doctor --write-kill-table`",
        )
    # An agent is measured under another name where a normalizer has its own.
    names = (f"{row.miniature} (agent)", row.miniature)
    known = (measured[name] for name in names if name in measured)
    fuzz = next((found for found in known if found.rule == row.rule), _NOT_MEASURED)
    return MeasuredKill(
        rule=rule.id,
        level=rule.level,
        title=rule.title,
        about=rule.about,
        miniature=row.miniature,
        scenario=row.scenario,
        scenarios=row.scenarios,
        fuzz_median=fuzz.median,
        fuzz_worst=fuzz.worst,
        fuzz_found=fuzz.found,
        fuzz_seeds=fuzz.seeds,
    )


def _sort_key(row: KillRow) -> tuple[bool, str, str]:
    """Rules of turns come first."""
    return row.rule not in TURN_RULES, row.rule, row.miniature


def _read(name: str, shape: type[T], otherwise: T) -> T:
    path = shipped.bundled_folder("catalogue") / name
    try:
        return msgspec.json.decode(path.read_bytes(), type=shape)
    except FileNotFoundError:
        return otherwise
    except (OSError, msgspec.DecodeError, ValueError) as error:
        raise UnreadableError(str(error), where=str(path)) from error
