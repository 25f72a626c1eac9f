"""How many faults in the code that ships the suite notices.

A fault is noticed if a bundled cell of a conforming client has a finding that it does not have
otherwise, if a search from these cells finds something, as `harness fuzz` does, or if the suite
cannot end. Only cells that run the changed line count. A survivor that means the same as the code
stands in `equivalent_mutants.yaml`, with the reason.
"""

import random
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import yaml

from benchmarks.code_mutations import Mutation, mutations, text_mutations
from benchmarks.mutant_cells import Answer, Task
from benchmarks.suite_cells import ROOT, MeasuredCells, measure_cells, module_name

EQUIVALENT: Final = Path(__file__).parent / "equivalent_mutants.yaml"
KEPT: Final = Path(__file__).parent / "code_mutants.json"
# A fault may make an endless loop; the slowest list of cells takes a fraction of it.
_SECONDS: Final = 120
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
    every: Sequence[Fault], cells: MeasuredCells, *, jobs: int, seed: int, examples: int
) -> Iterator[Judged]:
    """Ask the suite about each fault, `jobs` at a time."""
    reasons = read_equivalent()

    def judged(fault: Fault) -> Judged:
        mutation, name = fault.mutation, fault.name
        chosen = _cells_of(fault, cells)
        random.Random(f"{seed} {name}").shuffle(chosen)  # noqa: S311 - an order, not a secret
        if name in reasons:
            return Judged(
                fault.group, name, mutation.line, "equivalent", len(chosen), reasons[name]
            )
        by = _noticed(fault, cells, chosen, examples) if chosen else ""
        verdict: Verdict = "caught" if by else "survived"
        return Judged(fault.group, name, mutation.line, verdict, len(chosen), by)

    with ThreadPoolExecutor(jobs) as pool:
        yield from pool.map(judged, every)


def _cells_of(fault: Fault, cells: MeasuredCells) -> list[int]:
    """Return the cells that run the line.

    What a module runs at import counts for all cells that run the module, or its package if it has
    no more than tables. A text counts for the cells of agents.
    """
    if fault.file.endswith(".toml"):
        return list(cells.of_agents)
    if not fault.mutation.module_level:
        runs = cells.runs[fault.file]
        found = runs.get(fault.mutation.line) or runs.get(fault.mutation.statement)
        if found or fault.mutation.line not in cells.at_import[fault.file]:
            return list(found or ())
    folder = Path(fault.file).parent
    near = [file for file in cells.runs if Path(file).parent == folder]
    return _running((fault.file,), cells) or _running(near, cells)


def _running(files: Iterable[str], cells: MeasuredCells) -> list[int]:
    """Return the cells that run a line of one of `files`."""
    return sorted({cell for file in files for line in cells.runs[file].values() for cell in line})


def _noticed(fault: Fault, cells: MeasuredCells, chosen: Sequence[int], examples: int) -> str:
    """Return what notices a fault; "" if nothing does."""
    module = module_name(fault.file) if fault.file.endswith(".py") else fault.file
    jobs = tuple(msgspec.Raw(cells.jobs[each]) for each in chosen)
    task = Task(module, fault.index, jobs, tuple(cells.known[each] for each in chosen), examples)
    answer = answer_of(task)
    if isinstance(answer, str):
        return answer
    if answer.cell is not None:
        job = msgspec.json.decode(cells.jobs[chosen[answer.cell]])
        subject = Path(job["subject"]["path"])
        return f"{subject.parent.name}/{subject.stem} {job['normalizer']}: {answer.finding}"
    if answer.finding:
        # What the search finds without the fault too is no finding about it.
        unchanged = answer_of(msgspec.structs.replace(task, index=None))
        return "" if unchanged == answer else f"search: {answer.finding}"
    return ""


def answer_of(task: Task) -> Answer | str:
    """Run `task` in a process of its own; return why it gave no answer, if it did not."""
    command = [sys.executable, "-m", "benchmarks.mutant_cells"]
    try:
        ended = subprocess.run(  # noqa: S603 - this interpreter
            command,
            input=msgspec.json.encode(task),
            capture_output=True,
            timeout=_SECONDS,
            cwd=ROOT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"the suite did not end within {_SECONDS} s"
    if ended.returncode:
        return f"the suite exited with {ended.returncode}"
    return msgspec.json.decode(ended.stdout, type=Answer)


def read_equivalent() -> dict[str, str]:
    """Return the reasons in `equivalent_mutants.yaml`, by the name of the fault."""
    by_file: dict[str, dict[str, str]] = (
        yaml.safe_load(EQUIVALENT.read_text(encoding="utf-8")) or {}
    )
    return {f"{file}: {name}": why for file, each in by_file.items() for name, why in each.items()}


def stale(every: Iterable[Fault]) -> list[str]:
    """Return the entries of `equivalent_mutants.yaml` that name no fault."""
    return sorted(read_equivalent().keys() - {each.name for each in every})


def measure(
    sample: int | None, seed: int, *, jobs: int, examples: int = 0, only: str = ""
) -> dict[str, Any]:
    """Measure; `only` selects faults whose name contains it.

    Raises:
        SystemExit: an entry of `equivalent_mutants.yaml` names no fault.
    """
    every = list(faults())
    if wrong := stale(every):
        sys.exit("equivalent_mutants.yaml names faults that do not exist:\n" + "\n".join(wrong))
    chosen = drawn([each for each in every if only in each.name], sample, seed)
    cells = measure_cells(sorted({each.file for each in every if each.file.endswith(".py")}))
    results = []
    for number, each in enumerate(
        judge(chosen, cells, jobs=jobs, seed=seed, examples=examples), start=1
    ):
        results.append(each)
        if each.verdict == "survived":
            print(f"{number} of {len(chosen)} survived: {each.name}", file=sys.stderr, flush=True)
    return summary(results, seed)


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
