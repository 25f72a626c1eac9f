"""Check and import the modules that a normalizer or agent requires, such as a provider's SDK."""

import importlib
import importlib.util
from collections.abc import Iterable
from typing import Protocol

from harness.errors import HarnessError


class Needing(Protocol):
    """A normalizer or an agent: an object with the fields `needs` and `extra`."""

    @property
    def name(self) -> str:  # noqa: D102 - as in Normalizer
        ...

    @property
    def needs(self) -> tuple[str, ...]:  # noqa: D102 - as above
        ...

    @property
    def extra(self) -> str:  # noqa: D102 - as above
        ...


def missing_modules(needs: Iterable[str]) -> tuple[str, ...]:
    """Return the modules in `needs` that are not installed."""
    return tuple(name for name in needs if not _is_installed(name))


def _is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package around it
        return False


def import_needs(found: Needing, where: str, error: type[HarnessError]) -> None:
    """Import the modules that a plug-in (normalizer or agent) requires.

    They are imported now, because the first replay has a time limit.

    Args:
        found: the normalizer or agent.
        where: its kind and name, for errors.
        error: the class of the exception to raise.

    Raises:
        HarnessError: a module is not installed or cannot be imported. The exception is of the class
            `error`.
    """
    missing = missing_modules(found.needs)
    if missing:
        what = " and ".join(missing)
        extra = f"pip install 'toolcall-harness[{found.extra}]'"
        how = extra if found.extra else f"install {what}"
        raise error(f"needs {what}, which is not installed", where=where, hint=how)
    for module in found.needs:
        try:
            importlib.import_module(module)
        except (Exception, SystemExit) as problem:
            text = f"{module}: {type(problem).__name__}: {problem}"
            raise error(text, where=where) from problem
