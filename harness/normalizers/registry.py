"""Names -> plug-ins of one kind: entry points, `module:callable`, the project's own, miniatures.

Normalizers and agents are found in the same way. Loading one runs its module, so it happens only
for what was named or is installed. Each is called what it was named by, so that the name in a
cell finds it again.
"""

import importlib.metadata
import sys
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any, Generic, TypeVar

import msgspec
from msgspec.structs import replace

from harness.errors import HarnessError, UsageError
from harness.files.typed import nearest
from harness.normalizers.plugins import load_attribute, load_entry_point, with_declaration
from harness.project import DeclaredAgent, DeclaredNormalizer

P = TypeVar("P", bound=msgspec.Struct)


class Registry(msgspec.Struct, Generic[P], frozen=True):
    """Where plug-ins of one kind come from.

    Fields:
        word: `normalizer` or `agent`; its plural names the entry-point group and the project's
            table.
        kind: their type.
        made: name and function -> the plug-in of a function that declares nothing.
        miniatures: those that ship, by name.
        ours: returns those of the project, by name.
        words: field -> the words that the project may declare in it.
        example: of `module:callable`.
        error: to raise where one cannot be loaded.
    """

    word: str
    kind: type[P]
    made: Callable[[str, Callable[..., Any]], P]
    miniatures: Mapping[str, P]
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
        if name in self.miniatures:
            return self.miniatures[name]
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
        return (*self.ours(), *self.installed(), *self.miniatures)

    def _points(self) -> importlib.metadata.EntryPoints:
        return entry_points_of(self.group, tuple(sys.path))

    def _of_project(self, name: str, ours: DeclaredNormalizer | DeclaredAgent) -> P:
        if name in self.miniatures or name in self.installed():
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
            f"a miniature of `harness list {self.word}s`; or module:callable"
        )

    @staticmethod
    def _one(word: str) -> str:
        return f"{'an' if word[0] in 'aA' else 'a'} {word}"


# To ask costs some ten milliseconds, and a run asks for each cell: all that is installed is read.
@lru_cache(maxsize=16)
def entry_points_of(group: str, _path: tuple[str, ...]) -> importlib.metadata.EntryPoints:
    """Return the entry points of a group, read once a process for each `sys.path`."""
    return importlib.metadata.entry_points(group=group)
