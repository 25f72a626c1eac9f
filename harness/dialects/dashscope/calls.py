"""Find out which call each item of DashScope's `tool_calls` lists belongs to.

An item has the position of its call as `index`. Later items repeat id and name, or leave them
empty. Without an index the id decides, then the position in the list. An item without any of these
continues the last call. An item with another id and a name at the same position is another call.
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
    """The member `function` of an item of `tool_calls`: a name and a part of the arguments."""

    name: Any = None
    arguments: str | None = None


class Entry(msgspec.Struct, gc=False):
    """One item of a `tool_calls` list, which adds to one call."""

    index: Any = None
    id: Any = None
    type: Any = None
    function: Function = Function()


class Message(msgspec.Struct, gc=False):
    """The member `message` of a choice: the model's text, reasoning and calls."""

    content: str | None = None
    reasoning_content: str | None = None
    tool_calls: list[Entry] | None = None


class Choice(msgspec.Struct, gc=False):
    """One of the alternative answers in an event."""

    message: Message
    index: Any = None
    finish_reason: Any = None


class Output(msgspec.Struct, gc=False):
    """The member `output` of an event, which contains the choices."""

    choices: list[Choice] = []


class Counts(msgspec.Struct, gc=False):
    """The member `usage` of an event: the numbers of tokens so far."""

    input_tokens: Any = None
    output_tokens: Any = None


class MessageEvent(msgspec.Struct, gc=False):
    """One event of a response. An error uses the members from `code` on."""

    output: Output
    usage: Counts | None = None
    code: Any = None
    error: Any = None


piece_of = piece_decoder(MessageEvent)


class DashScopeCalls(ListedCalls):
    """Collects the calls of one response.

    Args:
        turn: receives the deltas of the calls.
        fields: decides what the arguments in an event add to earlier ones.
    """

    def __init__(self, turn: Assembly, fields: GrowingFields) -> None:
        super().__init__(turn)
        self._fields = fields

    def take_typed(self, entries: list[Entry]) -> None:
        """Process one `tool_calls` list in which all arguments are text."""
        alone = len(entries) == 1
        for position, entry in enumerate(entries):
            function = entry.function
            ids = (entry.index, entry.id, entry.type)
            self.take_entry(ids, function.name, function.arguments or "", -1 if alone else position)

    def known(self, index: object, call_id: object, name: object) -> ListedCall | None:
        """Return the call at the index of an item; None if the item has another id or name."""
        call = self.by_index.get(index) if type(index) is int else None
        if call is None or (call_id and call_id != call.id) or (name and name != call.name):
            return None
        return call

    def without_index(self, position: int) -> ListedCall | None:
        """Return the call at the same position of the list, or the last call; None if none."""
        return self.calls[position] if self.calls and position < len(self.calls) else None

    def is_other(
        self,
        call: ListedCall,
        index: int | None,  # noqa: ARG002 - ids and names decide
        call_id: str,
        name: str,
        arguments: str,  # noqa: ARG002 - as above
    ) -> bool:
        """Return whether an item with a name has another id or name than `call`."""
        return bool(name and ((call_id and call.id) or (call.name and name != call.name)))

    def append(self, call: ListedCall, arguments: str) -> None:
        """Process the arguments in an event, which are either new or all so far."""
        self._fields.take(call.key, arguments)

    def open(self) -> ListedCall:
        """Return a new call. Its arguments are a separate field of the response that grows."""
        call = super().open()
        emit: Callable[[str], None] = partial(self.turn.append, call.key)
        reason = "a snapshot of its arguments takes back what came before"
        reject = partial(self.turn.reject, call.key, reason)
        self._fields.field(call.key, emit, reject, is_json=True)
        return call
