"""Find out which call each item of a streamed list `tool_calls` belongs to.

It is for APIs that repeat a call in several messages, or leave out index or id. Each API has its
own rules for which call an item (an entry) continues, by its index, id, name and position.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import msgspec

from harness.dialects.kit.assembly import Assembly
from harness.dialects.kit.reader import exact_arguments
from harness.turns.json_values import as_text


class ListedCall(msgspec.Struct, eq=False):
    """Stores what distinguishes one call of a response from the others."""

    key: int
    id: str = ""
    name: str = ""
    end: str = ""  # the last character of its arguments that is not blank


class ListedCalls(ABC):
    """Collects the calls of one response from its `tool_calls` lists, and adds them to `turn`.

    Fields:
        NO_ID: texts that mean a missing id, in addition to "".
        FUNCTION_TYPES: values of `type` with which an item of the list calls a function.
    """

    NO_ID: ClassVar[frozenset[str]] = frozenset()
    FUNCTION_TYPES: ClassVar[tuple[object, ...]] = ("function", None, "")

    def __init__(self, turn: Assembly) -> None:
        self.turn = turn
        self.calls: list[ListedCall] = []
        self.by_index: dict[int, ListedCall] = {}
        self.by_id: dict[str, ListedCall] = {}

    def take(self, entries: list[Any], read_exactly: Callable[[], list[Any]]) -> None:
        """Process one list `tool_calls`.

        Args:
            entries: the items of the list.
            read_exactly: returns the list again, with each digit and repeated key of its objects.
        """
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
        """Process one item of a list `tool_calls`.

        Args:
            ids: the index, id and type of the item.
            name: the name of the function.
            arguments: the arguments or a part of them.
            position: the position of the item in its list; -1 if it is alone.
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
        """Return the call that an item clearly continues, as most items do; None if unclear."""

    @abstractmethod
    def without_index(self, position: int) -> ListedCall | None:
        """Return the call that an item without an index may continue; None if there is none."""

    @abstractmethod
    def is_other(
        self, call: ListedCall, index: int | None, call_id: str, name: str, arguments: str
    ) -> bool:
        """Return whether an item whose id or name differs from `call` begins another call."""

    @abstractmethod
    def append(self, call: ListedCall, arguments: str) -> None:
        """Add the arguments of an item of the list to `call`."""

    def open(self) -> ListedCall:
        """Add a new call to `calls`, and return it."""
        call = ListedCall(len(self.calls))
        self.calls.append(call)
        return call

    def _identified(
        self, index: object, call_id: str, name: str, arguments: str, position: int
    ) -> ListedCall | None:
        """Return the call of an item that may begin a call or add its id or name.

        None if the item has neither id, name nor arguments.
        """
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
        """Return the call that an item of the list continues; None if it begins one."""
        at = self.without_index(position) if index is None else self.by_index.get(index)
        if at is not None and call_id and call_id == at.id:
            return at
        if call_id in self.by_id:
            is_sibling = index is not None and at is None and name
            return None if is_sibling else self.by_id[call_id]
        if at is None or self.is_other(at, index, call_id, name, arguments):
            return None
        return at
