"""Find the versions of the library under test, of its dependencies and of the interpreter.

The versions come from the metadata of installed packages, so that no code of them runs here.
"""

import platform
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import metadata
from typing import Final, TypeVar

from msgspec.structs import replace

from harness.conversation import discovery as agents
from harness.conversation.agent import Agent
from harness.normalizers import discovery as normalizers
from harness.normalizers.protocol import Normalizer
from harness.results.run import AgentFacts, NormalizerFacts
from harness.runs.declared import facts_of, facts_of_agent

_Facts = TypeVar("_Facts", NormalizerFacts, AgentFacts)
_OWN: Final = "toolcall-harness"
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def interpreter() -> str:
    """Return the name and the version of this Python interpreter, such as `CPython 3.12.3`."""
    return f"{platform.python_implementation()} {platform.python_version()}"


def versioned_normalizer(found: Normalizer) -> NormalizerFacts:
    """Return what a normalizer declares, with the versions of its library and dependencies."""
    return _versioned(facts_of(found), found.needs, normalizers.module_of(found.name))


def versioned_agent(found: Agent) -> AgentFacts:
    """Return what an agent declares, with the versions of its library and dependencies."""
    return _versioned(facts_of_agent(found), found.needs, agents.module_of(found.name))


def _versioned(facts: _Facts, needs: Iterable[str], module: str) -> _Facts:
    return replace(facts, versions=library_versions((*needs, module)))


def library_versions(modules: Iterable[str]) -> dict[str, str]:
    """Return package -> version: the packages that have `modules`, then what these require.

    Args:
        modules: names of modules, the library under test first; "" is ignored.
    """
    tops = dict.fromkeys(name.partition(".")[0] for name in modules if name)
    if not tops:
        return {}
    owners = (owner for top in tops for owner in _owners().get(top, ())[:1])
    libraries = [name for name in dict.fromkeys(owners) if name != _OWN]
    required = sorted({each for name in libraries for each in _required(name)})
    known = ((name, _version(name)) for name in dict.fromkeys((*libraries, *required)))
    return {name: version for name, version in known if version}


@cache
def _owners() -> dict[str, list[str]]:
    """Return module -> the packages that contain it; reading all metadata takes some time."""
    return dict(metadata.packages_distributions())


def _required(package: str) -> Iterator[str]:
    """Yield the packages that a package always requires."""
    for line in metadata.requires(package) or ():
        found = _NAME.match(line)
        if found and "extra ==" not in line:
            yield found[0]


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""
