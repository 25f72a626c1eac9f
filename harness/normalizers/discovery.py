"""Names -> normalizers, as `harness.normalizers.registry` finds them.

What a normalizer needs beside itself is imported when it is loaded, or told to be missing.
"""

import importlib
from collections.abc import Iterator
from typing import Final

from harness.dialects.table import DIALECTS
from harness.errors import NormalizerLoadError
from harness.normalizers.mutants import MUTANTS
from harness.normalizers.protocol import CAPABILITIES, Normalizer
from harness.normalizers.registry import Registry
from harness.project import project
from harness.text_calls import TEXT_DIALECTS

_NORMALIZERS: Final = Registry(
    word="normalizer",
    kind=Normalizer,
    made=lambda name, found: Normalizer(name, found, summary="given as module:callable"),
    mutants=MUTANTS,
    ours=lambda: project().table.normalizers,
    words={
        "dialects": DIALECTS,
        "capabilities": CAPABILITIES,
        "text_dialects": TEXT_DIALECTS,
    },
    example="mypackage.llm:normalize",
    error=NormalizerLoadError,
)
GROUP: Final = _NORMALIZERS.group


def load_normalizer(name: str) -> Normalizer:
    """Return the normalizer that `name` stands for.

    Args:
        name: an entry point's or mutant's name, one of the project's own (see
            `harness.project`), or `module:attribute` where the attribute is a `Normalizer` or
            a function `(interaction, reads) -> deltas`; the module may lie in the working
            folder, or in that of the project.

    Raises:
        UsageError: nothing is called so, or two things are.
        NormalizerLoadError: it cannot be imported, is no normalizer, or needs a package that
            is not installed.
        UnreadableError: the project says something of itself that cannot be used.
    """
    found = _NORMALIZERS.find(name)
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


def installed_normalizer_names() -> tuple[str, ...]:
    """Return the names of all installed entry points, sorted."""
    return _NORMALIZERS.installed()


def available_normalizers() -> Iterator[Normalizer]:
    """Yield every normalizer that can be named without a module path.

    Those whose packages are not installed are among them, and say so in `missing`.
    """
    yield from map(_NORMALIZERS.find, _NORMALIZERS.names())


def default_normalizer_names() -> tuple[str, ...]:
    """Return the names that run where none is given: those that are meant to pass."""
    names = _NORMALIZERS.installed()
    return tuple(name for name in names if _NORMALIZERS.find(name).role == "conforming")
