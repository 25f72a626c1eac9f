"""What clients declare, without running third-party code in this process.

A module may do anything while it is imported: print, block, or end the process. So a worker
process imports it, and this process gets its declaration only. Jobs run in worker processes too.
"""

import os
import sys
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from functools import lru_cache
from typing import Any, Final, NoReturn, TypeVar

from msgspec.structs import replace

from harness.conversation import discovery as agents
from harness.conversation.agent import Agent
from harness.errors import AgentLoadError, HarnessError, NormalizerLoadError
from harness.normalizers import discovery as normalizers
from harness.normalizers.protocol import Normalizer
from harness.runs.pool import Exited, open_processes

_Client = TypeVar("_Client", Normalizer, Agent)
_KEPT: Final = 64


def declared_normalizer(name: str) -> Normalizer:
    """Return the normalizer called `name`; one of third-party code cannot be called here.

    Raises:
        UsageError: there is no such normalizer, or there are two.
        NormalizerLoadError: it cannot be loaded, or its import ends the process or never ends.
        UnreadableError: the project's declaration cannot be used.
    """
    if normalizers.is_bundled(name):
        return normalizers.load_normalizer(name)
    found: Normalizer = _declared(_normalizer_without_code, name, NormalizerLoadError, *_where())
    return found


def declared_agent(name: str) -> Agent:
    """Return the agent called `name`, as `declared_normalizer` does.

    Raises:
        UsageError: there is no such agent, or there are two.
        AgentLoadError: it cannot be loaded, or its import ends the process or never ends.
        UnreadableError: the project's declaration cannot be used.
    """
    if agents.is_bundled(name):
        return agents.load_agent(name)
    found: Agent = _declared(_agent_without_code, name, AgentLoadError, *_where())
    return found


def _where() -> tuple[str, tuple[str, ...]]:
    """Return what decides which code a name means."""
    return os.getcwd(), tuple(sys.path)  # noqa: PTH109 - a key, not a path


@lru_cache(_KEPT)
def _declared(
    load: Callable[[str], _Client], name: str, error: type[HarnessError], *_where: object
) -> _Client:
    with open_processes(1) as pool:
        try:
            batch = pool.submit(load, (name,)).result()
        except BrokenExecutor:
            what = "the process that imports it was ended, by its code or because it took too long"
            raise error(what, where=name) from None
    if batch.fault is not None:
        raise batch.fault.rebuild()
    (found,) = batch.results
    if isinstance(found, Exited):
        raise error(found.reason, where=name)
    return found


def _normalizer_without_code(name: str) -> Normalizer:
    return replace(normalizers.load_normalizer(name), normalize=_not_here)


def _agent_without_code(name: str) -> Agent:
    return replace(agents.load_agent(name), converse=_not_here)


def _not_here(*_arguments: Any) -> NoReturn:  # noqa: ANN401 - in the place of any client
    raise RuntimeError("third-party code runs in worker processes only")
