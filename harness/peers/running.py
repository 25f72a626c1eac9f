"""Judge each peer in a process of its environment, after it passed its smoke cases.

If a peer hangs, prints too much or dies, only this peer is recorded as not judged, with the reason.
The cost of a judged peer is measured afterwards.
"""

import tempfile
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Final

import msgspec

from harness import __version__
from harness.errors import HarnessError
from harness.files.output import OutputFolder
from harness.judging.replaying import Cuts
from harness.peers.environment import environment_of, link_harness
from harness.peers.inputs import inputs_digest
from harness.peers.process import judging_variables, run_bounded
from harness.peers.record import RECORD, RUN, PeerRecord, complete_run, write_record
from harness.peers.smoke import smoke_conversations, write_smoke_cases
from harness.peers.table import Peer
from harness.project import SelectedEvidence
from harness.reporting.visible import plain
from harness.results.cost import Cost
from harness.results.outcome import Outcome
from harness.results.run import Run
from harness.results.store import files_of_run

_SMOKE_SECONDS: Final = 120.0
_JUDGED: Final = (0, 1)  # exit codes of `harness run`: the gate passed or failed
# A library may end the process that it runs in. Then it fails its smoke cases, but of a run it may
# cost only one cell, so a run needs a second process.
_SMOKE_PROCESSES: Final = 1
_PROCESSES: Final = 2
_FILES: Final = (RECORD, *files_of_run(Path(RUN)))


class PeerRuns(msgspec.Struct, frozen=True):
    """The settings of all runs of peers.

    Fields:
        folder: the folder of the environments.
        output: the folder that gets a folder for each peer.
        at: ISO date of the runs.
        seconds: time limit for each peer.
        paths: the scenarios and cassettes to replay, as absolute paths.
        cost_seconds: time limit for measuring the cost of each peer; 0 leaves it out.
        evidence: `own` to judge also by streams that no server is known to send; "" to leave these
            out.
    """

    folder: Path
    output: Path
    at: str
    seconds: float
    cuts: Cuts
    select: str = ""
    paths: tuple[Path, ...] = ()
    cost_seconds: float = 0.0
    evidence: SelectedEvidence = ""

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments of `harness run` that select the cells and their chunkings."""
        chosen = ("--select", self.select) if self.select else ()
        asked = ("--evidence", self.evidence) if self.evidence else ()
        return (*map(str, self.paths), "--cuts", self.cuts, *chosen, *asked)

    @property
    def selection(self) -> str:
        """The paths and filters as text; of a path, only the last part."""
        asked = f"--evidence {self.evidence}" if self.evidence else ""
        parts = (*(path.name for path in self.paths), self.select, asked)
        return " ".join(filter(None, parts))


class _Measured(msgspec.Struct, frozen=True):
    """The only key of the output of `harness cost --format json` that a record contains."""

    cost: Cost


class _NotJudgedError(Exception):
    """A peer is not judged; the message is the reason."""


def judge_peers(
    peers: Iterable[tuple[Peer, tuple[str, ...]]],
    runs: PeerRuns,
    in_parallel: int,
    on_record: Callable[[PeerRecord], None],
) -> None:
    """Judge each peer, and write its run and its record (a file with facts about the peer).

    Args:
        peers: the peers, each with the dialects of its smoke cases.
        runs: the settings of the runs.
        in_parallel: how many peers to judge at the same time.
        on_record: called with each record after it is written, in the order of `peers`.
    """
    stop = Event()
    judges = [_PeerJudge(peer, dialects, runs, stop) for peer, dialects in peers]
    for judge in judges:
        judge.claim()
    for environment in {judge.environment for judge in judges}:
        if environment.state == "installed":
            link_harness(environment)
    with ThreadPoolExecutor(in_parallel) as pool:
        try:
            for record in pool.map(_PeerJudge.judge, judges):
                on_record(record)
        except BaseException:  # an interrupt must not wait for the time limits
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class _PeerJudge:
    """Judges one peer, and writes its results."""

    def __init__(self, peer: Peer, dialects: tuple[str, ...], runs: PeerRuns, stop: Event) -> None:
        self.environment = environment_of(peer, runs.folder)
        self._peer, self._dialects, self._runs, self._stop = peer, dialects, runs, stop
        self._folder = runs.output.absolute() / peer.name
        self._seconds = 0.0

    def claim(self) -> None:
        """Check that no file of the user is in the folder of the peer, and mark the folder.

        Raises:
            UsageError: the folder exists, and the harness did not make it.
        """
        folder = OutputFolder(self._folder)
        folder.require_own()
        folder.claim(*_FILES)

    def judge(self) -> PeerRecord:
        """Judge the peer if it passes its smoke cases, and write and return its record."""
        folder = OutputFolder(self._folder)
        folder.remove(_FILES)  # an older run must not count as this one
        folder.claim(*_FILES)
        why = ""
        try:
            self._judge()
        except _NotJudgedError as problem:
            why = str(problem)
        except HarnessError as problem:
            why = problem.what
        except OSError as problem:
            why = f"cannot be started: {problem.strerror}"
        record = PeerRecord(
            name=self._peer.name,
            language=self._peer.language,
            package=self._peer.library.name,
            version=self._peer.library.version,
            harness=__version__,
            at=self._runs.at,
            seconds=round(self._seconds, 1),
            cuts=self._runs.cuts,
            selection=self._runs.selection,
            not_judged=plain(why),
            inputs=inputs_digest(self._peer, self._dialects),
            cost=None if why else self._cost(),
        )
        write_record(record, self._folder)
        return record

    def _judge(self) -> None:
        if self.environment.state != "installed":
            raise _NotJudgedError(f"its environment is {self.environment.state}")
        if not self._dialects:
            raise _NotJudgedError(f"the installed harness has no {self._peer.kind} of this name")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            if self._peer.kind == "agent":
                cases = smoke_conversations(self._dialects)
            else:
                cases = write_smoke_cases(self._dialects, folder)
            smoke = (*map(str, cases), "--cuts", "whole", "-j", str(_SMOKE_PROCESSES))
            run = self._run(smoke, folder, _SMOKE_SECONDS)
            if any(result.outcome is Outcome.HANG for result in run.results):
                # The first use of a library may load so much that it exceeds the limit of a replay.
                run = self._run(smoke, folder, _SMOKE_SECONDS)
            _check_smoke(run, len(cases))
        everything = (*self._runs.arguments, "-j", str(_PROCESSES))
        self._run(everything, self._folder, self._runs.seconds)

    def _run(self, arguments: tuple[str, ...], output: Path, limit: float) -> Run:
        """Run `harness run` of the environment, and return the complete run that it wrote."""
        option = "-a" if self._peer.kind == "agent" else "-n"
        own = (option, self._peer.name, "--no-report", "-o", str(output))
        self._execute(("run", *arguments, *own), limit)
        return complete_run(output / RUN, self._peer.name)

    def _execute(self, command: tuple[str, ...], limit: float) -> None:
        """Run a command of the environment's harness; its exit code must be one of `_JUDGED`."""
        ended = run_bounded(
            (self.environment.command, *command),
            folder=self.environment.path,
            seconds=limit,
            variables=judging_variables(self.environment.executables, self.environment.path),
            stop=self._stop,
        )
        self._seconds += ended.seconds
        if self._stop.is_set():
            raise _NotJudgedError("interrupted")
        if ended.code not in _JUDGED:
            code = f"exit code {ended.code}"
            how = f"it did not end within {limit:g} s" if ended.code is None else code
            raise _NotJudgedError(f"{how}: {ended.last_line}" if ended.last_line else how)

    def _cost(self) -> Cost | None:
        """Return the cost of the judged peer, or why it was not measured; None if not requested.

        The cost of an agent is not measured, because the cost of its library's normalizer is.
        """
        limit = self._runs.cost_seconds
        if not limit or self._peer.kind == "agent":
            return None
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "cost.json"
            try:
                self._execute(("cost", "-n", self._peer.name, "-o", str(path)), limit)
                (measured,) = msgspec.json.decode(path.read_bytes(), type=tuple[_Measured, ...])
            except (_NotJudgedError, OSError, ValueError) as problem:
                return Cost("", not_measured=plain(str(problem)))
        return measured.cost


def _check_smoke(run: Run, cases: int) -> None:
    """Check that each smoke case was judged, and passes."""
    for result in run.results:
        if result.outcome is not Outcome.PASS:
            what = [f"fails the smoke case {result.scenario} ({result.outcome.value})"]
            what += [
                f"{finding.rule}: expected {finding.expected}, found {finding.actual}"
                for finding in result.findings[:1]
            ]
            raise _NotJudgedError(": ".join(what))
    if len(run.results) != cases:
        raise _NotJudgedError(f"expected {cases} smoke cases, found {len(run.results)}")
