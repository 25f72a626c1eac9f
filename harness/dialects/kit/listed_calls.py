"""Entries of `tool_calls` lists -> calls, each under a separate key.

It is for APIs that repeat a call in several messages, or leave out index or id. Each API has its
own rules for which call an entry continues, by its index, id, name and position.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import msgspec

from harness.dialects.kit.assembly import Assembly
from harness.dialects.kit.reader import exact_arguments
from harness.turns.json_values import as_text


class ListedCall(msgspec.Struct, eq=False):
    """What distinguishes one call from the next."""

    key: int
    id: str = ""
    name: str = ""
    end: str = ""  # the last character of its arguments that is not blank


class ListedCalls(ABC):
    """All calls of one response, which add their deltas to `turn`.

    Fields:
        NO_ID: texts that mean a missing id, in addition to "".
        FUNCTION_TYPES: types of an entry that calls a function.
    """

    NO_ID: ClassVar[frozenset[str]] = frozenset()
    FUNCTION_TYPES: ClassVar[tuple[object, ...]] = ("function", None, "")

    def __init__(self, turn: Assembly) -> None:
        self.turn = turn
        self.calls: list[ListedCall] = []
        self.by_index: dict[int, ListedCall] = {}
        self.by_id: dict[str, ListedCall] = {}

    def take(self, entries: list[Any], read_exactly: Callable[[], list[Any]]) -> None:
        """Take one list. `read_exactly` returns it again with each digit and key of its objects."""
        exact: list[Any] | None = None
        alone = len(entries) == 1
        for position, entry in enumerate(entries):
            if not isinstance(entry, dict):
                continue
            function = entry.get("function")
            if not isinstance(function, dict):
                function = {}
            arguments = function.get("arguments")
            if arguments is not None and type(arguments) is not str:
                exact = read_exactly() if exact is None else exact
                arguments = exact_arguments(exact, position, arguments)
            ids = (entry.get("index"), entry.get("id"), entry.get("type"))
            self.take_entry(ids, function.get("name"), arguments or "", -1 if alone else position)

    def take_entry(
        self, ids: tuple[object, object, object], name: object, arguments: str, position: int
    ) -> None:
        """Take one entry.

        Args:
            ids: its index, id and type.
            name: the name of the function.
            arguments: the arguments or a piece of them.
            position: the position of the entry in its list; -1 if it is alone.
        """
        index, call_id, kind = ids
        call = self.known(index, call_id, name)
        if call is None:
            call = self._identified(index, as_text(call_id), as_text(name), arguments, position)
            if call is None:
                return
        self.append(call, arguments)
        if kind not in self.FUNCTION_TYPES:
            self.turn.reject(call.key, f"the call is of type {kind!r}, expected 'function'")

    @abstractmethod
    def known(self, index: object, call_id: object, name: object) -> ListedCall | None:
        """Return the call of an entry that can only continue it, as most entries do."""

    @abstractmethod
    def without_index(self, position: int) -> ListedCall | None:
        """Return the call that an entry without an index may continue."""

    @abstractmethod
    def is_other(
        self, call: ListedCall, index: int | None, call_id: str, name: str, arguments: str
    ) -> bool:
        """Whether an entry with other ids or names than `call` opens another call."""

    @abstractmethod
    def append(self, call: ListedCall, arguments: str) -> None:
        """Take the arguments of an entry."""

    def open(self) -> ListedCall:
        """Return a new call."""
        call = ListedCall(len(self.calls))
        self.calls.append(call)
        return call

    def _identified(
        self, index: object, call_id: str, name: str, arguments: str, position: int
    ) -> ListedCall | None:
        """Return the call of an entry that may open a call or add its id or name."""
        call_id = "" if call_id in self.NO_ID else call_id
        if not (name or call_id or arguments):
            return None
        at_index = index if type(index) is int else None
        call = self._find(at_index, call_id, name, arguments, position) or self.open()
        if at_index is not None:
            self.by_index[at_index] = call
        if call_id:
            self.by_id[call_id] = call
        call.id = call.id or call_id
        call.name = call.name or name
        self.turn.open(call.key, call_id, name)
        return call

    def _find(
        self, index: int | None, call_id: str, name: str, arguments: str, position: int
    ) -> ListedCall | None:
        """Return the call that an entry continues; None if it opens one."""
        at = self.without_index(position) if index is None else self.by_index.get(index)
        if at is not None and call_id and call_id == at.id:
            return at
        if call_id in self.by_id:
            is_sibling = index is not None and at is None and name
            return None if is_sibling else self.by_id[call_id]
        if at is None or self.is_other(at, index, call_id, name, arguments):
            return None
        return at
