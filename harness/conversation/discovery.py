"""Find agents by name, by the rules in `harness.normalizers.registry`."""

from typing import Final

from harness.conversation.agent import Agent
from harness.conversation.mutants import MUTANTS
from harness.conversation.prompts import PROMPTS
from harness.dialects.table import DIALECTS
from harness.errors import AgentLoadError
from harness.normalizers.needs import import_needs
from harness.normalizers.registry import Registry
from harness.project import project

_AGENTS: Final = Registry(
    word="agent",
    kind=Agent,
    mutants=MUTANTS,
    declared=lambda: project().table.agents,
    known={"dialects": DIALECTS, "prompts": PROMPTS},
    example="mypackage.chat:converse",
    error=AgentLoadError,
)
GROUP: Final = _AGENTS.group
installed_agent_names: Final = _AGENTS.installed
agent_names: Final = _AGENTS.names
find_agent: Final = _AGENTS.find
is_bundled: Final = _AGENTS.is_bundled
module_of: Final = _AGENTS.module_of


def load_agent(name: str) -> Agent:
    """Return the agent called `name`.

    Args:
        name: the name of an entry point, a mutant or an agent of the project (see
            `harness.project`); or `module:attribute`, an `Agent` or a function
            `(task) -> conversation`, in a module that may be in the working folder or in that of
            the project.

    Raises:
        UsageError: there is no such agent, or there are two.
        AgentLoadError: it cannot be imported, is not an agent, or needs a package that is not
            installed.
        UnreadableError: the project's declaration cannot be used.
    """
    found = _AGENTS.find(name)
    import_needs(found, f"agent {name}", AgentLoadError)
    return found


def is_agent(name: str) -> bool:
    """Return whether `name` is certainly an agent's; a function may be a normalizer, too.

    Raises:
        AgentLoadError: it is `module:attribute`, and that cannot be imported.
    """
    if ":" in name:
        return isinstance(_AGENTS.imported(name), Agent)
    return name in _AGENTS.names()


def default_agent_names() -> tuple[str, ...]:
    """Return the names that run by default: those of the conforming agents."""
    names = installed_agent_names()
    return tuple(name for name in names if _AGENTS.find(name).role == "conforming")
