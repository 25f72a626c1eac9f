"""Define one output item of a Responses stream, as its events describe it."""

import json
from typing import Final

from harness.dialects.kit.oracle.dispatch import Json
from harness.dialects.kit.oracle.reading import Notes, OpenCall
from harness.dialects.kit.oracle.values import dict_or_empty, text_or_empty
from harness.turns.deltas import CallKind
from harness.turns.exact_json import join_surrogates

# Type of an item that is a call -> its kind, and its fields with what the model gives it.
CALLS: Final[dict[object, tuple[CallKind, tuple[str, ...]]]] = {
    "function_call": ("function", ("arguments",)),
    "custom_tool_call": ("custom", ("input",)),
    "apply_patch_call": ("action", ("operation",)),
    "computer_call": ("action", ("action", "actions")),
    "local_shell_call": ("action", ("action",)),
    "mcp_approval_request": ("action", ("arguments",)),
    "shell_call": ("action", ("action",)),
    "tool_search_call": ("action", ("arguments",)),
}
# Type of a part -> the kind of text that it contains, and its member.
PARTS: Final = {
    "output_text": ("text", "text"),
    "text": ("text", "text"),
    "audio": ("text", "transcript"),
    "output_audio": ("text", "transcript"),
    "refusal": ("refusal", "refusal"),
    "summary_text": ("summary", "text"),
    "reasoning_text": ("reasoning", "text"),
}
# Kind of text -> the type of the item that contains it.
ITEMS_OF_TEXT: Final = {
    "text": "message",
    "refusal": "message",
    "summary": "reasoning",
    "reasoning": "reasoning",
}


class Item(OpenCall):
    """One output item as the oracle understands it; `id` is the id of the call."""

    def __init__(self, value: Json, offset: int) -> None:
        super().__init__(
            offset, text_or_empty(value.get("call_id")), text_or_empty(value.get("name"))
        )
        self.kind = value.get("type")
        self.call = CALLS.get(self.kind) if isinstance(self.kind, str) else None
        self.item_id = text_or_empty(value.get("id"))
        self.namespace = join_surrogates(text_or_empty(value.get("namespace")))
        self.encrypted: list[str] = []
        self.early = ""  # arguments that it had when it opened
        self.complete = ""
        self.done = False
        self.announced = True  # an event with the item itself came, and not only deltas
        self.resumed = False  # its beginning is in an earlier stream
        self.texts: dict[str, list[str]] = {}

    def agrees(self, value: Json) -> bool:
        """Return whether deltas that came before their item may belong to the item `value`."""
        item_id = text_or_empty(value.get("id"))
        return value.get("type") == self.kind and item_id in ("", self.item_id or item_id)

    def announce(self, value: Json) -> None:
        """Take the ids and the name of the item whose deltas came before it."""
        self.announced = True
        self.item_id = self.item_id or text_or_empty(value.get("id"))
        self.id = text_or_empty(value.get("call_id"))
        self.name = text_or_empty(value.get("name"))
        self.namespace = join_surrogates(text_or_empty(value.get("namespace")))

    def is_open(self) -> bool:
        """Return whether the item is a call whose end event has not arrived."""
        return self.call is not None and not self.done

    @property
    def arguments(self) -> str:
        """The complete arguments if they came, or else the fragments so far."""
        self.fragments = ["".join(self.fragments)]
        return self.complete or self.fragments[0]


def is_server_run(value: Json) -> bool:
    """Return whether the provider executes the shell or the tool search of an item."""
    if value.get("type") == "tool_search_call":
        return value.get("execution") != "client"
    environment = dict_or_empty(value.get("environment"))
    return value.get("type") == "shell_call" and environment.get("type", "local") != "local"


def texts_of(value: Json) -> dict[str, str]:
    """Return the texts of a complete item by kind."""
    found: dict[str, str] = {}
    for field in ("summary", "content"):
        parts = value.get(field)
        for part in parts if isinstance(parts, list) else ():
            known = PARTS.get(text_or_empty(part.get("type"))) if isinstance(part, dict) else None
            if known and (piece := text_or_empty(part.get(known[1]))):
                found[known[0]] = found.get(known[0], "") + piece
    return found


def given_content(
    notes: Notes, call: tuple[CallKind, tuple[str, ...]], value: Json, offset: int
) -> object:
    """Return the arguments of a call; for an action, its content as JSON text."""
    kind, fields = call
    found = [value[field] for field in fields if value.get(field) is not None]
    if kind != "action" or not found or isinstance(found[0], str):
        return found[0] if found else None
    # Two contents are ambiguous, and so is a number whose digits a double may not hold.
    json.loads(text := json.dumps(found[0]), parse_float=found.append)
    if len(found) > 1:
        notes.ambiguous("RESP-CLIENT-ITEM", offset, calls=True)
    return text
