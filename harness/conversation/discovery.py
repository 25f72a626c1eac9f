"""Names -> agents, in the way that normalizers are found: see `harness.normalizers.registry`."""

from collections.abc import Iterator
from typing import Final

from harness.conversation.agent import Agent
from harness.conversation.mutants import MUTANTS
from harness.conversation.prompts import PROMPTS
from harness.dialects.table import DIALECTS
from harness.errors import AgentLoadError
from harness.normalizers.registry import Registry
from harness.project import project

_AGENTS: Final = Registry(
    word="agent",
    kind=Agent,
    made=lambda name, found: Agent(name, found, summary="given as module:callable"),
    mutants=MUTANTS,
    ours=lambda: project().table.agents,
    words={"dialects": DIALECTS, "prompts": PROMPTS},
    example="mypackage.chat:converse",
    error=AgentLoadError,
)
GROUP: Final = _AGENTS.group


def load_agent(name: str) -> Agent:
    """Return the agent that `name` stands for.

    Args:
        name: an entry point's or mutant's name, one of the project's own (see
            `harness.project`), or `module:attribute` where the attribute is an `Agent` or a
            function `(task) -> conversation`; the module may lie in the working folder, or in
            that of the project.

    Raises:
        UsageError: nothing is called so, or two things are.
        AgentLoadError: it cannot be imported, or is no agent.
        UnreadableError: the project says something of itself that cannot be used.
    """
    return _AGENTS.find(name)


def is_agent(name: str) -> bool:
    """Return whether `name` is surely an agent's; a function given as module:callable may be any.

    Raises:
        AgentLoadError: it is `module:attribute`, and that cannot be imported.
    """
    if ":" in name:
        return isinstance(_AGENTS.imported(name), Agent)
    return name in _AGENTS.names()


def installed_agent_names() -> tuple[str, ...]:
    """Return the names of all installed entry points, sorted."""
    return _AGENTS.installed()


def available_agents() -> Iterator[Agent]:
    """Yield every agent that can be named without a module path."""
    yield from map(_AGENTS.find, _AGENTS.names())


def default_agent_names() -> tuple[str, ...]:
    """Return the names that run where none is given: those that are meant to pass."""
    names = _AGENTS.installed()
    return tuple(name for name in names if _AGENTS.find(name).role == "conforming")
