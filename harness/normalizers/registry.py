"""Find normalizers and agents by name: entry points, `module:callable`, the project's own, mutants.

Loading a plug-in runs its module, so it happens only for plug-ins that are named or installed.
Third-party code may raise anything or end the process: each of these becomes one error that names
what could not be loaded. A plug-in takes the name by which it was found, so that the name in a cell
finds it again.
"""

import importlib.metadata
import sys
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec
from msgspec.structs import asdict, replace

from harness.errors import HarnessError, UnreadableError, UsageError
from harness.files.names import did_you_mean, nearest
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


P = TypeVar("P", bound=msgspec.Struct)


class Registry(msgspec.Struct, Generic[P], frozen=True):
    """Where plug-ins of one kind come from.

    Fields:
        word: `normalizer` or `agent`; its plural names the entry-point group and the project's
            table.
        kind: their type.
        made: name and function -> the plug-in of a function that declares nothing.
        mutants: those that ship, by name.
        ours: returns those of the project, by name.
        words: field -> the words that the project may declare in it.
        example: of `module:callable`.
        error: to raise where one cannot be loaded.
    """

    word: str
    kind: type[P]
    made: Callable[[str, Callable[..., Any]], P]
    mutants: Mapping[str, P]
    ours: Callable[[], Mapping[str, DeclaredNormalizer | DeclaredAgent]]
    words: Mapping[str, Collection[str]]
    example: str
    error: type[HarnessError]

    @property
    def group(self) -> str:
        """The group of the entry points."""
        return f"harness.{self.word}s"

    def find(self, name: str) -> P:
        """Return what `name` stands for.

        Raises:
            UsageError: nothing is called so, or two things are.
            HarnessError: of the type `error`; it cannot be imported, or is none of the kind.
            UnreadableError: the project says something of itself that cannot be used.
        """
        ours = self.ours().get(name)
        if ours is not None:
            return self._of_project(name, ours)
        if name in self.mutants:
            return self.mutants[name]
        if ":" in name:
            return self._named(name, self.imported(name))
        for point in self._points().select(name=name):
            return self._named(name, load_entry_point(point, self.word, self.error))
        raise UsageError(f"no {self.word} is called {name!r}", hint=self._known(name))

    def imported(self, spec: str) -> object:
        """Return what `module:attribute` names, whatever it is."""
        return load_attribute(spec, self.example, self.error)

    def installed(self) -> tuple[str, ...]:
        """Return the names of all installed entry points, sorted."""
        return tuple(sorted({point.name for point in self._points()}))

    def names(self) -> tuple[str, ...]:
        """Return every name that is no `module:callable`, the project's own first."""
        return (*self.ours(), *self.installed(), *self.mutants)

    def _points(self) -> importlib.metadata.EntryPoints:
        return entry_points_of(self.group, tuple(sys.path))

    def _of_project(self, name: str, ours: DeclaredNormalizer | DeclaredAgent) -> P:
        if name in self.mutants or name in self.installed():
            raise UsageError(
                f"the name {name!r} is taken by {self._one(self.word)} that is installed",
                where=f"[tool.harness.{self.word}s.{name}]",
                hint="choose another",
            )
        return with_declaration(self._named(name, self.imported(ours.target)), ours, self.words)

    def _named(self, name: str, found: object) -> P:
        if isinstance(found, self.kind):
            return replace(found, name=name)
        if callable(found):
            return self.made(name, found)
        wanted = self._one(self.kind.__name__)
        raise self.error(
            f"expected {wanted} or a function, found {type(found).__name__}", where=name
        )

    def _known(self, name: str) -> str:
        near = nearest(name, self.names())
        listed = ", ".join((*self.ours(), *self.installed()))
        return (
            f"{near + ' ' if near else ''}Use one of {listed}; "
            f"a mutant of `harness list {self.word}s`; or module:callable"
        )

    @staticmethod
    def _one(word: str) -> str:
        return f"{'an' if word[0] in 'aA' else 'a'} {word}"


# To ask costs some ten milliseconds, and a run asks for each cell: all that is installed is read.
@lru_cache(maxsize=16)
def entry_points_of(group: str, _path: tuple[str, ...]) -> importlib.metadata.EntryPoints:
    """Return the entry points of a group, read once a process for each `sys.path`."""
    return importlib.metadata.entry_points(group=group)
