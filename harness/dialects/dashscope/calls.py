"""Entries of DashScope's `tool_calls` lists -> calls, each under a key of its own.

An entry has the place of its call as `index`; later ones repeat id and name, or leave them
empty. Without an index the id tells, then the place in the list; an entry that says nothing
of who it is continues the last call. Another id with a name at the same place is another call.
Source: https://help.aliyun.com/zh/model-studio/qwen-function-calling (DashScope)
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from harness.dialects.dashscope.snapshots import GrowingFields
from harness.dialects.kit.assembly import Assembly
from harness.dialects.kit.parse_request import as_text
from harness.dialects.kit.piece import piece_decoder
from harness.dialects.kit.reader import exact_arguments


class Function(msgspec.Struct, frozen=True, gc=False):
    """The function of a call."""

    name: Any = None
    arguments: str | None = None


class Entry(msgspec.Struct, gc=False):
    """One entry of a `tool_calls` list."""

    index: Any = None
    id: Any = None
    type: Any = None
    function: Function = Function()


class Message(msgspec.Struct, gc=False):
    """What the model says."""

    content: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[Entry] | None = None


class Choice(msgspec.Struct, gc=False):
    """One of the answers."""

    message: Message
    index: Any = None
    finish_reason: Any = None


class Output(msgspec.Struct, gc=False):
    """The answers."""

    choices: list[Choice] = []


class Counts(msgspec.Struct, gc=False):
    """Tokens so far."""

    input_tokens: Any = None
    output_tokens: Any = None


class MessageEvent(msgspec.Struct, gc=False):
    """One event; the fields from `code` on are those in which errors are told."""

    output: Output
    usage: Counts | None = None
    code: Any = None
    error: Any = None


piece_of = piece_decoder(MessageEvent)


_FUNCTION_TYPES = ("function", None, "")


class _Call:
    """What tells one call from the next."""

    __slots__ = ("id", "key", "name")

    def __init__(self, key: int) -> None:
        self.key = key
        self.id = ""
        self.name = ""


class Calls:
    """All calls of one response.

    Args:
        says: takes what they say.
        pieces: tells what the arguments of an event add.
    """

    def __init__(self, turn: Assembly, pieces: GrowingFields) -> None:
        self._turn = turn
        self._pieces = pieces
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._by_id: dict[str, _Call] = {}

    def take(self, entries: list[Any], exactly: Callable[[], list[Any]]) -> None:
        """Take one list; `exactly` gives it once more, with objects as they were spelt."""
        exact: list[Any] | None = None
        alone = len(entries) == 1
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
            told = Entry(entry.get("index"), entry.get("id"), entry.get("type"))
            self._take(told, function.get("name"), arguments or "", -1 if alone else place)

    def take_typed(self, entries: list[Entry]) -> None:
        """Take one list whose arguments are all text."""
        alone = len(entries) == 1
        for place, entry in enumerate(entries):
            function = entry.function
            self._take(entry, function.name, function.arguments or "", -1 if alone else place)

    def _take(self, entry: Entry, name: object, value: str, place: int) -> None:
        index, call_id = entry.index, entry.id
        call = self._by_index.get(index) if type(index) is int else None
        if call is None or (call_id and call_id != call.id) or (name and name != call.name):
            call = self._identified(index, as_text(call_id), as_text(name), value, place)
            if call is None:
                return
        self._pieces.take(call.key, value)
        kind = entry.type
        if kind not in _FUNCTION_TYPES:
            self._turn.reject(call.key, f"the call is of type {kind!r}, expected 'function'")

    def _identified(
        self, index: object, call_id: str, name: str, value: str, place: int
    ) -> _Call | None:
        """Return the call of an entry that may open one, or say more of who it is."""
        if not (name or call_id or value):
            return None
        at_index = index if type(index) is int else None
        call = self._find(at_index, call_id, name, place) or self._open()
        if at_index is not None:
            self._by_index[at_index] = call
        if call_id:
            self._by_id[call_id] = call
        call.id = call.id or call_id
        call.name = call.name or name
        self._turn.open(call.key, call_id, name)
        return call

    def _find(self, index: int | None, call_id: str, name: str, place: int) -> _Call | None:
        """Return the call that an entry continues; None where it opens one."""
        at = self._by_index.get(index) if index is not None else self._at_place(place)
        if at is not None and call_id and call_id == at.id:
            return at
        if call_id in self._by_id:
            is_sibling = index is not None and at is None and name
            return None if is_sibling else self._by_id[call_id]
        if at is None:
            return None
        is_other = (call_id and at.id) or (name and at.name and name != at.name)
        return None if name and is_other else at

    def _at_place(self, place: int) -> _Call | None:
        return self._calls[place] if place < len(self._calls) and self._calls else None

    def _open(self) -> _Call:
        call = _Call(len(self._calls))
        self._calls.append(call)
        say: Callable[[str], None] = partial(self._turn.append, call.key)
        why = "a snapshot of its arguments takes back what came before"
        self._pieces.field(call.key, say, partial(self._turn.reject, call.key, why), is_json=True)
        return call
