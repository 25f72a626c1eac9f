"""How many faults in the code that ships the suite notices.

A fault is noticed if a bundled cell of a conforming client has a finding that it does not have
otherwise, if a search from these cells finds something, as `harness fuzz` does, or if the suite
cannot end. Only cells that run the changed line count. A survivor that means the same as the code
is listed in a file of `equivalent_mutants/`, with the reason.
"""

import multiprocessing
import os
import random
import re
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, cast

import msgspec

from benchmarks import mutant_cells
from benchmarks.code_mutations import Mutation, mutations, text_mutations
from benchmarks.explained_mutants import Explained, read_equivalent, stale
from benchmarks.mutant_cells import SECONDS, Answer, Task, answer, outermost_function, prepare
from benchmarks.suite_cells import ROOT, MeasuredSuite, SearchOptions, cells_of, measure_suite

KEPT: Final = Path(__file__).parent / "code_mutants.json"
# Cells that are judged at quick cuts. The others are judged in whole bodies only: few faults
# show at cuts alone, and what this misses counts as a survivor.
_MOST_CUT: Final = 500
# Inputs of a search that are judged, of those that run the line.
_MOST_INPUTS: Final = 400
# Group -> the files of it.
GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "normalizers": (
        "harness/normalizers/reference.py",
        "harness/normalizers/respond.py",
        "harness/normalizers/seed_systems.py",
        "harness/turns/arguments.py",
        "harness/turns/fold.py",
        "harness/turns/json_prefix.py",
        "harness/turns/strict_json.py",
    ),
    "agents": (
        "harness/conversation/*.py",
        "harness/conversation/sdk/native.py",
        "harness/dialects/*/build_request.py",
    ),
    "history": ("harness/conversation/history/*.py",),
    "prompts": ("harness/conversation/prompts/*.py", "harness/conversation/texts/*.toml"),
    "readers": ("harness/dialects/**/*.py", "harness/text_calls/**/*.py"),
}
# No part of a client: the suite's oracle and emulation, how it detects recordings, how it reads
# the histories of other tools, how it finds clients.
_MODULES_OF_THE_SUITE: Final = re.compile(
    r"harness/dialects/(table|prompts|.*/(oracle|oracle/.*|write|writer|parse_request|detect|__init__"
    r"|frames|options|output|dialect))\.py"
    r"|harness/dialects/(bedrock_llama|dashscope|google_interactions|openai_completions|tgi)"
    r"/build_request\.py"  # first requests only, of emulated cassettes
    r"|harness/conversation/(agent|discovery|tool_file|wording|history/(check|jsonl|third_party))\.py"
)
_FUNCTIONS_OF_THE_SUITE: Final = re.compile(
    r"(.*\.)?(write\w*|_?written\w*|\w*grammar|first_request|question_of|declared|missing"
    r"|_first_body|_generate|_version_1\w*)(\..*)?"
)

Verdict = Literal["caught", "survived", "equivalent"]


class Fault(msgspec.Struct, frozen=True):
    """A fault in a file.

    Fields:
        file: relative to the repository.
        index: among the faults of the file.
    """

    group: str
    file: str
    index: int
    mutation: Mutation

    @property
    def name(self) -> str:
        """File and fault; the same after lines have moved."""
        return f"{self.file}: {self.mutation.name}"


class Judged(msgspec.Struct, frozen=True):
    """A fault that the suite was asked about.

    Fields:
        cells: number of cells that run its line.
        by: the cell and the finding that noticed it, or the reason why it is equivalent.
    """

    group: str
    name: str
    line: int
    verdict: Verdict
    cells: int
    by: str = ""


def faults() -> Iterator[Fault]:
    """Yield each fault of each group, always in the same order; a file is in its first group."""
    seen: set[str] = set()
    for group, patterns in GROUPS.items():
        for path in (each for pattern in patterns for each in sorted(ROOT.glob(pattern))):
            file = path.relative_to(ROOT).as_posix()
            if file in seen or _MODULES_OF_THE_SUITE.fullmatch(file):
                continue
            seen.add(file)
            find = mutations if path.suffix == ".py" else text_mutations
            for index, each in enumerate(find(path.read_text(encoding="utf-8"))):
                if not _FUNCTIONS_OF_THE_SUITE.fullmatch(each.function):
                    yield Fault(group, file, index, each)


def drawn(every: Sequence[Fault], count: int | None, seed: int) -> list[Fault]:
    """Return `count` faults drawn with `seed`: as many of each group, or all that it has."""
    if count is None:
        return list(every)
    draw = random.Random(seed)  # noqa: S311 - a sample, not a secret
    groups = [[each for each in every if each.group == group] for group in GROUPS]
    chosen: list[Fault] = []
    for left, group in zip(range(len(groups), 0, -1), sorted(groups, key=len), strict=True):
        chosen += draw.sample(group, min(len(group), (count - len(chosen)) // left))
    return sorted(chosen, key=every.index)


def judge(
    every: Sequence[Fault], suite: MeasuredSuite, *, jobs: int, seed: int
) -> Iterator[Judged]:
    """Ask the suite about each fault, in `jobs` processes; yield in the order of the answers."""
    explained = read_equivalent()
    waiting = list(reversed(every))
    running: dict[Connection, _Asked] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            fault = waiting.pop()
            chosen = _checks_of(fault, suite)
            random.Random(f"{seed} {fault.name}").shuffle(chosen)  # noqa: S311 - an order
            chosen = _varied(chosen, fault.file, suite)
            if why := explained.by_name.get(fault.name):
                yield _judged(fault, "equivalent", len(chosen), why)
            elif chosen:
                asked = _ask(fault, suite, chosen)
                running[asked.connection] = asked
            else:
                yield _survived(fault, 0, explained)
        for ready in _wait_for(running):
            asked = running.pop(ready)
            count = len(asked.chosen)
            if by := _noticed_by(asked, suite):
                yield _judged(asked.fault, "caught", count, by)
            else:
                yield _survived(asked.fault, count, explained)


def _judged(fault: Fault, verdict: Verdict, checks: int, by: str = "") -> Judged:
    return Judged(fault.group, fault.name, fault.mutation.line, verdict, checks, by)


def _survived(fault: Fault, checks: int, explained: Explained) -> Judged:
    why = explained.reason(fault.name)
    return _judged(fault, "equivalent" if why else "survived", checks, why)


class _Asked(NamedTuple):
    """A fault that a process judges."""

    fault: Fault
    chosen: list[int]
    process: ForkProcess
    connection: Connection
    end: float


def _ask(fault: Fault, suite: MeasuredSuite, chosen: list[int]) -> _Asked:
    """Start a process that judges the checks `chosen`."""
    at_import = fault.mutation.line in suite.at_import.get(fault.file, ())
    at_import = at_import or fault.mutation.module_level
    function = "" if at_import else outermost_function(fault.file, fault.mutation.function)
    cells = sum(index < suite.cells for index in chosen)
    task = Task(
        mutant_cells.Fault(fault.file, fault.index, function),
        tuple(suite.checks[each] for each in chosen),
        min(cells, _MOST_CUT),
    )
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_answer_to, args=(there, task))
    process.start()
    there.close()
    return _Asked(fault, chosen, process, here, time.monotonic() + SECONDS)


def _answer_to(connection: Connection, task: Task) -> None:
    os.setpgrp()  # so that it ends together with the processes that it starts
    sys.stdout = sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    connection.send(answer(task))


def _wait_for(running: Mapping[Connection, _Asked]) -> list[Connection]:
    """Return the connections that have an answer, or whose process ended or must end."""
    left = min(each.end for each in running.values()) - time.monotonic()
    ready = cast("list[Connection]", wait(list(running), timeout=max(0.0, left)))
    late = [each for each, asked in running.items() if asked.end <= time.monotonic()]
    return [*ready, *(each for each in late if each not in ready)]


def _noticed_by(asked: _Asked, suite: MeasuredSuite) -> str:
    """Return what noticed a fault; "" if nothing did."""
    try:
        found: Answer | None = asked.connection.recv() if asked.connection.poll() else None
        reason = f"the suite did not end within {SECONDS} s"
    except EOFError:
        found, reason = None, "the suite was killed"
    with suppress(ProcessLookupError):
        os.killpg(cast("int", asked.process.pid), signal.SIGKILL)
    asked.process.join()
    if found is None or found.check is None:
        return reason if found is None else found.finding
    check = suite.checks[asked.chosen[found.check]]
    return f"{check.label}{' cut' if found.cut else ''}: {found.finding}"


def _checks_of(fault: Fault, suite: MeasuredSuite) -> list[int]:
    """Return the checks that run the line.

    What a module runs at import, such as a table, is read by other modules too: it counts for all
    checks that run its package or the one above. A text counts for the cells of agents.
    """
    if not suite.runs:
        return list(range(suite.cells))
    if fault.file.endswith(".toml"):
        return [at for at, each in enumerate(suite.checks[: suite.cells]) if each.is_agent]
    if not fault.mutation.module_level:
        runs = suite.runs[fault.file]
        found = runs.get(fault.mutation.line) or runs.get(fault.mutation.statement)
        if found or fault.mutation.line not in suite.at_import[fault.file]:
            return list(found or ())
    folder = Path(fault.file).parent
    near = [file for file in suite.runs if Path(file).parent in (folder, folder.parent)]
    return _running(near, suite)


def _varied(chosen: Sequence[int], file: str, suite: MeasuredSuite) -> list[int]:
    """Return the cells of `chosen` and some of its inputs, each kind with few like the ones before.

    Checks that run the same lines of `file` are alike: first one of each kind, then the second.
    """
    lines: dict[int, list[int]] = {each: [] for each in chosen}
    for line, checks in suite.runs.get(file, {}).items():
        for each in lines.keys() & checks:
            lines[each].append(line)
    alike: Counter[tuple[bool, tuple[int, ...]]] = Counter()
    order: list[tuple[bool, int, int, int]] = []
    for position, each in enumerate(chosen):
        kind = (each >= suite.cells, tuple(sorted(lines[each])))
        order.append((kind[0], alike[kind], position, each))
        alike[kind] += 1
    order.sort()
    cells = sum(not is_input for is_input, *_ in order)
    return [each for *_, each in order[: cells + _MOST_INPUTS]]


def _running(files: Iterable[str], suite: MeasuredSuite) -> list[int]:
    """Return the checks that run a line of one of `files`."""
    return sorted({each for file in files for line in suite.runs[file].values() for each in line})


class Options(msgspec.Struct, frozen=True):
    """What is measured.

    Fields:
        sample: number of faults that are drawn; None for all.
        seed: of all draws.
        jobs: number of processes.
        examples: number of inputs that a search generates for each normalizer.
        only: parts of names; faults whose name contains one of them are chosen from.
        paths: scenarios; if there are any, only their cells are judged, whether they run the line
            or not.
    """

    sample: int | None
    seed: int
    jobs: int
    examples: int
    only: tuple[str, ...] = ()
    paths: tuple[Path, ...] = ()


def measure(options: Options) -> dict[str, Any]:
    """Measure how many faults the suite notices.

    Raises:
        SystemExit: an entry of `equivalent_mutants.yaml` names no fault.
    """
    every = list(faults())
    if wrong := stale([each.name for each in every]):
        sys.exit("equivalent_mutants/ names faults that do not exist:\n" + "\n".join(wrong))
    wanted = [
        each for each in every if not options.only or any(it in each.name for it in options.only)
    ]
    chosen = drawn(wanted, options.sample, options.seed)
    if options.paths:
        cells = cells_of(options.paths)
        suite = MeasuredSuite(cells, len(cells))
    else:
        files = sorted({each.file for each in every if each.file.endswith(".py")})
        suite = measure_suite(files, SearchOptions(options.examples, options.seed))
    prepare()
    results = []
    for number, each in enumerate(
        judge(chosen, suite, jobs=options.jobs, seed=options.seed), start=1
    ):
        results.append(each)
        if each.verdict == "survived":
            print(f"{number} of {len(chosen)} survived: {each.name}", file=sys.stderr, flush=True)
    return summary(results, options.seed)


def summary(results: Sequence[Judged], seed: int) -> dict[str, Any]:
    """Return the counts of all faults and of each group, and the survivors."""
    return {
        "seed": seed,
        **counts(results),
        "groups": {
            group: counts([each for each in results if each.group == group]) for group in GROUPS
        },
        "survivors": [
            {"name": each.name, "line": each.line, "cells": each.cells}
            for each in results
            if each.verdict == "survived"
        ],
        "caught_by": {each.name: each.by for each in results if each.verdict == "caught"},
    }


def counts(results: Iterable[Judged]) -> dict[str, int]:
    """Return the number of faults, and of each verdict."""
    verdicts = Counter(each.verdict for each in results)
    return {
        "mutants": verdicts.total(),
        "caught": verdicts["caught"],
        "survived": verdicts["survived"],
        "equivalent": verdicts["equivalent"],
    }


def as_text(measured: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a measurement."""
    rows = {**measured["groups"], "all": measured}
    yield f"{'group':<12}{'mutants':>9}{'caught':>9}{'survived':>10}{'equivalent':>12}"
    for name, row in rows.items():
        yield (
            f"{name:<12}{row['mutants']:>9}{row['caught']:>9}{row['survived']:>10}"
            f"{row['equivalent']:>12}"
        )
    for each in measured["survivors"]:
        yield f"survived: {each['name']} (line {each['line']}, {each['cells']} cells run it)"
