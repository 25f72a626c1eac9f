"""The cells of all conforming clients, inputs that a search generates, and what each runs."""

import functools
import random
import subprocess
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Protocol

import msgspec
from coverage import Coverage

from benchmarks.mutant_cells import client_caches
from harness.conversation.discovery import default_agent_names, load_agent
from harness.fuzzing.conversations.search import ConversationSource
from harness.fuzzing.found import FuzzFinding, SmallestInput
from harness.fuzzing.search import Budget, InputSource, Search, Shrinking
from harness.fuzzing.turns.search import TurnSource
from harness.fuzzing.turns.seeds import seeds, varied_seeds
from harness.judging.replaying import Cuts
from harness.normalizers.discovery import default_normalizer_names, load_normalizer
from harness.results.finding import Finding
from harness.results.outcome import Outcome
from harness.runs import judge_job, load
from harness.runs.plan import Job
from harness.runs.request import SelectedClients, requested_cells

ROOT: Final = Path(__file__).parents[1]
_SECONDS: Final = 600.0
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


class Check(Protocol):
    """A cell, or an input of a search.

    Attributes:
        client: the normalizer or agent.
        is_agent: which of the two.
        known: the findings without a fault.
    """

    client: str
    is_agent: bool
    known: tuple[str, ...]

    @property
    def label(self) -> str:
        """Scenario and client, or what the input is."""

    def findings(self, cuts: Cuts) -> tuple[str, ...]:
        """Judge; return the findings as level, rule and path."""


class Cell(msgspec.Struct, frozen=True):
    """A bundled cell."""

    job: Job
    known: tuple[str, ...] = ()

    @property
    def client(self) -> str:
        """Return the normalizer or agent."""
        return self.job.normalizer

    @property
    def is_agent(self) -> bool:
        """Whether it is a conversation."""
        return self.job.subject.conversation

    @property
    def label(self) -> str:
        """Scenario and client."""
        subject = Path(self.job.subject.path)
        return f"{subject.parent.name}/{subject.stem} {self.client}"

    def findings(self, cuts: Cuts) -> tuple[str, ...]:
        """Judge the cell; a client that does not support it any more has a finding too."""
        result, _ = judge_job.judge_job(self.job, cuts)
        if result.outcome is Outcome.UNSUPPORTED:
            return (result.outcome,)
        return _texts(result.findings)


class Input(msgspec.Struct, frozen=True):
    """What a search tried, as `harness fuzz` does it."""

    client: str
    is_agent: bool
    tried: Any
    known: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Client and kind of input."""
        return f"search {self.client} {self.tried.dialect_key}"

    def findings(self, _cuts: Cuts) -> tuple[str, ...]:
        """Judge the input under its own cuts; only findings of level MUST count."""
        found, _ = _source(self.client, is_agent=self.is_agent).judge(self.tried)
        return _texts(each for each in found if each.level == "MUST")


class MeasuredSuite(msgspec.Struct, frozen=True):
    """All checks without a fault.

    Fields:
        checks: the cells, then the inputs.
        cells: number of cells.
        runs: file, relative to the repository -> line -> indexes of the checks that run it; {} if
            nothing was traced.
        at_import: the same files -> the lines that run while modules are imported.
    """

    checks: tuple[Cell | Input, ...]
    cells: int
    runs: dict[str, dict[int, tuple[int, ...]]] = {}
    at_import: dict[str, tuple[int, ...]] = {}


def _texts(found: Iterable[Finding]) -> tuple[str, ...]:
    return tuple(f"{each.level} {each.rule} {each.path}" for each in found)


@functools.cache
def _source(client: str, *, is_agent: bool) -> InputSource[Any]:
    """Return what judges the inputs of a client."""
    if is_agent:
        return ConversationSource(load_agent(client))
    return TurnSource(load_normalizer(client), ())


class SearchOptions(msgspec.Struct, frozen=True):
    """What is generated for each client.

    Fields:
        examples: number of inputs for a normalizer; a conversation costs as much as four.
        seed: of all draws.
    """

    examples: int
    seed: int


class _Tracing:
    """Judges checks one after the other, and notes which lines each of them runs."""

    def __init__(self, files: Collection[str]) -> None:
        self.checks: list[Cell | Input] = []
        self._tracer = Coverage(data_file=None, include=[str(ROOT / each) for each in files])
        self._caches = client_caches()

    def cells(self, jobs: Iterable[Job]) -> None:
        """Judge cells."""
        for job in jobs:
            for each in self._caches:  # so that each cell runs the lines that it needs
                each.cache_clear()
            with self._traced():
                known = Cell(job).findings("whole")
            self.checks.append(Cell(job, known))

    def inputs(self, client: str, source: InputSource[Any], options: SearchOptions) -> None:
        """Judge generated inputs of `source`."""
        is_agent = isinstance(source, ConversationSource)
        recording = _RecordingSource(source, self, client)
        budget = Budget(options.examples // (4 if is_agent else 1), _SECONDS)
        Search(recording, budget, random=options.seed).run()

    def judge(
        self,
        tried: Any,  # noqa: ANN401 - of any source
        client: str,
        source: InputSource[Any],
    ) -> tuple[Sequence[Finding], int]:
        """Judge one input."""
        with self._traced():
            found, replays = source.judge(tried)
        known = _texts(each for each in found if each.level == "MUST")
        self.checks.append(Input(client, isinstance(source, ConversationSource), tried, known))
        return found, replays

    @contextmanager
    def _traced(self) -> Iterator[None]:
        self._tracer.start()
        self._tracer.switch_context(str(len(self.checks)))
        try:
            yield
        finally:
            self._tracer.stop()

    def lines(self, file: str) -> dict[int, tuple[int, ...]]:
        """Return the lines of `file`, each with the indexes of the checks that run it."""
        contexts = self._tracer.get_data().contexts_by_lineno(str(ROOT / file))
        return {
            line: tuple(sorted(map(int, filter(None, each)))) for line, each in contexts.items()
        }


class _RecordingSource:
    """A source whose inputs become checks."""

    seconds_to_shrink = 0.0

    def __init__(self, source: InputSource[Any], tracing: _Tracing, client: str) -> None:
        self._source, self._tracing, self._client = source, tracing, client

    def draws(self, draw: random.Random) -> Iterator[Any]:
        return self._source.draws(draw)

    def judge(self, tried: Any) -> tuple[Sequence[Finding], int]:  # noqa: ANN401 - of any source
        return self._tracing.judge(tried, self._client, self._source)

    def shrink(self, shrinking: Shrinking[Any]) -> None:
        self._source.shrink(shrinking)

    def finding(self, smallest: SmallestInput[Any]) -> FuzzFinding:
        return self._source.finding(smallest)


def measure_suite(files: Collection[str], options: SearchOptions) -> MeasuredSuite:
    """Judge all cells and generated inputs for each client, and trace `files`."""
    load_subjects_once()
    clients = SelectedClients(default_normalizer_names(), default_agent_names())
    jobs = [each for each in requested_cells(clients).jobs if judge_job.is_job_supported(each)]
    tracing = _Tracing(files)
    tracing.cells(jobs)
    for name in clients.normalizers:
        normalizer = load_normalizer(name)
        subjects = [job.subject for job in jobs if job.normalizer == name]
        source = TurnSource(normalizer, varied_seeds(seeds(subjects, normalizer)))
        tracing.inputs(name, source, options)
    for name in clients.agents:
        tracing.inputs(name, ConversationSource(load_agent(name)), options)
    runs = {each: tracing.lines(each) for each in files}
    return MeasuredSuite(tuple(tracing.checks), len(jobs), runs, lines_at_import(files))


def cells_of(paths: Iterable[Path]) -> tuple[Cell, ...]:
    """Judge the cells of the scenarios in `paths`."""
    load_subjects_once()
    clients = SelectedClients(default_normalizer_names(), default_agent_names())
    cells = (Cell(each) for each in requested_cells(clients, paths).jobs)
    supported = (each for each in cells if judge_job.is_job_supported(each.job))
    return tuple(Cell(each.job, each.findings("whole")) for each in supported)


def load_subjects_once() -> None:
    """Keep each scenario and cassette in memory once it is loaded."""
    once = load.load_subject
    if hasattr(once, "cache_parameters") and once.cache_parameters()["maxsize"] is not None:
        judge_job.load_subject = functools.cache(once.__wrapped__)  # type: ignore[attr-defined]  # imported there


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


def module_name(file: str) -> str:
    """Return the name of the module in `file`, a path relative to the repository."""
    return ".".join(Path(file).with_suffix("").parts).removesuffix(".__init__")
