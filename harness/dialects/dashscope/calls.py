"""Entries of DashScope's `tool_calls` lists -> calls, each under a separate key.

An entry has the position of its call as `index`. Later entries repeat id and name, or leave them
empty. Without an index the id decides, then the position in the list; an entry without any of them
continues the last call. An entry with another id and a name at the same position is another call.
Source: https://help.aliyun.com/zh/model-studio/qwen-function-calling (DashScope)
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import msgspec

from harness.dialects.dashscope.snapshots import GrowingFields
from harness.dialects.kit.assembly import Assembly
from harness.dialects.kit.listed_calls import ListedCall, ListedCalls
from harness.dialects.kit.piece import piece_decoder


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
    """The message of the model."""

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
    """One event. The fields from `code` on are those of errors."""

    output: Output
    usage: Counts | None = None
    code: Any = None
    error: Any = None


piece_of = piece_decoder(MessageEvent)


class DashScopeCalls(ListedCalls):
    """All calls of one response.

    Args:
        turn: receives the deltas of the calls.
        fields: decides what the arguments of an event add.
    """

    def __init__(self, turn: Assembly, fields: GrowingFields) -> None:
        super().__init__(turn)
        self._fields = fields

    def take_typed(self, entries: list[Entry]) -> None:
        """Take one list whose arguments are all text."""
        alone = len(entries) == 1
        for position, entry in enumerate(entries):
            function = entry.function
            ids = (entry.index, entry.id, entry.type)
            self.take_entry(ids, function.name, function.arguments or "", -1 if alone else position)

    def known(self, index: object, call_id: object, name: object) -> ListedCall | None:
        """Return the call at the index of an entry, unless it has another id or name."""
        call = self.by_index.get(index) if type(index) is int else None
        if call is None or (call_id and call_id != call.id) or (name and name != call.name):
            return None
        return call

    def without_index(self, position: int) -> ListedCall | None:
        """Return the call at the same place of the list, or the last one."""
        return self.calls[position] if self.calls and position < len(self.calls) else None

    def is_other(
        self,
        call: ListedCall,
        index: int | None,  # noqa: ARG002 - ids and names decide
        call_id: str,
        name: str,
        arguments: str,  # noqa: ARG002 - as above
    ) -> bool:
        """Whether a named entry has another id or name."""
        return bool(name and ((call_id and call.id) or (call.name and name != call.name)))

    def append(self, call: ListedCall, arguments: str) -> None:
        """Take the arguments of an event, which are new or all so far."""
        self._fields.take(call.key, arguments)

    def open(self) -> ListedCall:
        """Return a new call, whose arguments are a separate growing field."""
        call = super().open()
        emit: Callable[[str], None] = partial(self.turn.append, call.key)
        reason = "a snapshot of its arguments takes back what came before"
        reject = partial(self.turn.reject, call.key, reason)
        self._fields.field(call.key, emit, reject, is_json=True)
        return call
