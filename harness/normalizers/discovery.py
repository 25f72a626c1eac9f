"""Names -> normalizers: entry points, `module:callable`, and the shipped miniatures.

Loading a plug-in runs its module, so it happens only for what was named or is installed.
A normalizer is called what it was named by, so that the name in a cell finds it again.
"""

import importlib
import importlib.metadata
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from harness.errors import NormalizerLoadError, UsageError
from harness.normalizers.miniatures import MINIATURES
from harness.normalizers.protocol import Normalizer

GROUP = "harness.normalizers"


def load_normalizer(name: str) -> Normalizer:
    """Return the normalizer that `name` stands for.

    Args:
        name: an entry point's or miniature's name, or `module:attribute` where the attribute
            is a `Normalizer` or a function `(interaction, reads) -> deltas`; the module may
            lie in the working folder.

    Raises:
        UsageError: nothing is called so.
        NormalizerLoadError: it cannot be imported, or is no normalizer.
    """
    if name in MINIATURES:
        return MINIATURES[name]
    if ":" in name:
        return _declared(name, _attribute(name))
    for point in importlib.metadata.entry_points(group=GROUP, name=name):
        return _declared(name, _loaded(point))
    raise UsageError(f"no normalizer is called {name!r}", where="-n", hint=_known())


def installed_names() -> tuple[str, ...]:
    """Return the names of all installed entry points, sorted."""
    return tuple(sorted({point.name for point in importlib.metadata.entry_points(group=GROUP)}))


def available() -> Iterator[Normalizer]:
    """Yield every normalizer that can be named without a module path."""
    for name in installed_names():
        yield load_normalizer(name)
    yield from MINIATURES.values()


def default_names() -> tuple[str, ...]:
    """Return the names that run where none is given: those that are meant to pass."""
    names = installed_names()
    return tuple(name for name in names if load_normalizer(name).role == "meant-to-pass")


def _known() -> str:
    names = ", ".join(installed_names())
    return f"use one of {names}; a miniature of `harness list normalizers`; or module:callable"


def _loaded(point: importlib.metadata.EntryPoint) -> object:
    try:
        return point.load()
    except (Exception, SystemExit) as error:
        raise NormalizerLoadError(
            f"{type(error).__name__}: {error}", where=f"normalizer {point.name} ({point.value})"
        ) from error


def _attribute(spec: str) -> object:
    module_name, _, attribute = spec.partition(":")
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.append(folder)  # at the end, where it hides nothing that is installed
    try:
        found: object = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as error:
        raise NormalizerLoadError(
            f"{type(error).__name__}: {error}",
            where=spec,
            hint="name an importable module and a function in it, as in mypackage.llm:normalize",
        ) from error
    return found


def _declared(name: str, found: object) -> Normalizer:
    if isinstance(found, Normalizer):
        return msgspec.structs.replace(found, name=name)
    if callable(found):
        return Normalizer(name=name, normalize=found, summary="given as module:callable")
    raise NormalizerLoadError(
        f"expected a Normalizer or a function, found {type(found).__name__}", where=name
    )
