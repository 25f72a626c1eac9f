"""What clients declare, without running third-party code in this process.

A module may do anything while it is imported: print, block, or end the process. So a worker
process imports it, and this process gets its declaration only. Jobs run in worker processes too.
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
    """Return whether `name` means a client of this package, which may run in this process."""
    return agents.is_bundled(name) if is_agent else normalizers.is_bundled(name)


def third_party_client(job: Job) -> str:
    """Return the client that `job` runs, or "" if it is one of this package."""
    if job.subject.kind in ("log", "unreadable"):  # nothing runs
        return ""
    bundled = is_bundled(job.normalizer, is_agent=job.subject.conversation)
    return "" if bundled else job.normalizer


def third_party_clients(jobs: Iterable[Job]) -> frozenset[str]:
    """Return the clients that `jobs` run and that are not of this package."""
    kinds = {(job.normalizer, job.subject.conversation, job.subject.kind): job for job in jobs}
    return frozenset(map(third_party_client, kinds.values())) - {""}


def declared_normalizer(name: str) -> Normalizer:
    """Return the normalizer called `name`; one of third-party code cannot be called here.

    Raises:
        UsageError: the name is unknown, or two normalizers have it.
        NormalizerLoadError: it cannot be loaded, or its import ends the process or never ends.
        UnreadableError: the project's declaration cannot be used.
    """
    if normalizers.is_bundled(name):
        return normalizers.load_normalizer(name)
    found: Normalizer = _declared(_normalizer_without_code, name, NormalizerLoadError, *_where())
    return found


def declared_agent(name: str) -> Agent:
    """Return the agent called `name`; its errors are those of `declared_normalizer`, of agents."""
    if agents.is_bundled(name):
        return agents.load_agent(name)
    found: Agent = _declared(_agent_without_code, name, AgentLoadError, *_where())
    return found


def available_normalizers() -> Iterator[Normalizer]:
    """Yield every normalizer that has a name without a module path, installed packages or not."""
    for name in normalizers.normalizer_names():
        here = normalizers.is_bundled(name)
        yield normalizers.find_normalizer(name) if here else declared_normalizer(name)


def available_agents() -> Iterator[Agent]:
    """Yield every agent that has a name without a module path."""
    for name in agents.agent_names():
        yield agents.find_agent(name) if agents.is_bundled(name) else declared_agent(name)


def is_declared_agent(name: str) -> bool:
    """Return whether `name` is certainly an agent's; a function may be a normalizer, too.

    Raises:
        AgentLoadError: it is `module:attribute`, and that cannot be imported.
    """
    if agents.is_bundled(name):
        return agents.is_agent(name)
    return _import_in_worker(agents.is_agent, name, AgentLoadError)


def _where() -> tuple[str, tuple[str, ...]]:
    """Return what decides which code a name means."""
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
    return replace(normalizers.load_normalizer(name), normalize=_not_here)


def _agent_without_code(name: str) -> Agent:
    return replace(agents.load_agent(name), converse=_not_here)


def _not_here(*_arguments: Any) -> NoReturn:  # noqa: ANN401 - in the place of any client
    raise RuntimeError("third-party code runs in worker processes only")


def facts_of(normalizer: Normalizer) -> NormalizerFacts:
    """Return the declaration of `normalizer` for a header."""
    return NormalizerFacts(**_declared_fields(normalizer, NormalizerFacts.__struct_fields__))


def facts_of_agent(agent: Agent) -> AgentFacts:
    """Return the declaration of `agent` for a header."""
    return AgentFacts(**_declared_fields(agent, AgentFacts.__struct_fields__))


def _declared_fields(client: Normalizer | Agent, names: Iterable[str]) -> dict[str, Any]:
    return {name: _sorted(getattr(client, name)) for name in names}


def _sorted(value: object) -> object:
    match value:
        case frozenset():
            return tuple(sorted(value))
        case dict():
            return dict(sorted(value.items()))
        case _:
            return value
