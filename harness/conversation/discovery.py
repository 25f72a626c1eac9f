"""Find agents by name, in the same way as `harness.normalizers.registry` finds normalizers."""

from typing import Final

from harness.conversation.agent import Agent
from harness.conversation.command_agent import command_agent
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
    schemes={"command": command_agent},
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
            `harness.project`). Or `module:attribute`, which refers to an `Agent` or a function
            `(task) -> conversation`. The module may be in the working folder or in the project's
            folder.

    Raises:
        UsageError: no agent or more than one has this name.
        AgentLoadError: the agent cannot be imported, is not an agent, or needs a package that is
            not installed.
        UnreadableError: the project's declaration of the agent is not usable.
    """
    found = _AGENTS.find(name)
    import_needs(found, f"agent {name}", AgentLoadError)
    return found


def is_agent(name: str) -> bool:
    """Return whether `name` certainly refers to an agent; False for a function.

    Raises:
        AgentLoadError: `name` is `module:attribute`, and the attribute cannot be imported.
    """
    if ":" in name:
        return isinstance(_AGENTS.imported(name), Agent)
    return name in _AGENTS.names()


def default_agent_names() -> tuple[str, ...]:
    """Return the names of the conforming agents, which run if the user names none."""
    names = installed_agent_names()
    return tuple(name for name in names if _AGENTS.find(name).role == "conforming")
