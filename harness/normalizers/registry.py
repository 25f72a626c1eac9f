"""Find normalizers and agents (plug-ins) by name.

A name refers to an entry point of an installed package, an object `module:callable`, a declaration
of the project, or a mutant. Loading a plug-in runs its module, so only plug-ins that are named or
installed are loaded. Third-party code may raise any exception or end the process. Each of these
becomes one error that names the plug-in. A plug-in gets the name by which it was found, so that the
name in a cell finds the same plug-in again.
"""

import importlib.metadata
import sys
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from harness.errors import HarnessError, UnreadableError, UsageError
from harness.project import DeclaredAgent, DeclaredNormalizer, project
from harness.wording import did_you_mean, nearest

P = TypeVar("P", bound=msgspec.Struct)

_OWN_PREFIX: Final = "harness."


class Registry(msgspec.Struct, Generic[P], frozen=True):
    """Finds the plug-ins of one kind: all normalizers, or all agents.

    Fields:
        word: `normalizer` or `agent`; its plural names the entry-point group and the project's
            table.
        kind: the class of the plug-ins.
        mutants: the bundled mutants, by name.
        declared: returns the declarations of the project, by name.
        known: field of a declaration -> the values that the project may write there.
        example: an example of `module:callable`.
        schemes: name before a colon, such as `client` -> a function that makes a plug-in of the
            text after the colon, and of the declaration of the project, or None.
        error: the class of the exception to raise if a plug-in cannot be loaded.
    """

    word: str
    kind: type[P]
    mutants: Mapping[str, P]
    declared: Callable[[], Mapping[str, DeclaredNormalizer | DeclaredAgent]]
    known: Mapping[str, Collection[str]]
    example: str
    error: type[HarnessError]
    schemes: Mapping[str, Callable[[str, Any], P]] = {}

    @property
    def group(self) -> str:
        """The name of the entry-point group."""
        return f"harness.{self.word}s"

    def find(self, name: str) -> P:
        """Return the plug-in called `name`.

        Raises:
            UsageError: no plug-in or more than one has this name.
            HarnessError: the plug-in cannot be imported or is of another kind. The exception is of
                the class `error`.
            UnreadableError: the project's declaration is not usable.
        """
        declaration = self.declared().get(name)
        if declaration is not None:
            return self._of_project(name, declaration)
        if name in self.mutants:
            return self.mutants[name]
        if ":" in name:
            return self._named(name, self.imported(name))
        for point in self._points().get(name, ()):
            return self._named(name, self._loaded(point))
        raise UsageError(f"unknown {self.word} {name!r}", hint=self._known(name))

    def imported(
        self, spec: str, declared: DeclaredNormalizer | DeclaredAgent | None = None
    ) -> object:
        """Return the object that `module:attribute` refers to, or the plug-in of `client:COMMAND`.

        The module may be in the working folder, or in the folder of the project around it.

        Raises:
            HarnessError: the module or attribute does not exist. The exception is of the class
                `error`.
        """
        module_name, _, attribute = spec.partition(":")
        if module_name in self.schemes:
            return self.schemes[module_name](attribute, declared)
        for folder in (str(Path.cwd()), str(project().root)):
            if folder not in sys.path:
                sys.path.append(folder)  # last, so that it hides no installed module
        try:
            found: object = importlib.import_module(module_name)
            for part in attribute.split("."):
                found = getattr(found, part)
        except (Exception, SystemExit) as problem:
            hint = f"Name an importable module and a function in it, such as {self.example}"
            raise self.error(_error_text(problem), where=spec, hint=hint) from problem
        return found

    def is_bundled(self, name: str) -> bool:
        """Return whether `name` refers to code of this package, without importing anything."""
        if name in self.declared():
            return False
        scheme, colon, _ = name.partition(":")
        if colon:
            return scheme in self.schemes or scheme.startswith(_OWN_PREFIX)
        points = self._points().get(name, ())
        return name in self.mutants or all(it.value.startswith(_OWN_PREFIX) for it in points)

    def module_of(self, name: str) -> str:
        """Return the module of third-party code that `name` refers to; "" if it has none."""
        declaration = self.declared().get(name)
        points = self._points().get(name, ())
        if declaration is not None:
            target = declaration.target
        else:
            target = points[0].value if points else name
        module, colon, _ = target.partition(":")
        ours = not colon or module in self.schemes or module.startswith(_OWN_PREFIX)
        return "" if ours else module

    def installed(self) -> tuple[str, ...]:
        """Return the names of all installed entry points, sorted."""
        return installed_names(self.word)

    def names(self) -> tuple[str, ...]:
        """Return every known name, the project's first; objects `module:callable` have no name."""
        return (*self.declared(), *self.installed(), *self.mutants)

    def _points(self) -> Mapping[str, Sequence[importlib.metadata.EntryPoint]]:
        return entry_points_of(self.group, tuple(sys.path))

    def _of_project(self, name: str, declaration: DeclaredNormalizer | DeclaredAgent) -> P:
        if name in self.mutants or name in self.installed():
            raise UsageError(
                f"{self._one(self.word)} called {name!r} is already installed",
                where=f"[tool.harness.{self.word}s.{name}]",
                hint="Choose another name.",
            )
        found = self._named(name, self.imported(declaration.target, declaration))
        changes = declaration.values
        if declaration.of_gateway and not declaration.target.startswith("gateway:"):
            raise UnreadableError(
                f"{declaration.of_gateway[0]}: only a gateway has this key",
                where=f"[tool.harness.{self.word}s.{name}]",
                hint='Write target = "gateway:URL".',
            )
        for field, values in self.known.items():
            for value in changes.get(field, ()):
                # With a misspelt value, every cell would be unsupported and the gate would pass.
                if value not in values:
                    raise _unknown_value_error(field, value, values)
            if field in changes:
                changes[field] = frozenset(changes[field])
        return replace(found, **changes)

    def _loaded(self, point: importlib.metadata.EntryPoint) -> object:
        try:
            return point.load()
        except (Exception, SystemExit) as problem:
            where = f"{self.word} {point.name} ({point.value})"
            raise self.error(_error_text(problem), where=where) from problem

    def _named(self, name: str, found: object) -> P:
        if isinstance(found, self.kind):
            return replace(found, name=name)
        if callable(found):
            return self.kind(name, found, summary="given as module:callable")
        expected = self._one(self.kind.__name__)
        raise self.error(
            f"expected {expected} or a function, found {type(found).__name__}", where=name
        )

    def _known(self, name: str) -> str:
        near = nearest(name, self.names())
        listed = ", ".join((*self.declared(), *self.installed()))
        return (
            f"{near + ' ' if near else ''}Use one of {listed}; "
            f"a mutant of `harness list {self.word}s`; or module:callable"
        )

    @staticmethod
    def _one(word: str) -> str:
        return f"{'an' if word[0] in 'aA' else 'a'} {word}"


# Reading all installed metadata takes some ten milliseconds, and a run needs it for each cell.
@lru_cache(maxsize=16)
def entry_points_of(
    group: str, _path: tuple[str, ...]
) -> Mapping[str, Sequence[importlib.metadata.EntryPoint]]:
    """Return name -> entry points of a group, read once in this process for each `sys.path`."""
    found: dict[str, list[importlib.metadata.EntryPoint]] = {}
    for point in importlib.metadata.entry_points(group=group):
        found.setdefault(point.name, []).append(point)
    return found


def installed_names(word: str) -> tuple[str, ...]:
    """Return the sorted names of the installed plug-ins of a kind, `normalizer` or `agent`."""
    return tuple(sorted(entry_points_of(f"harness.{word}s", tuple(sys.path))))


def _unknown_value_error(name: str, value: str, values: Collection[str]) -> UnreadableError:
    hint = did_you_mean(value, sorted(values), "known")
    return UnreadableError(f"{name}: unknown value {value!r}", where="[tool.harness]", hint=hint)


def _error_text(problem: BaseException) -> str:
    """Return the exception with the file and the line that raised it, if it is not this package."""
    place = None
    if isinstance(problem, SyntaxError) and problem.filename:
        place = problem.filename, problem.lineno
    else:
        frames = traceback.extract_tb(problem.__traceback__)
        others = (it for it in reversed(frames) if not it.filename.startswith("<"))
        raised = next((it for it in others if "importlib" not in it.filename), None)
        if raised is not None and raised.filename != __file__:
            place = raised.filename, raised.lineno
    where = f" ({place[0]}, line {place[1]})" if place else ""
    return f"{type(problem).__name__}: {problem}{where}"
