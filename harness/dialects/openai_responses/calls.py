"""Collect the calls of one response from the events about items that are calls for the client.

A call is identified by its item; its result must name the id `call_id`. Its arguments, or
the input of a custom tool, come as fragments, as complete text, or as both, up to three times.
Equal repetitions are one call. If two of them differ, the call must not be executed. An action of
the client, such as a shell command, is a call whose arguments are the JSON of its content.
"""

from typing import Any

from harness.dialects.kit.assembly import Assembly
from harness.dialects.openai_responses.items import (
    CALLS,
    Item,
    Items,
    field_of,
    kind_of,
    name_of,
)
from harness.turns.arguments import parse, same_value
from harness.turns.exact_json import decode_exactly, write_exactly
from harness.turns.json_values import as_text
from harness.wire.frames import Frame

_TWICE = "its arguments came twice and differ"
Path = tuple[str | int, ...]


class ResponsesCalls:
    """Collects the calls of one response, and adds their deltas to `turn`."""

    def __init__(self, turn: Assembly, items: Items) -> None:
        self._turn = turn
        self._items = items
        self._exact: tuple[Frame, object] | None = None

    def announced(self, item: Item, value: dict[str, Any], arguments: str) -> None:
        """Process the start of a call's item, and hold back arguments that it already has.

        The fragments that follow may continue or repeat these arguments.
        """
        self._name(item, value)
        if arguments and not self._turn.arguments(item.key):
            item.snapshot, item.pending = arguments, []

    def complete(self, item: Item, value: dict[str, Any], arguments: str) -> None:
        """Process the end of a call's item, or the item in a complete response."""
        item.kind = as_text(value.get("type"))
        self.named(item, value)
        if value.get("status") == "incomplete":
            self._turn.reject(item.key, "the provider marks it as incomplete")
        self.complete_arguments(item, arguments)

    def fragment(self, item: Item, piece: object, kind: str) -> None:
        """Process a fragment of a call's arguments; `kind` is the type of the call's item."""
        if not item.kind:
            item.kind = kind
            # Its beginning may be in an earlier stream, so that only the complete item is certain.
            item.pending = []
            self._turn.open(item.key, kind=kind_of(kind))
        if item.pending is None:
            self._turn.append(item.key, piece)
        elif isinstance(piece, str):
            item.pending.append(piece)

    def complete_arguments(self, item: Item, arguments: str) -> None:
        """Process the complete arguments. Ignore a value that is not text, or a later `{}`."""
        if not arguments:
            return
        if item.complete:
            is_repeated = arguments == item.complete or (
                _is_function(item) and (arguments == "{}" or same_value(arguments, item.complete))
            )
            if not is_repeated:
                self._turn.reject(item.key, _TWICE)
            return
        item.complete, item.pending = arguments, None
        so_far = self._turn.arguments(item.key)
        if arguments == so_far:
            return
        if arguments.startswith(so_far) or not (
            _is_function(item) and same_value(arguments, so_far)
        ):
            self._turn.complete_arguments(item.key, arguments)

    def named(self, item: Item, value: dict[str, Any]) -> None:
        """Process the name and id in an event that ends the arguments or the response."""
        item.kind = item.kind or "function_call"
        item.name = item.name or as_text(value.get("name"))
        item.call_id = item.call_id or as_text(value.get("call_id"))
        self._name(item, value)

    def finish(self) -> None:
        """Process what was held back: calls without an id, and fragments after early arguments."""
        for item in self._items:
            if item.pending is not None:
                self.complete_arguments(item, _from_early(item, "".join(item.pending)))
            if item.kind in CALLS and not item.call_id and not item.by_provider:
                name = name_of(item.kind, item.name)
                self._turn.open(item.key, item.id, name, kind_of(item.kind))

    def _name(self, item: Item, value: dict[str, Any]) -> None:
        """Open the call as soon as its id is known. A call that has started keeps its id."""
        kind = kind_of(item.kind)
        call_id = item.call_id or (item.id if kind == "action" else "")
        if call_id:
            name = name_of(item.kind, value.get("name") or item.name)
            if name == item.opened:
                return
            item.opened = name
            namespace = as_text(value.get("namespace"))
            self._turn.open(item.key, call_id, name, kind, namespace)

    def arguments_of(self, value: dict[str, Any], frame: Frame, path: Path) -> str:
        """Return the arguments, or the input, in `value`; other values keep their JSON text.

        Args:
            value: the object that contains them.
            frame: the frame whose payload contains `value`.
            path: the keys from the payload to `value`.
        """
        field = field_of(value)
        arguments = value.get(field)
        if arguments is None or isinstance(arguments, str):
            return arguments or ""
        try:
            return self._exact_text(frame, (*path, field))
        except (LookupError, TypeError):  # the payload may hold a list of events
            return write_exactly(arguments)

    def _exact_text(self, frame: Frame, path: Path) -> str:
        if self._exact is None or self._exact[0] is not frame:
            self._exact = (frame, decode_exactly(frame.data))
        holder: Any = self._exact[1]
        for step in path:
            holder = holder[step]
        return write_exactly(holder)


def _is_function(item: Item) -> bool:
    return item.kind != "custom_tool_call"


def _from_early(item: Item, rest: str) -> str:
    """Return the complete arguments of a call whose item had arguments before any fragment.

    The fragments may repeat or continue these arguments.
    """
    if _is_function(item):
        repeated = rest != "" and parse(rest).value is not None
    else:
        repeated = rest.startswith(item.snapshot)
    return rest if repeated else item.snapshot + rest
