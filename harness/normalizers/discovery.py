"""Names -> normalizers: entry points, `module:callable`, the project's own, and miniatures.

Loading a plug-in runs its module, so it happens only for what was named or is installed.
A normalizer is called what it was named by, so that the name in a cell finds it again.
"""

import importlib
import importlib.metadata
from collections.abc import Collection, Iterator

import msgspec

from harness.dialects.table import DIALECTS
from harness.errors import NormalizerLoadError, UsageError
from harness.normalizers.miniatures import MINIATURES
from harness.normalizers.plugins import declared, from_entry_point, from_module
from harness.normalizers.protocol import CAPABILITIES, Normalizer
from harness.project import DeclaredNormalizer, project
from harness.turns.text_calls.table import TEXT_DIALECTS
from harness.typed_file import nearest

GROUP = "harness.normalizers"
_EXAMPLE = "mypackage.llm:normalize"
_WORDS: dict[str, Collection[str]] = {
    "dialects": DIALECTS,
    "capabilities": CAPABILITIES,
    "text_dialects": TEXT_DIALECTS,
}


def load_normalizer(name: str) -> Normalizer:
    """Return the normalizer that `name` stands for.

    Args:
        name: an entry point's or miniature's name, one of the project's own (see
            `harness.project`), or `module:attribute` where the attribute is a `Normalizer` or
            a function `(interaction, reads) -> deltas`; the module may lie in the working
            folder, or in that of the project.

    Raises:
        UsageError: nothing is called so, or two things are.
        NormalizerLoadError: it cannot be imported, is no normalizer, or needs a package that
            is not installed.
        UnreadableError: the project says something of itself that cannot be used.
    """
    found = _found(name)
    if found.missing:
        raise _not_installed(found)
    for module in found.needs:  # now, since the first replay has little time
        try:
            importlib.import_module(module)
        except (Exception, SystemExit) as problem:
            told = f"{module}: {type(problem).__name__}: {problem}"
            raise NormalizerLoadError(told, where=f"normalizer {name}") from problem
    return found


def _not_installed(found: Normalizer) -> NormalizerLoadError:
    what = " and ".join(found.missing)
    how = f"pip install 'toolcall-harness[{found.extra}]'" if found.extra else f"install {what}"
    return NormalizerLoadError(
        f"needs {what}, which is not installed", where=f"normalizer {found.name}", hint=how
    )


def _found(name: str) -> Normalizer:
    ours = project().table.normalizers.get(name)
    if ours is not None:
        return _of_project(name, ours)
    if name in MINIATURES:
        return MINIATURES[name]
    if ":" in name:
        return _declared(name, from_module(name, _EXAMPLE, NormalizerLoadError))
    for point in importlib.metadata.entry_points(group=GROUP, name=name):
        return _declared(name, from_entry_point(point, "normalizer", NormalizerLoadError))
    raise UsageError(f"no normalizer is called {name!r}", hint=_known(name))


def installed_names() -> tuple[str, ...]:
    """Return the names of all installed entry points, sorted."""
    return tuple(sorted({point.name for point in importlib.metadata.entry_points(group=GROUP)}))


def available() -> Iterator[Normalizer]:
    """Yield every normalizer that can be named without a module path.

    Those whose packages are not installed are among them, and say so in `missing`.
    """
    for name in (*project().table.normalizers, *installed_names()):
        yield _found(name)
    yield from MINIATURES.values()


def default_names() -> tuple[str, ...]:
    """Return the names that run where none is given: those that are meant to pass."""
    names = installed_names()
    return tuple(name for name in names if _found(name).role == "meant-to-pass")


def _of_project(name: str, ours: DeclaredNormalizer) -> Normalizer:
    if name in MINIATURES or name in installed_names():
        raise UsageError(
            f"the name {name!r} is taken by a normalizer that is installed",
            where=f"[tool.harness.normalizers.{name}]",
            hint="choose another",
        )
    found = _declared(name, from_module(ours.target, _EXAMPLE, NormalizerLoadError))
    return declared(found, ours, _WORDS)


def _known(name: str) -> str:
    names = (*project().table.normalizers, *installed_names())
    near = nearest(name, (*names, *MINIATURES))
    return (
        f"{near + ' ' if near else ''}Use one of {', '.join(names)}; "
        "a miniature of `harness list normalizers`; or module:callable"
    )


def _declared(name: str, found: object) -> Normalizer:
    if isinstance(found, Normalizer):
        return msgspec.structs.replace(found, name=name)
    if callable(found):
        return Normalizer(name=name, normalize=found, summary="given as module:callable")
    raise NormalizerLoadError(
        f"expected a Normalizer or a function, found {type(found).__name__}", where=name
    )
