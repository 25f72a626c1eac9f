"""Executing: every job once, in bounded flight, whatever the workers do."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import StreamError, UnreadableError
from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.results.run import AnyCase
from harness.runs import execute as execution
from harness.runs.engine import open_engine
from harness.runs.execute import Apart, Progress, execute
from harness.runs.plan import MAX_BATCH, Job, batches
from harness.workers import pool, process, process_limits
from harness.workers.batch import WorkerError
from tests.runs.runs_workers import a_plan, crashed, worker

needs_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="this system does not tell the parent of a process"
)
SCRIPT = Path(__file__).with_name("runs_workers.py")
DIED = f"twice in this cell {process.ENDED}"


# The same cells and outcomes wherever the worker processes are.
on_both_engines = pytest.mark.parametrize("listener", ["local", "dask"], indirect=True)

in_every_way = pytest.mark.parametrize(
    ("listener", "parallel"), [("local", 0), ("local", 2), ("dask", 2)], indirect=["listener"]
)


class Listener:
    """Keeps what an execution says."""

    def __init__(self, open_pool: pool.OpenPool = pool.Pool) -> None:
        self.open_pool = open_pool
        self.results: dict[str, Result] = {}
        self.cases: list[AnyCase] = []
        self.outputs: dict[str, str] = {}
        self.progress: list[tuple[int, int]] = []

    def on_result(self, result: Result, case: AnyCase | None, output: str) -> None:
        assert result.cell not in self.results
        self.results[result.cell] = result
        self.outputs[result.cell] = output
        self.cases += [case] if case else []

    def on_progress(self, done: int, total: int) -> None:
        self.progress.append((done, total))

    def run(self, jobs: tuple[Job, ...], parallel: int, apart: Apart = lambda _job: "") -> Progress:
        return execute(
            jobs,
            worker,
            jobs_in_parallel=parallel,
            on_result=self.on_result,
            on_progress=self.on_progress,
            crashed=crashed,
            apart=apart,
            open_pool=self.open_pool,
        )


@pytest.fixture
def listener(request: pytest.FixtureRequest) -> Iterator[Listener]:
    """Return one whose processes are those of this machine, or of a cluster if a test says so."""
    if getattr(request, "param", "local") == "local":
        yield Listener()
        return
    with open_engine(request.getfixturevalue("cluster")) as engine:
        yield Listener(engine.open_pool)


@given(st.integers(0, 200), st.integers(1, 9))
def test_batches_contain_each_job_once_and_are_small(count: int, workers: int) -> None:
    jobs = a_plan(count)
    cut = batches(jobs, workers)
    assert tuple(job for batch in cut for job in batch) == jobs
    assert all(1 <= len(batch) <= MAX_BATCH for batch in cut)


def test_jobs_of_a_subject_are_adjacent() -> None:
    assert [job.normalizer for job in a_plan(2, "a", "b")] == ["a", "b", "a", "b"]
    assert msgspec.msgpack.decode(
        msgspec.msgpack.encode(a_plan(2)), type=tuple[Job, ...]
    ) == a_plan(2)


@in_every_way
def test_every_job_has_one_result(listener: Listener, parallel: int) -> None:
    progress = listener.run(a_plan(40, "fine", "with-case"), parallel)
    assert progress == Progress(80, 80)
    assert progress.not_run == 0
    assert len(listener.results) == 80
    assert len(listener.cases) == 40
    assert listener.progress == [(done, 80) for done in range(81)]
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("parallel", [0, 2])
def test_execute_without_jobs(listener: Listener, parallel: int) -> None:
    assert listener.run((), parallel) == Progress(0, 0)


def test_few_batches_are_in_flight(listener: Listener, monkeypatch: pytest.MonkeyPatch) -> None:
    flying: list[Future[Any]] = []
    counts: list[int] = []
    submit = pool.Pool.submit

    def counted(self: pool.Pool, *arguments: Any) -> Future[Any]:  # noqa: ANN401 - of any kind
        flying[:] = [future for future in flying if not future.done()]
        flying.append(submit(self, *arguments))
        counts.append(len(flying))
        return flying[-1]

    monkeypatch.setattr(pool.Pool, "submit", counted)
    listener.run(a_plan(50, "slow"), 2)
    assert 2 <= max(counts) <= 4


@on_both_engines
def test_job_that_kills_its_process_loses_no_other_result(listener: Listener) -> None:
    jobs = list(a_plan(30))
    jobs[7:7] = a_plan(2, "dies")
    assert listener.run(tuple(jobs), 2) == Progress(32, 32)
    broken = {cell: row for cell, row in listener.results.items() if row.outcome is Outcome.CRASH}
    assert set(broken) == {"s000/dies", "s001/dies"}
    assert {row.title for row in broken.values()} == {DIED}
    assert {listener.outputs[cell] for cell in broken} == {"before the end of the client\n"}


@on_both_engines
def test_job_that_dies_once_is_retried(listener: Listener, tmp_path: Path) -> None:
    jobs = (*a_plan(5), *a_plan(1, "dies-once", root=str(tmp_path)))
    assert listener.run(jobs, 2) == Progress(6, 6)
    assert {row.outcome for row in listener.results.values()} == {Outcome.PASS}


@on_both_engines
def test_a_cell_that_hangs_once_is_judged_again(listener: Listener, tmp_path: Path) -> None:
    jobs = (*a_plan(9), *a_plan(3, "hangs-once", root=str(tmp_path)))
    assert listener.run(jobs, 2) == Progress(12, 12)
    assert {row.outcome for row in listener.results.values()} == {Outcome.PASS}


def test_a_client_that_hangs_alone_too_is_not_asked_about_each_cell(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone: list[Job] = []
    call = pool.LoneWorker.call

    def counted(self: pool.LoneWorker, work: Any, job: Job) -> Any:  # noqa: ANN401 - of any kind
        alone.append(job)
        return call(self, work, job)

    monkeypatch.setattr(pool.LoneWorker, "call", counted)
    assert listener.run(a_plan(9, "hangs"), 2) == Progress(9, 9)
    assert {row.outcome for row in listener.results.values()} == {Outcome.HANG}
    assert len(alone) == 3


@on_both_engines
def test_clients_that_must_be_apart_share_no_process(listener: Listener) -> None:
    jobs = a_plan(20, "process-id", "fine", "process-id-too")
    assert listener.run(jobs, 2, apart=lambda job: job.normalizer) == Progress(60, 60)
    seen: dict[str, set[str]] = {}
    for cell, row in listener.results.items():
        seen.setdefault(cell.partition("/")[2], set()).add(row.title)
    assert seen["process-id"].isdisjoint(seen["process-id-too"])


def test_memory_is_limited(listener: Listener) -> None:
    assert listener.run(a_plan(2, "fine", "uses-up-memory"), 1) == Progress(4, 4)
    crashed = {cell for cell, row in listener.results.items() if row.outcome is Outcome.CRASH}
    assert crashed == {"s000/uses-up-memory", "s001/uses-up-memory"}
    assert all("MemoryError" in listener.outputs[cell] for cell in crashed)


@on_both_engines
def test_the_beginning_and_the_end_of_much_output_are_kept(listener: Listener) -> None:
    listener.run(a_plan(1, "prints-much"), 1)
    (output,) = listener.outputs.values()
    assert output.startswith("first---")
    assert output.endswith("---last")
    assert "bytes are left out]" in output
    assert len(output) < 20_000


@in_every_way
def test_exit_is_a_crash_of_the_cell(listener: Listener, parallel: int) -> None:
    assert listener.run((*a_plan(1, "exits"), *a_plan(3)), parallel) == Progress(4, 4)
    assert listener.results["s000/exits"].title == "SystemExit: 0"


@in_every_way
def test_unreadable_cassette_stops_the_run_with_a_hint(listener: Listener, parallel: int) -> None:
    jobs = (*a_plan(3), *a_plan(1, "broken-cassette"))
    with pytest.raises(UnreadableError, match="damaged") as caught:
        listener.run(jobs, parallel)
    assert (caught.value.where, caught.value.hint) == ("c.yaml", "Mend it.")
    with pytest.raises(StreamError, match="too long") as stream:
        Listener(listener.open_pool).run(a_plan(1, "broken-stream"), parallel)
    assert stream.value.offset == 7
    assert multiprocessing.active_children() == []


@on_both_engines
def test_worker_error_keeps_its_traceback(listener: Listener) -> None:
    with pytest.raises(WorkerError, match=r"(?s)Traceback.*KeyError: 'bug'"):
        listener.run(a_plan(1, "bug"), 2)
    with pytest.raises(KeyError):
        listener.run(a_plan(1, "bug"), 0)


def start(normalizer: str, parallel: int, after: int) -> subprocess.Popen[str]:
    path = os.pathsep.join(filter(None, sys.path))
    return subprocess.Popen(
        [sys.executable, SCRIPT, normalizer, str(parallel), str(after)],
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.mark.parametrize("parallel", [0, 2])
@pytest.mark.parametrize("group", [False, True])
def test_interruption_keeps_finished_results(parallel: int, group: bool) -> None:  # noqa: FBT001 - a parameter of the test
    process = start("slow", parallel, 5)
    assert process.stdout is not None
    assert process.stdout.readline() == "going\n"
    (os.killpg if group else os.kill)(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    done, handed, total, interrupted = out.split()
    assert err == ""
    assert process.returncode == 0
    assert interrupted == "True"
    assert 5 <= int(done) == int(handed) < int(total)


@pytest.mark.parametrize("parallel", [0, 2])
def test_second_interruption_stops_at_once(parallel: int) -> None:
    process = start("stuck", parallel, 0)
    assert process.stdout is not None
    assert process.stdout.readline() == "going\n"
    time.sleep(0.5)
    began = time.monotonic()
    for _ in range(2):
        process.send_signal(signal.SIGINT)
        time.sleep(0.3)
    out, _ = process.communicate(timeout=30)
    assert out.split() == ["0", "0", "2000", "True"]
    assert time.monotonic() - began < 30  # a job takes 60


@pytest.fixture
def heard() -> Iterator[None]:
    """Hear SIGINT, also where the tests were started with it ignored, as `nohup` does."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heard")
def test_an_interrupt_in_this_process_is_an_interruption(listener: Listener) -> None:
    jobs = (*a_plan(2), *a_plan(2, "interrupts"))
    assert listener.run(jobs, 0) == Progress(2, 4, interrupted=True)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@on_both_engines
def test_an_interrupt_that_a_client_raises_is_a_crash_of_its_cell(listener: Listener) -> None:
    assert listener.run((*a_plan(2), *a_plan(2, "interrupts")), 1) == Progress(4, 4)
    crashed = [row.title for row in listener.results.values() if row.outcome is Outcome.CRASH]
    assert crashed == ["KeyboardInterrupt"] * 2


def test_code_that_no_deadline_can_stop_costs_its_cell(listener: Listener) -> None:
    assert listener.run(a_plan(2, "fine", "unstoppable"), 1) == Progress(4, 4)
    titles = {cell: row.title for cell, row in listener.results.items() if row.title}
    assert {cell for cell, title in titles.items() if title == DIED} == {
        "s000/unstoppable",
        "s001/unstoppable",
    }


def test_a_process_that_stops_itself_is_killed_when_its_time_is_over(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process, "_LATER_SECONDS", 0.1)
    assert listener.run(a_plan(1, "fine", "stops-itself"), 1) == Progress(2, 2)
    assert listener.results["s000/stops-itself"].title == DIED


@on_both_engines
def test_a_failure_of_the_harness_with_a_third_party_client_costs_the_cell(
    listener: Listener,
) -> None:
    assert listener.run(a_plan(2, "fine", "bug"), 1, apart=lambda _job: "x") == Progress(4, 4)
    failed = {cell for cell, row in listener.results.items() if row.outcome is Outcome.CRASH}
    assert failed == {"s000/bug", "s001/bug"}
    assert all("KeyError: 'bug'" in listener.outputs[cell] for cell in failed)


def test_a_file_that_a_third_party_client_cannot_read_is_read_again(
    listener: Listener, tmp_path: Path
) -> None:
    jobs = a_plan(2, "cannot-read-once", root=str(tmp_path))
    assert listener.run(jobs, 1, apart=lambda _job: "x") == Progress(2, 2)


def test_a_process_that_fails_ends_though_a_thread_of_the_client_runs(listener: Listener) -> None:
    began = time.monotonic()
    assert listener.run(a_plan(1, "cannot-send-its-result"), 1) == Progress(1, 1)
    assert {row.title for row in listener.results.values()} == {DIED}
    assert time.monotonic() - began < process_limits.GRACE_SECONDS


# A cell that the client does not support says nothing about whether the client ends.
@pytest.mark.parametrize(("client", "judged"), [("dies", 5), ("dies-if-supported", 7)])
def test_a_client_whose_cells_do_not_end_is_stopped(
    listener: Listener, monkeypatch: pytest.MonkeyPatch, client: str, judged: int
) -> None:
    monkeypatch.setattr(execution, "_ENDLESS", 0.0)
    jobs = a_plan(20, client, "fine")
    done = listener.run(jobs, 1, apart=lambda job: job.normalizer)
    assert (done.done, done.not_run, done.stopped) == (20 + judged, 20 - judged, (client,))
    assert sum(cell.endswith("/fine") for cell in listener.results) == 20


def test_a_thread_that_a_client_leaves_running_ends_with_the_run(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "_EXIT_SECONDS", 3_600)  # the process does not wait for the thread
    assert listener.run(a_plan(2, "starts-a-thread"), 1) == Progress(2, 2)
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(
    "client",
    [
        "starts-a-process",
        "starts-a-process-in-a-session",
        pytest.param("starts-a-process-in-a-session-and-ends", marks=needs_linux),
    ],
)
def test_a_process_that_a_client_leaves_running_ends_with_the_run(
    listener: Listener, tmp_path: Path, client: str
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert listener.run(a_plan(1, client, root=str(pipe)), 1) == Progress(1, 1)
        os.set_blocking(reader, True)
        assert os.read(reader, 1) == b""  # its end: no process writes to it any more
    finally:
        os.close(reader)


def test_what_a_client_writes_is_kept_with_its_cell() -> None:
    process = start("prints", 1, 2)
    assert process.stdout is not None
    assert process.stdout.readline() == "going\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert "the client" not in out + err
    listener = Listener()
    listener.run(a_plan(2, "prints", "fine"), 1)
    written = "print of the client\nwrite of the client\nprocess of the client\n"
    assert {cell: text for cell, text in listener.outputs.items() if text} == {
        "s000/prints": written,
        "s001/prints": written,
    }


class Impatient(Listener):
    """Interrupts as soon as something is done."""

    def on_progress(self, done: int, total: int) -> None:
        if done == 1:
            os.kill(os.getpid(), signal.SIGINT)
        super().on_progress(done, total)


@on_both_engines
@pytest.mark.usefixtures("heard")
def test_workers_stop_between_two_cells(listener: Listener) -> None:
    progress = Impatient(listener.open_pool).run(a_plan(200, "slower"), 2)
    assert progress.interrupted
    assert progress.done <= 3 * MAX_BATCH  # four batches were in flight


@pytest.mark.usefixtures("heard")
def test_a_worker_that_does_not_stop_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "GRACE_SECONDS", 0.2)
    jobs = (*a_plan(1), *a_plan(7, "stuck"))
    assert Impatient().run(jobs, 2) == Progress(1, 8, interrupted=True)
    assert multiprocessing.active_children() == []


def test_workers_have_the_environment_that_their_parent_has_now(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for value in ("one", "two"):  # they may come from a process that started with the first
        monkeypatch.setenv("HARNESS_TEST_VALUE", value)
        with pool.open_processes(1) as processes:
            batch = processes.submit(os.getenv, ("HARNESS_TEST_VALUE",)).result()
        assert batch.results == (value,)


def test_a_worker_that_is_not_closed_does_not_keep_the_command_from_its_end() -> None:
    code = (
        "import os; from harness.workers.pool import LoneWorker; LoneWorker().call(os.getenv, 'A')"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_workers_end_with_a_killed_parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    monkeypatch.setenv("HARNESS_TEST_PIPE", str(pipe))
    process = start("keeps-a-pipe", 2, 0)
    with pipe.open("rb") as reader:  # as soon as a worker writes to it
        process.kill()
        assert reader.read() == b""  # its end: no process writes to it any more
    process.communicate(timeout=10)
