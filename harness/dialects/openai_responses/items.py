"""Collect the output items of one response, and find the item that each event belongs to.

By the contract, `output_index` is the position of an item and `item_id` its id, each event of an
item has both, and the terminal event repeats all items. Some gateways leave ids out, change them in
the middle of a stream, or number every item 0. Then the member that is still usable distinguishes
the items. Two items count as one only if nothing contradicts that.
Source: OpenAI API reference, "Responses", "Streaming events".
"""

from collections.abc import Iterable, Iterator
from typing import Any, Final

import msgspec

from harness.turns.deltas import CallKind
from harness.turns.json_values import as_dict, as_text


class Item(msgspec.Struct, eq=False):
    """One output item while it streams.

    Fields:
        key: a number for the item in this reader, and the key of a call's deltas.
        kind: the `type` of the item; "" until an event has it.
        id, call_id, name: "" if they did not arrive.
        index: the `output_index` of the item; -1 if it has none.
        announced: an `output_item` event of the item arrived, and not only fragments.
        done: the event `output_item.done` of the item arrived.
        texts: the texts of the item so far, by field.
        compared: its texts were compared with a complete item.
        complete: its complete arguments, as they arrived first.
        pending: fragments of arguments that are held back, because the item had arguments already
            when it began; None if none are held back.
        snapshot: the arguments with which the item began.
        has_event: an event reported the item, and not only the complete response.
        by_provider: the provider executes it.
        opened: the name with which its call began under its `call_id`; None before.
    """

    key: int
    kind: str = ""
    id: str = ""
    call_id: str = ""
    name: str = ""
    index: int = -1
    announced: bool = False
    done: bool = False
    texts: dict[str, list[str]] = {}
    compared: bool = False
    complete: str = ""
    pending: list[str] | None = None
    snapshot: str = ""
    has_event: bool = True
    by_provider: bool = False
    opened: object = None


class Items:
    """Collects the output items of one response."""

    def __init__(self) -> None:
        self._all: list[Item] = []
        self._by_id: dict[str, Item] = {}
        self._by_call: dict[str, Item] = {}
        self._by_index: dict[int, Item] = {}
        self._indexes_shared = False  # then a place contains nothing

    def __iter__(self) -> Iterator[Item]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)

    def at(self, item_id: object, index: object) -> Item:
        """Return the item that a delta belongs to; a new one if none is known."""
        position = index if type(index) is int else -1
        item = self._by_index.get(position)
        if item is not None and item.id == item_id:
            return item
        item_id = as_text(item_id)
        found = self._by_id.get(item_id)
        if found is not None:
            return found
        # The position decides which item it is if a proxy changed the id.
        if item is not None and not (item.done and item_id and self._indexes_shared):
            return item
        if not item_id and position < 0 and self._all:
            return self._all[-1]
        return self._register(self._new(), item_id, "", position)

    def announced(self, value: dict[str, Any], index: object, *, done: bool) -> Item:
        """Return the item of an `output_item` event, `added` or `done`."""
        position = index if type(index) is int else -1
        item_id, call_id = as_text(value.get("id")), as_text(value.get("call_id"))
        kind = as_text(value.get("type"))
        item = self._known(item_id, call_id, kind, position, done=done) or self._new()
        item.kind = kind
        item.name = item.name or as_text(value.get("name"))
        item.announced = True
        item.done = item.done or done
        return self._register(item, item_id, call_id, position)

    def paired(self, output: list[Any]) -> list[tuple[Item, dict[str, Any], int]]:
        """Return each object of a complete `output` with its item and its position.

        The items are matched first by known ids, then by known positions, then by type and name in
        order. The remaining objects are items without an event.
        """
        has_event = [
            (position, value) for position, value in enumerate(output) if isinstance(value, dict)
        ]
        free = {item.key: item for item in self._all}
        found: dict[int, Item] = {}
        rest = has_event
        for same in (self._of_ids, self._of_place):
            for position, value in rest:
                item = same(value, position)
                if item is not None and free.pop(item.key, None) is not None:
                    found[position] = item
            rest = [(position, value) for position, value in rest if position not in found]
            if not rest:
                break
        queues = _queues(free.values()) if rest else {}
        for position, value in rest:
            queue = queues.get((as_text(value.get("type")), as_text(value.get("name"))))
            if queue:
                found[position] = queue.pop()
        return [
            (found.get(position) or self._of_output(value), value, position)
            for position, value in has_event
        ]

    def _known(
        self, item_id: str, call_id: str, kind: str, position: int, *, done: bool
    ) -> Item | None:
        at = self._by_index.get(position)
        by_id = at if at is not None and at.id == item_id else self._by_id.get(item_id)
        if item_id and by_id is not None and by_id.kind in ("", kind):
            is_same = _agree(by_id.call_id, call_id) or by_id.index == position
            if is_same:
                return by_id
        by_call = self._by_call.get(call_id)
        if by_call is not None and by_call.kind == kind:
            is_ending = done and not by_call.done
            if is_ending or _agree(by_call.id, item_id) or by_call.index == position:
                return by_call
        if at is None or at.done or at.kind not in ("", kind):
            return None
        # Ids that changed on the way, or an item that only had deltas so far.
        return at if done or (not at.announced and _agree(at.id, item_id)) else None

    def _of_ids(self, value: dict[str, Any], _place: int) -> Item | None:
        by_id = self._by_id.get(as_text(value.get("id")))
        item = by_id or self._by_call.get(as_text(value.get("call_id")))
        return item if item is not None and item.kind in ("", value.get("type")) else None

    def _of_place(self, value: dict[str, Any], position: int) -> Item | None:
        item = self._by_index.get(position)
        if item is None or self._indexes_shared or item.kind not in ("", value.get("type")):
            return None
        return item if _agree(item.name, as_text(value.get("name"))) else None

    def _of_output(self, value: dict[str, Any]) -> Item:
        item = self._new()
        item.has_event = False
        item.kind = as_text(value.get("type"))
        return self._register(item, as_text(value.get("id")), as_text(value.get("call_id")), -1)

    def _new(self) -> Item:
        item = Item(len(self._all))
        self._all.append(item)
        return item

    def _register(self, item: Item, item_id: str, call_id: str, position: int) -> Item:
        item.id = item.id or item_id
        item.call_id = item.call_id or call_id
        if item.index < 0:
            item.index = position
        if item_id:
            self._by_id[item_id] = item
        if call_id:
            self._by_call.setdefault(call_id, item)
        if position >= 0:
            self._indexes_shared |= self._by_index.setdefault(position, item) is not item
            self._by_index[position] = item
        return item


def _queues(items: Iterable[Item]) -> dict[tuple[str, str], list[Item]]:
    """Return `items` grouped by type and name, in reverse order."""
    queues: dict[tuple[str, str], list[Item]] = {}
    for item in reversed(list(items)):
        queues.setdefault((item.kind, item.name), []).append(item)
    return queues


def _agree(one: str, other: str) -> bool:
    return not one or not other or one == other


# Name of the events of a text -> which text of its item it is, and its member in the last event.
_TEXT_EVENTS: Final = {
    "response.output_text": ("text", "text"),
    "response.reasoning_summary_text": ("summary", "text"),
    "response.reasoning_text": ("reasoning", "text"),
    "response.refusal": ("refusal", "refusal"),
    # Drafts and servers that follow them.
    "response.reasoning_summary": ("summary", "text"),
    "response.reasoning": ("reasoning", "text"),
    # Realtime; audio is represented by its transcript.
    "response.text": ("text", "text"),
    "response.audio_transcript": ("text", "transcript"),
    "response.output_audio_transcript": ("text", "transcript"),
}
# Event -> which text of its item its `delta` continues.
TEXT_DELTA_EVENTS: Final = {f"{name}.delta": field for name, (field, _) in _TEXT_EVENTS.items()}
# Event -> which complete text of its item it contains, and in which member.
TEXT_DONE_EVENTS: Final = {f"{name}.done": known for name, known in _TEXT_EVENTS.items()}
# Type of a content part -> the text that it is a part of, and its member there.
_PARTS: Final = {
    "output_text": ("text", "text"),
    "text": ("text", "text"),
    "audio": ("text", "transcript"),
    "output_audio": ("text", "transcript"),
    "refusal": ("refusal", "refusal"),
    "reasoning_text": ("reasoning", "text"),
    "summary_text": ("summary", "text"),
}


def texts_of(value: dict[str, Any]) -> dict[str, list[str]]:
    """Return the texts of a complete item, by field."""
    found: dict[str, list[str]] = {}
    for parts in (value.get("summary"), value.get("content")):
        if not isinstance(parts, list):
            continue
        for part in parts:
            known = _PARTS.get(as_text(part.get("type"))) if isinstance(part, dict) else None
            if known and (piece := as_text(part.get(known[1]))):
                found.setdefault(known[0], []).append(piece)
    return found


# Type of an item -> the kind of call that it is, and its fields with what the model gives it: the
# first that is there counts. An action is asked of the client itself, and of no tool with a name.
CALLS: Final[dict[str, tuple[CallKind, tuple[str, ...]]]] = {
    "function_call": ("function", ("arguments",)),
    "custom_tool_call": ("custom", ("input",)),
    "apply_patch_call": ("action", ("operation",)),
    "computer_call": ("action", ("actions", "action")),
    "local_shell_call": ("action", ("action",)),
    "mcp_approval_request": ("action", ("arguments",)),
    "shell_call": ("action", ("action",)),
    "tool_search_call": ("action", ("arguments",)),
}


def kind_of(item_type: str) -> CallKind:
    """Return the kind of the calls whose items have the type `item_type`."""
    return CALLS[item_type][0] if item_type in CALLS else "function"


def field_of(value: dict[str, Any]) -> str:
    """Return the member of the call `value` that contains the model's arguments."""
    fields = CALLS.get(as_text(value.get("type")), CALLS["function_call"])[1]
    return next((field for field in fields if value.get(field) is not None), fields[0])


def name_of(item_type: str, name: object) -> str:
    """Return the name of a call. An action without a name gets its type as name."""
    is_action = kind_of(item_type) == "action"
    return as_text(name) or (item_type.removesuffix("_call") if is_action else "")


def is_call(value: dict[str, Any], custom: frozenset[str] | None = None) -> bool:
    """Return whether the item `value` asks the client for a call of its tools, or for an action.

    Args:
        value: the item.
        custom: names of the custom tools that the client declared; None if they are not
            known. A custom call of another name is a call of a tool of the provider, such as
            the `x_keyword_search` of xAI's `x_search`.
    """
    match kind := as_text(value.get("type")):
        case "custom_tool_call":
            return custom is None or as_text(value.get("name")) in custom
        case "shell_call":  # of the client itself, not in a container of the provider
            return bool(as_dict(value.get("environment")).get("type", "local") == "local")
        case "tool_search_call":
            return value.get("execution") == "client"
        case _:
            return kind in CALLS


def custom_tools(tools: object) -> frozenset[str] | None:
    """Return the names of the custom tools in the `tools` of a response; None without `tools`."""
    if not isinstance(tools, list) or not tools:
        return None
    declared = (tool for tool in tools if isinstance(tool, dict) and tool.get("type") == "custom")
    return frozenset(as_text(tool.get("name")) for tool in declared)
