"""Entries of Mistral's `tool_calls` lists -> calls, each under a key of its own.

The contract sends each call whole, in one entry; index, id and type may be missing, index may
be 0 in all of them, and the id may be the text "null". Some models send fragments: an entry
without a name continues a call. Nothing is ever glued to a call that its entry does not point
to.
Source: https://docs.mistral.ai/capabilities/function_calling/
"""

from collections.abc import Callable
from typing import Any

from harness.dialects.kit.assembly import Assembly
from harness.dialects.kit.parse_request import as_text
from harness.dialects.kit.reader import exact_arguments

# What stands for no id: in some chunks it is text.
_NO_ID = frozenset(("", "null"))
_FUNCTION_TYPES = ("function", None, "", "null")


class _Call:
    """What tells one call from the next."""

    __slots__ = ("end", "id", "key", "name")

    def __init__(self, key: int) -> None:
        self.key = key
        self.id = ""
        self.name = ""
        self.end = ""  # the last character of its arguments that is no blank


class Calls:
    """All calls of one choice.

    Args:
        says: takes what they say.
    """

    def __init__(self, turn: Assembly) -> None:
        self._turn = turn
        self._calls: list[_Call] = []
        self._by_id: dict[str, _Call] = {}
        self._by_index: dict[int, _Call] = {}

    def take(self, entries: list[Any], exactly: Callable[[], list[Any]]) -> None:
        """Take one list; `exactly` gives it once more, with objects as they were spelt."""
        exact: list[Any] | None = None
        for place, entry in enumerate(entries):
            if not isinstance(entry, dict):
                continue
            function = entry.get("function")
            if not isinstance(function, dict):
                function = {}
            arguments = function.get("arguments")
            if arguments is not None and type(arguments) is not str:
                exact = exactly() if exact is None else exact
                arguments = exact_arguments(exact, place, arguments)
            self._take(entry, function.get("name"), arguments or "")

    def _take(self, entry: dict[str, Any], name: object, fragment: str) -> None:
        index, call_id = entry.get("index"), entry.get("id")
        call = None
        if type(index) is int and not name and (not call_id or call_id == "null"):
            call = self._by_index.get(index)
        if call is None:
            call = self._identified(index, as_text(call_id), as_text(name), fragment)
            if call is None:
                return
        if fragment:
            call.end = fragment.rstrip()[-1:] or call.end
            self._turn.append(call.key, fragment)
        kind = entry.get("type")
        if kind not in _FUNCTION_TYPES:
            self._turn.reject(call.key, f"the call is of type {kind!r}, expected 'function'")

    def _identified(self, index: object, call_id: str, name: str, fragment: str) -> _Call | None:
        """Return the call of an entry that may open one, or say more of who it is."""
        call_id = "" if call_id in _NO_ID else call_id
        if not (name or call_id or fragment):
            return None
        at_index = index if type(index) is int else None
        call = self._find(at_index, call_id, name, fragment) or self._open()
        self._learn(call, at_index, call_id, name)
        return call

    def _find(self, index: int | None, call_id: str, name: str, fragment: str) -> _Call | None:
        """Return the call that an entry continues; None where it opens one."""
        last = self._calls[-1] if self._calls else None
        at = last if index is None else self._by_index.get(index)
        if at is not None and call_id and call_id == at.id:
            return at
        if call_id in self._by_id:
            is_sibling = index is not None and at is None and name
            return None if is_sibling else self._by_id[call_id]
        if at is None or (call_id and (at.id or index is None)):
            return None
        if (
            name
            and at.name
            and (name != at.name or (at.end == "}" and fragment.lstrip()[:1] == "{"))
        ):
            return None
        return at

    def _open(self) -> _Call:
        call = _Call(len(self._calls))
        self._calls.append(call)
        return call

    def _learn(self, call: _Call, index: int | None, call_id: str, name: str) -> None:
        if index is not None:
            self._by_index[index] = call
        if call_id:
            call.id = call.id or call_id
            self._by_id[call_id] = call
        call.name = call.name or name
        self._turn.open(call.key, call_id, name)
