"""The bundled cells of all conforming clients: judged, searched, and what each one runs."""

import functools
import gc
import subprocess
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
from coverage import Coverage

from harness.conversation.discovery import default_agent_names, load_agent
from harness.fuzzing.conversations.search import ConversationSource
from harness.fuzzing.found import FoundBugs
from harness.fuzzing.search import Budget, InputSource, Search
from harness.fuzzing.turns.search import TurnSource
from harness.fuzzing.turns.seeds import seeds
from harness.judging.replaying import Cuts
from harness.judging.results import Outcome
from harness.normalizers.discovery import default_normalizer_names, load_normalizer
from harness.normalizers.protocol import Normalizer
from harness.runs.cells import SelectedClients, requested_cells
from harness.runs.plan import Job, Subject
from harness.runs.worker import is_job_supported, judge_job

ROOT = Path(__file__).parents[1]
_SECONDS = 60.0
_IMPORTS = """
import importlib, json, os, sys, coverage
modules = json.load(sys.stdin)
tracer = coverage.Coverage(data_file=None, include=[os.path.abspath(each) for each in modules])
tracer.start()
for each in modules.values():
    importlib.import_module(each)
tracer.stop()
data = tracer.get_data()
print(json.dumps({each: sorted(data.lines(os.path.abspath(each)) or ()) for each in modules}))
"""
# Scenarios that a search starts from. Their cells were judged, so that a search with few inputs
# must not spend them on all scenarios as they are.
_SEARCHED = 16


class MeasuredCells(msgspec.Struct, frozen=True):
    """The cells without a fault.

    Fields:
        jobs: as JSON.
        known: the findings of each.
        of_agents: indexes of the cells with a conversation.
        runs: file, relative to the repository -> line -> indexes of the cells that run it.
        at_import: the same files -> the lines that run while modules are imported.
    """

    jobs: tuple[bytes, ...]
    known: tuple[tuple[str, ...], ...]
    of_agents: tuple[int, ...]
    runs: dict[str, dict[int, tuple[int, ...]]]
    at_import: dict[str, tuple[int, ...]]


def decode(job: msgspec.Raw) -> Job:
    """Return the cell that its JSON names."""
    return msgspec.json.decode(job, type=Job)


def findings(job: Job, cuts: Cuts) -> tuple[str, ...]:
    """Judge a cell; return its findings as level, rule and path, or that it is not supported."""
    result, _ = judge_job(job, cuts)
    if result.outcome is Outcome.UNSUPPORTED:
        return (result.outcome,)
    return tuple(f"{each.level} {each.rule} {each.path}" for each in result.findings)


def searched(jobs: Sequence[Job], examples: int) -> str:
    """Search the client that has most of `jobs`, from their subjects.

    Args:
        jobs: cells, in any order.
        examples: number of inputs to try.

    Returns:
        The client and the first finding of level MUST; "" if none is found.
    """
    counts = Counter((job.normalizer, job.subject.conversation) for job in jobs)
    (name, is_agent), _ = max(counts.items(), key=lambda item: (item[1], item[0]))
    source: InputSource[Any]
    if is_agent:
        source = ConversationSource(load_agent(name))
    else:
        subjects = [job.subject for job in jobs if job.normalizer == name]
        source = _turn_source(load_normalizer(name), subjects[:_SEARCHED])

    def is_found(found: FoundBugs[Any]) -> bool:
        return any(each.finding.level == "MUST" for _, each in found)

    found = Search(source, Budget(examples, _SECONDS), until=is_found).run()
    worst = (each.finding for _, each in found if each.finding.level == "MUST")
    return next((f"{name}: {each.rule} {each.path}" for each in worst), "")


def _turn_source(normalizer: Normalizer, subjects: Sequence[Subject]) -> TurnSource:
    """Return the inputs of a search that generates only what is like one of `subjects`."""
    found = seeds(subjects, normalizer)
    similar = msgspec.structs.replace(
        normalizer,
        dialects=frozenset(each.interaction.dialect for each in found),
        text_dialects=frozenset(filter(None, (each.parent.text_dialect for each in found))),
    )
    return TurnSource(similar, found)


def measure_cells(files: Collection[str]) -> MeasuredCells:
    """Judge all cells, and note which of them run each line of `files`."""
    clients = SelectedClients(default_normalizer_names(), default_agent_names())
    jobs = [each for each in requested_cells(clients).jobs if is_job_supported(each)]
    tracer = Coverage(data_file=None, include=[str(ROOT / each) for each in files])
    known: list[tuple[str, ...]] = []
    caches = _caches(files)
    tracer.start()
    for index, job in enumerate(jobs):
        for each in caches:  # so that each cell runs the lines that it needs
            each.cache_clear()
        tracer.switch_context(str(index))
        known.append(findings(job, "whole"))
    tracer.stop()
    data = tracer.get_data()
    runs = {each: _lines(data.contexts_by_lineno(str(ROOT / each))) for each in files}
    of_agents = (index for index, job in enumerate(jobs) if job.subject.conversation)
    encoded = tuple(map(msgspec.json.encode, jobs))
    return MeasuredCells(encoded, tuple(known), tuple(of_agents), runs, lines_at_import(files))


def lines_at_import(files: Collection[str]) -> dict[str, tuple[int, ...]]:
    """Import all modules of `files` in a process of its own; return the lines that this runs."""
    found = subprocess.run(  # noqa: S603 - this interpreter
        [sys.executable, "-c", _IMPORTS],
        input=msgspec.json.encode({each: module_name(each) for each in files}),
        capture_output=True,
        cwd=ROOT,
        check=True,
    )
    return msgspec.json.decode(found.stdout, type=dict[str, tuple[int, ...]])


def _lines(contexts: Mapping[int, Sequence[str]]) -> dict[int, tuple[int, ...]]:
    lines: dict[int, tuple[int, ...]] = {}
    for line, cells in contexts.items():
        lines[line] = tuple(sorted(int(each) for each in cells if each))
    return dict(lines)


def _caches(files: Iterable[str]) -> tuple[Any, ...]:
    """Return each function of `files` that `functools.cache` or `lru_cache` wraps."""
    modules = {module_name(each) for each in files}
    kind = type(functools.cache(_lines))
    wrappers = [each for each in gc.get_objects() if isinstance(each, kind)]
    return tuple(each for each in wrappers if each.__module__ in modules)


def module_name(file: str) -> str:
    """Return the name of the module in `file`, a path relative to the repository."""
    return ".".join(Path(file).with_suffix("").parts).removesuffix(".__init__")
