"""Names -> agents: entry points, `module:callable`, and the shipped miniatures.

As for normalizers: loading a plug-in runs its module, so it happens only for what was named or is
installed, and an agent is called what it was named by.
"""

import importlib.metadata
from collections.abc import Iterator
from typing import Final

import msgspec

from harness.conversation.agent import Agent
from harness.conversation.miniatures import MINIATURES
from harness.conversation.prompts import PROMPTS
from harness.dialects.table import DIALECTS
from harness.errors import AgentLoadError, UsageError
from harness.normalizers.plugins import declared, from_entry_point, from_module
from harness.project import DeclaredAgent, project
from harness.typed_file import nearest

GROUP: Final = "harness.agents"
_EXAMPLE: Final = "mypackage.chat:converse"


def load_agent(name: str) -> Agent:
    """Return the agent that `name` stands for.

    Args:
        name: an entry point's or miniature's name, one of the project's own (see
            `harness.project`), or `module:attribute` where the attribute is an `Agent` or a
            function `(task) -> conversation`; the module may lie in the working folder, or in
            that of the project.

    Raises:
        UsageError: nothing is called so, or two things are.
        AgentLoadError: it cannot be imported, or is no agent.
        UnreadableError: the project says something of itself that cannot be used.
    """
    ours = project().table.agents.get(name)
    if ours is not None:
        return _of_project(name, ours)
    if name in MINIATURES:
        return MINIATURES[name]
    if ":" in name:
        return _declared(name, from_module(name, _EXAMPLE, AgentLoadError))
    for point in importlib.metadata.entry_points(group=GROUP, name=name):
        return _declared(name, from_entry_point(point, "agent", AgentLoadError))
    raise UsageError(f"no agent is called {name!r}", hint=_known(name))


def is_agent(name: str) -> bool:
    """Return whether `name` is surely an agent's; a function given as module:callable may be any.

    Raises:
        AgentLoadError: it is `module:attribute`, and that cannot be imported.
    """
    if ":" in name:
        return isinstance(from_module(name, _EXAMPLE, AgentLoadError), Agent)
    return name in {*MINIATURES, *project().table.agents, *installed_agent_names()}


def installed_agent_names() -> tuple[str, ...]:
    """Return the names of all installed entry points, sorted."""
    return tuple(sorted({point.name for point in importlib.metadata.entry_points(group=GROUP)}))


def available_agents() -> Iterator[Agent]:
    """Yield every agent that can be named without a module path."""
    for name in (*project().table.agents, *installed_agent_names()):
        yield load_agent(name)
    yield from MINIATURES.values()


def default_agent_names() -> tuple[str, ...]:
    """Return the names that run where none is given: those that are meant to pass."""
    names = installed_agent_names()
    return tuple(name for name in names if load_agent(name).role == "meant-to-pass")


def _of_project(name: str, ours: DeclaredAgent) -> Agent:
    if name in MINIATURES or name in installed_agent_names():
        raise UsageError(
            f"the name {name!r} is taken by an agent that is installed",
            where=f"[tool.harness.agents.{name}]",
            hint="choose another",
        )
    found = _declared(name, from_module(ours.target, _EXAMPLE, AgentLoadError))
    return declared(found, ours, {"dialects": DIALECTS, "prompts": PROMPTS})


def _known(name: str) -> str:
    names = (*project().table.agents, *installed_agent_names())
    near = nearest(name, (*names, *MINIATURES))
    return (
        f"{near + ' ' if near else ''}Use one of {', '.join(names)}; "
        "a miniature of `harness list agents`; or module:callable"
    )


def _declared(name: str, found: object) -> Agent:
    if isinstance(found, Agent):
        return msgspec.structs.replace(found, name=name)
    if callable(found):
        return Agent(name=name, converse=found, summary="given as module:callable")
    raise AgentLoadError(
        f"expected an Agent or a function, found {type(found).__name__}", where=name
    )
