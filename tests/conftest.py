"""A Dask cluster, which tests of several packages share."""

from collections.abc import Iterator

import pytest

from tests.dask_cluster import started_cluster

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
    with started_cluster("-c", CLUSTER) as (address, _):
        yield address
