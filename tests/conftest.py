"""A Dask cluster, which tests of several packages share."""

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

# In another process, because its threads draw random numbers, which Hypothesis notices.
CLUSTER = """
import sys
from distributed import LocalCluster

with LocalCluster(
    n_workers=2,
    threads_per_worker=1,
    processes=False,
    dashboard_address="127.0.0.1:0",
    protocol="tcp",
) as cluster:
    print(cluster.scheduler_address, flush=True)
    sys.stdin.read()
"""


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """Return what `--on` needs for a cluster of two workers."""
    pytest.importorskip("distributed", reason="needs the extra `dask`")
    with subprocess.Popen(
        [sys.executable, "-c", CLUSTER],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process.stdout.readline().strip().replace("tcp://", "dask://")
        process.stdin.close()
