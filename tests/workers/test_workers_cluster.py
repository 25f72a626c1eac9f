"""A cluster whose workers are processes with nannies, and one of them is killed or stopped."""

import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.results.outcome import Outcome
from harness.results.result import Result
from harness.results.run import AnyCase
from harness.runs.engine import open_engine
from harness.runs.execute import Progress, execute
from harness.shipped import bundled_folder
from tests.cli.cli_samples import command
from tests.dask_cluster import started_cluster
from tests.runs.runs_workers import a_plan, crashed, worker

pytestmark = pytest.mark.attack

# The first line of its output has the address of the scheduler and the processes of the workers.
CLUSTER = """
import sys
from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0", protocol="tcp"
    ) as cluster:
        workers = [each.pid for each in cluster.workers.values()]
        print(cluster.scheduler_address, *workers, flush=True)
        sys.stdin.read()
"""


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[tuple[str, list[int]]]:
    """Return the address of a cluster, and the processes of its workers."""
    script = tmp_path / "start_cluster.py"
    script.write_text(CLUSTER)
    with started_cluster(script) as found:
        yield found


def test_a_killed_worker_loses_and_doubles_nothing(workers: tuple[str, list[int]]) -> None:
    address, (victim, other) = workers
    jobs = (*a_plan(150, "slow"), *a_plan(2, "dies"))
    counts: Counter[str] = Counter()
    outcomes: dict[str, Outcome] = {}

    def on_result(result: Result, _case: AnyCase | None, _output: str) -> None:
        counts[result.cell] += 1
        outcomes[result.cell] = result.outcome
        if len(counts) == 20:
            os.kill(victim, signal.SIGKILL)

    with open_engine(address) as engine:
        progress = execute(
            jobs,
            worker,
            jobs_in_parallel=engine.threads,
            on_result=on_result,
            on_progress=lambda _done, _total: None,
            crashed=crashed,
            open_pool=engine.open_pool,
        )
    assert progress == Progress(152, 152)
    assert set(counts.values()) == {1}
    assert Counter(outcomes.values()) == {Outcome.PASS: 150, Outcome.CRASH: 2}
    os.kill(other, 0)  # the worker of a client that ended its process still runs
    _wait_for_the_end_of(victim)


def _wait_for_the_end_of(process: int) -> None:
    """Wait until the killed process is gone, or another one took its place."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("the killed worker still runs")


SLEEPS = """
import pathlib, time

def normalize(interaction, reads):
    pathlib.Path(__file__).with_name("runs").touch()
    time.sleep(600)
"""


def test_one_ctrl_c_ends_a_run_although_a_worker_is_stopped(
    workers: tuple[str, list[int]], tmp_path: Path
) -> None:
    address, (stopped, _) = workers
    (tmp_path / "sleeps.py").write_text(SLEEPS)
    path = str(bundled_folder("scenarios") / "text/plain.yaml")
    arguments = command("run", path, "-n", "sleeps:normalize", "--on", address, "--no-report")
    with subprocess.Popen(arguments, cwd=tmp_path, start_new_session=True) as process:
        _wait_until((tmp_path / "runs").exists)
        os.kill(stopped, signal.SIGSTOP)
        try:
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does
            # It takes some seconds; before, it never ended.
            assert process.wait(60) == 130
        finally:
            os.kill(stopped, signal.SIGCONT)
            process.kill()


def _wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not is_so() and time.monotonic() < end:
        time.sleep(0.1)
