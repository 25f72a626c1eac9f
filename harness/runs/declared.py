"""Find what clients declare, without running third-party code in this process.

A module may do anything while Python imports it: print, block, or end the process. So a worker
process imports it and sends only the declaration back. Cells are judged in worker processes too.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any, Final, NoReturn, TypeVar

from msgspec.structs import replace

from harness.conversation import discovery as agents
from harness.conversation.agent import Agent
from harness.errors import AgentLoadError, HarnessError, NormalizerLoadError
from harness.normalizers import discovery as normalizers
from harness.normalizers.protocol import Normalizer
from harness.results.run import AgentFacts, NormalizerFacts
from harness.runs.plan import Job
from harness.workers.batch import Exited
from harness.workers.pool import call_in_worker

_Client = TypeVar("_Client", Normalizer, Agent)
_Found = TypeVar("_Found")
_KEPT: Final = 64
_SHOWN: Final = 2_000


def is_bundled(name: str, *, is_agent: bool) -> bool:
    """Return whether the client called `name` is in this package, and may run in this process."""
    return agents.is_bundled(name) if is_agent else normalizers.is_bundled(name)


def third_party_client(job: Job) -> str:
    """Return the name of the third-party client that `job` runs; "" if it runs none."""
    if job.subject.kind in ("log", "unreadable"):  # nothing runs
        return ""
    bundled = is_bundled(job.normalizer, is_agent=job.subject.conversation)
    return "" if bundled else job.normalizer


def third_party_clients(jobs: Iterable[Job]) -> frozenset[str]:
    """Return the names of the third-party clients that `jobs` run."""
    kinds = {(job.normalizer, job.subject.conversation, job.subject.kind): job for job in jobs}
    return frozenset(map(third_party_client, kinds.values())) - {""}


def share_a_port(jobs: Iterable[Job]) -> bool:
    """Return whether a gateway of `jobs` asks one fixed port, where one process can listen."""
    names = {
        job.normalizer
        for job in jobs
        if not job.subject.conversation and job.subject.kind not in ("log", "unreadable")
    }
    return not all(declared_normalizer(name).parallel for name in names)


def is_shipped(name: str, *, is_agent: bool) -> bool:
    """Return whether the client called `name` is of this repository, and wraps no other library."""
    return is_bundled(name, is_agent=is_agent) and not _is_peer(name, is_agent, *_where())


@lru_cache(_KEPT)
def _is_peer(name: str, is_agent: bool, *_where: object) -> bool:  # noqa: FBT001 - a key of the cache
    found = agents.find_agent(name) if is_agent else normalizers.find_normalizer(name)
    return found.role == "peer"


def declared_normalizer(name: str) -> Normalizer:
    """Return the normalizer called `name`; if it is third-party code, calling it is an error here.

    Raises:
        UsageError: the name is unknown, or two normalizers have it.
        NormalizerLoadError: the normalizer cannot be loaded, or its import ends the process or
            never ends.
        UnreadableError: the declaration in the project cannot be used.
    """
    if normalizers.is_bundled(name):
        return normalizers.load_normalizer(name)
    found: Normalizer = _declared(_normalizer_without_code, name, NormalizerLoadError, *_where())
    return found


def declared_agent(name: str) -> Agent:
    """Return the agent called `name`; if it is third-party code, calling it is an error here.

    Raises:
        UsageError: the name is unknown, or two agents have it.
        AgentLoadError: the agent cannot be loaded, or its import ends the process or never ends.
        UnreadableError: the declaration in the project cannot be used.
    """
    if agents.is_bundled(name):
        return agents.load_agent(name)
    found: Agent = _declared(_agent_without_code, name, AgentLoadError, *_where())
    return found


def available_normalizers() -> Iterator[Normalizer]:
    """Yield every normalizer that has a name, even if packages that it needs are not installed."""
    for name in normalizers.normalizer_names():
        here = normalizers.is_bundled(name)
        yield normalizers.find_normalizer(name) if here else declared_normalizer(name)


def available_agents() -> Iterator[Agent]:
    """Yield every agent that has a name, even if packages that it needs are not installed."""
    for name in agents.agent_names():
        yield agents.find_agent(name) if agents.is_bundled(name) else declared_agent(name)


def is_declared_agent(name: str) -> bool:
    """Return whether `name` is certainly an agent; False for a function, which may be either.

    Raises:
        AgentLoadError: `name` is `module:attribute`, and the module cannot be imported.
    """
    if agents.is_bundled(name):
        return agents.is_agent(name)
    return _import_in_worker(agents.is_agent, name, AgentLoadError)


def _where() -> tuple[str, tuple[str, ...]]:
    """Return the working folder and the import path, which decide what code a name refers to."""
    return os.getcwd(), tuple(sys.path)  # noqa: PTH109 - a key, not a path


@lru_cache(_KEPT)
def _declared(
    load: Callable[[str], _Client], name: str, error: type[HarnessError], *_where: object
) -> _Client:
    return _import_in_worker(load, name, error)


def _import_in_worker(
    load: Callable[[str], _Found], name: str, error: type[HarnessError]
) -> _Found:
    found, output = call_in_worker(load, name)
    if isinstance(found, Exited):
        written = f"It wrote: {output.strip()[-_SHOWN:]}" if output.strip() else ""
        raise error(f"it cannot be imported: {found.reason}", where=name, hint=written)
    return found


def _normalizer_without_code(name: str) -> Normalizer:
    found = normalizers.load_normalizer(name)
    timed = None if found.timed is None else replace(found.timed, run=_not_here)
    return replace(found, normalize=_not_here, link=None, timed=timed)


def _agent_without_code(name: str) -> Agent:
    return replace(agents.load_agent(name), converse=_not_here)


def _not_here(*_arguments: Any) -> NoReturn:  # noqa: ANN401 - in the place of any client
    raise RuntimeError("third-party code runs in worker processes only")


def facts_of(normalizer: Normalizer) -> NormalizerFacts:
    """Return what `normalizer` declares, for the header of a run."""
    return NormalizerFacts(**_declared_fields(normalizer, NormalizerFacts.__struct_fields__))


def facts_of_agent(agent: Agent) -> AgentFacts:
    """Return what `agent` declares, for the header of a run."""
    return AgentFacts(**_declared_fields(agent, AgentFacts.__struct_fields__))


def _declared_fields(client: Normalizer | Agent, names: Iterable[str]) -> dict[str, Any]:
    return {name: _sorted(getattr(client, name)) for name in names if hasattr(client, name)}


def _sorted(value: object) -> object:
    match value:
        case frozenset():
            return tuple(sorted(value))
        case dict():
            return dict(sorted(value.items()))
        case _:
            return value
