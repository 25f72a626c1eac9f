"""A Dask cluster, which tests of several packages share."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def cluster() -> Iterator[str]:
    """Return what `--on` needs for a cluster of two workers in this process."""
    distributed = pytest.importorskip("distributed", reason="needs the extra `dask`")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=False,
        dashboard_address="127.0.0.1:0",
        protocol="tcp",
    ) as local:
        yield local.scheduler_address.replace("tcp://", "dask://")
