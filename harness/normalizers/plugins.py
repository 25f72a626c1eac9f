"""What a name points at: an attribute of a module, or an installed entry point, imported.

Importing runs foreign code, which may raise anything, or end the process: all of that becomes
one error that names what could not be loaded. Agents and normalizers are found in the same way.
"""

import importlib
import importlib.metadata
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import asdict, replace

from harness.errors import HarnessError, UnreadableError
from harness.files.typed import did_you_mean
from harness.project import DeclaredAgent, DeclaredNormalizer, project

T = TypeVar("T", bound=msgspec.Struct)


def load_entry_point(
    point: importlib.metadata.EntryPoint, kind: str, error: type[HarnessError]
) -> object:
    """Return what an entry point names; `kind` is the word for it in `error`.

    Raises:
        HarnessError: of the type `error`; it cannot be imported.
    """
    try:
        return point.load()
    except (Exception, SystemExit) as problem:
        raise error(_error_text(problem), where=f"{kind} {point.name} ({point.value})") from problem


def load_attribute(spec: str, example: str, error: type[HarnessError]) -> object:
    """Return what `module:attribute` names.

    The module may lie in the working folder, or in the folder of the project around it.

    Args:
        spec: as the user gave it.
        example: a spec that would do, for the hint.
        error: to raise.

    Raises:
        HarnessError: of the type `error`; it cannot be imported, or has no such attribute.
    """
    module_name, _, attribute = spec.partition(":")
    for folder in (str(Path.cwd()), str(project().root)):
        if folder not in sys.path:
            sys.path.append(folder)  # at the end, where it hides nothing that is installed
    try:
        found: object = importlib.import_module(module_name)
        for part in attribute.split("."):
            found = getattr(found, part)
    except (Exception, SystemExit) as problem:
        hint = f"name an importable module and a function in it, as in {example}"
        raise error(_error_text(problem), where=spec, hint=hint) from problem
    return found


def with_declaration(
    found: T, said: DeclaredNormalizer | DeclaredAgent, known: Mapping[str, Collection[str]]
) -> T:
    """Return a normalizer or agent with what its project says of it in place of its own words.

    Args:
        found: what the target is.
        said: by the project.
        known: field -> the words that it may hold; a misspelt one would leave every cell
            unsupported, and the gate green.

    Raises:
        UnreadableError: the project uses a word that nobody knows.
    """
    changes = {name: value for name, value in asdict(said).items() if value is not None}
    del changes["target"]
    for name, words in known.items():
        for word in changes.get(name, ()):
            if word not in words:
                raise _unknown_value_error(name, word, words)
        if name in changes:
            changes[name] = frozenset(changes[name])
    return replace(found, **changes)


def _unknown_value_error(name: str, word: str, words: Collection[str]) -> UnreadableError:
    hint = did_you_mean(word, sorted(words), "known")
    return UnreadableError(f"{name}: there is no {word!r}", where="[tool.harness]", hint=hint)


def _error_text(problem: BaseException) -> str:
    return f"{type(problem).__name__}: {problem}"
