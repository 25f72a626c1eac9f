"""Choose where worker processes run: on this machine, or on the workers of a Dask cluster.

Runs, searches and measurements open their pools here, so they need not know where the pools are.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

import msgspec

from harness.conversation import discovery as agents
from harness.errors import UsageError
from harness.normalizers import discovery as normalizers
from harness.runs.declared import declared_agent, declared_normalizer
from harness.workers.cluster import PREFIX, connect
from harness.workers.pool import OpenPool, Pool
from harness.workers.requirements import Requirements, requirements_here

LOCAL: Final = "local"


class Engine(msgspec.Struct, frozen=True):
    """Opens pools of worker processes, on this machine or on a cluster.

    Fields:
        open_pool: a function that opens a pool.
        threads: number of batches that the cluster runs at a time; 0 for this machine.
    """

    open_pool: OpenPool = Pool
    threads: int = 0

    @property
    def is_local(self) -> bool:
        """Whether the worker processes run on this machine."""
        return not self.threads


LOCAL_ENGINE: Final = Engine()


@contextmanager
def open_engine(
    on: str,
    names: Iterable[str] = (),
    agent_names: Iterable[str] = (),
    paths: Iterable[str] = (),
) -> Iterator[Engine]:
    """Yield the engine for a value of the option `--on`.

    Args:
        on: `local`, or the address `dask://HOST:PORT` of a Dask scheduler.
        names: the normalizers that will run there.
        agent_names: the agents that will run there.
        paths: files, folders and URLs that the workers need.

    Raises:
        UsageError: `on` has another format, or the cluster cannot be used.
        HarnessError: a client cannot be loaded.
    """
    if on == LOCAL:
        yield LOCAL_ENGINE
    elif on.startswith(PREFIX):
        with connect(on, _requirements(names, agent_names, paths)) as cluster:
            yield Engine(cluster.pool, cluster.threads)
    else:
        raise UsageError(
            f"expected `local` or `dask://HOST:PORT`, found {on!r}",
            where="--on",
            hint="`dask scheduler --port 8786` starts a scheduler at dask://127.0.0.1:8786.",
        )


def _requirements(
    names: Iterable[str], agent_names: Iterable[str], paths: Iterable[str]
) -> Requirements:
    modules: list[str] = []
    for name in names:
        modules += (normalizers.module_of(name), *declared_normalizer(name).needs)
    for name in agent_names:
        modules += (agents.module_of(name), *declared_agent(name).needs)
    return requirements_here(modules, paths)
