"""Find normalizers by name, by the rules in `harness.normalizers.registry`.

Packages that a normalizer needs are imported when it is loaded, or reported as missing.
"""

from typing import Final, get_args

from harness.dialects.table import DIALECTS
from harness.errors import NormalizerLoadError
from harness.normalizers.mutants import COST_MUTANTS, MUTANTS
from harness.normalizers.needs import import_needs
from harness.normalizers.protocol import CAPABILITIES, Hidden, Normalizer
from harness.normalizers.registry import Registry
from harness.normalizers.timed import TIMED_MUTANTS, TIMED_REFERENCES
from harness.project import DeclaredNormalizer, project
from harness.text_calls import TEXT_DIALECTS


def _client_normalizer(command: str, _declared: DeclaredNormalizer | None) -> Normalizer:
    from harness.normalizers.client import client_normalizer  # noqa: PLC0415 - imports servers, and few runs have a client

    return client_normalizer(command)


def _gateway_normalizer(text: str, declared: DeclaredNormalizer | None) -> Normalizer:
    from harness.normalizers.gateway import gateway_normalizer  # noqa: PLC0415 - as above

    return gateway_normalizer(text, declared)


_NORMALIZERS: Final = Registry(
    word="normalizer",
    kind=Normalizer,
    mutants={**MUTANTS, **COST_MUTANTS, **TIMED_MUTANTS, **TIMED_REFERENCES},
    declared=lambda: project().table.normalizers,
    known={
        "dialects": DIALECTS,
        "capabilities": CAPABILITIES,
        "text_dialects": TEXT_DIALECTS,
        "hides": get_args(Hidden),
    },
    example="mypackage.llm:normalize",
    error=NormalizerLoadError,
    schemes={"client": _client_normalizer, "gateway": _gateway_normalizer},
)
GROUP: Final = _NORMALIZERS.group
installed_normalizer_names: Final = _NORMALIZERS.installed
normalizer_names: Final = _NORMALIZERS.names
# If packages of a normalizer are not installed, its `missing` lists them.
find_normalizer: Final = _NORMALIZERS.find
is_bundled: Final = _NORMALIZERS.is_bundled
module_of: Final = _NORMALIZERS.module_of


def load_normalizer(name: str) -> Normalizer:
    """Return the normalizer called `name`.

    Args:
        name: the name of an entry point, a mutant or a normalizer of the project (see
            `harness.project`). Or `module:attribute`, which refers to a `Normalizer` or a function
            `(interaction, reads) -> deltas`; the module may be in the working folder or in the
            project's folder. Or `client:COMMAND`, see `harness.normalizers.client`, or
            `gateway:URL`, see `harness.normalizers.gateway`.

    Raises:
        UsageError: no normalizer or more than one has this name.
        NormalizerLoadError: the normalizer cannot be imported, is not a normalizer, or needs a
            package that is not installed.
        UnreadableError: the project's declaration of the normalizer is not usable.
    """
    found = _NORMALIZERS.find(name)
    import_needs(found, f"normalizer {name}", NormalizerLoadError)
    return found


def default_normalizer_names() -> tuple[str, ...]:
    """Return the names of the conforming normalizers, which run if the user names none."""
    names = installed_normalizer_names()
    return tuple(name for name in names if _NORMALIZERS.find(name).role == "conforming")
