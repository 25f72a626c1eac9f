"""Turn output items of a Responses stream into texts, reasoning and calls, by the contract.

`output_index` is the key of an item and `item_id` its id, both in each event of the item. Deltas
are appended. Texts that `done` events and the terminal event repeat must be equal. If an event
does not identify its item, or two events differ, the meaning is ambiguous.
Source: OpenAI API reference, "Responses: streaming events" and "Output items".
"""

from collections.abc import Iterator
from typing import Any

from harness.dialects.kit.oracle.dispatch import Json
from harness.dialects.kit.oracle.reading import GrowingText, Notes, OpenCalls
from harness.dialects.kit.oracle.values import (
    is_index,
    read_arguments,
    same_object,
    text_or_empty,
)
from harness.dialects.openai_responses.oracle.item import (
    CALLS,
    ITEMS_OF_TEXT,
    Item,
    given_content,
    is_server_run,
)
from harness.dialects.openai_responses.oracle.texts import RESUMED, ItemTexts
from harness.turns.exact_json import join_surrogates
from harness.turns.oracle_reading import CallReading, SealedReading

# A provider calls its server tools in the same form.
_UNDECLARED = "a custom call of a tool that neither request nor response declares"


class ItemTable(OpenCalls[int, Item]):
    """Collects the output items of one response.

    Fields:
        custom: names of the custom tools, if the response or the request lists tools; else None.
        resumed: the stream continues an earlier one of the same response, as the API documents.
    """

    def __init__(self, notes: Notes, text: GrowingText, reasoning: GrowingText) -> None:
        super().__init__(notes)
        self._texts = ItemTexts(notes, text, reasoning)
        self.custom: frozenset[str] | None = None
        self.resumed = False
        self._streamed = True

    @property
    def refusal(self) -> list[str]:
        """The parts of the refusal, in the order of the events."""
        return self._texts.refusal

    def calls(self) -> tuple[CallReading, ...]:
        """Return the calls so far, in order of first appearance."""
        return tuple(
            item.reading(item.call[0]) for item in self._calls.values() if item.call is not None
        )

    def sealed(self) -> Iterator[SealedReading]:
        """Yield the encrypted content of reasoning items, in order."""
        calls = 0
        for item in self._calls.values():
            calls += item.call is not None
            if item.encrypted:
                value, *others = map(join_surrogates, item.encrypted)
                yield SealedReading("reasoning", value, "reasoning", calls, tuple(others))

    # Events of one item

    def added(self, event: Json, offset: int) -> None:
        """Process `response.output_item.added`."""
        if (found := self._placed(event, offset)) is None:
            return
        place, value = found
        if not self._is_free(place, value):
            if not self._is_aside(place, value, offset):
                self._notes.unreadable("RESP-OUTPUT-INDEX-LOST", offset)
            return
        item = self._open(place, value, offset)
        given = None if item.call is None else given_content(self._notes, item.call, value, offset)
        if item.call is not None and given:
            # Only the complete arguments show whether fragments continue or repeat it.
            if item.call[0] != "action":
                self._notes.harmless("RESP-ARGUMENTS-IN-ADDED", offset)
            if not isinstance(given, str):
                self._notes.ambiguous("ARGS-OBJECT", offset, calls=True)
            item.early = text_or_empty(given)

    def done(self, event: Json, offset: int) -> None:
        """Process `response.output_item.done`."""
        if (found := self._placed(event, offset)) is None:
            return
        place, value = found
        if self._is_free(place, value):
            is_first = place not in self._calls
            item = self._open(place, value, offset)
            item.resumed |= is_first and self.resumed  # its deltas may have shown that before
        elif self._is_aside(place, value, offset):
            return
        item = self._calls[place]
        if item.done or not item.announced:
            self._notes.unreadable("RESP-OUTPUT-INDEX-LOST", offset)
        item.done = True
        self._repeat(item, value, offset)

    def piece(self, kind: str, event: Json, offset: int) -> None:
        """Process a delta of a text."""
        item = self._of(event, ITEMS_OF_TEXT.get(kind, kind), offset)
        piece = event.get("delta")
        if item is not None and not isinstance(piece, str):
            self._notes.ambiguous("EVENT-GLUED", offset, text=True)
        elif item is not None and piece:
            self._texts.add(item, kind, piece)

    def text_over(self, kind: str, field: str, event: Json, offset: int) -> None:
        """Process a complete part. Its text counts if the item had no deltas."""
        item = self._of(event, ITEMS_OF_TEXT.get(kind, kind), offset)
        text = event.get(field)
        if item is not None and isinstance(text, str):
            self._texts.part_over(item, kind, text, offset)
        elif item is not None:
            self._notes.ambiguous("EVENT-GLUED", offset, text=True)

    def fragment(self, kind: str, event: Json, offset: int) -> None:
        """Process a part of a function's arguments, or of a custom tool's input."""
        item = self._call_of(kind, event, offset)
        piece = event.get("delta")
        if item is None:
            return
        if not isinstance(piece, str) or (piece and item.complete):
            self._notes.ambiguous("RESP-DONE-DIFFERS", offset, calls=True)
        else:
            item.fragments.append(piece)

    def arguments_over(self, kind: str, event: Json, offset: int) -> None:
        """Process the complete arguments of a function, or the complete input of a custom tool."""
        item = self._call_of(kind, event, offset)
        if item is not None and item.call is not None:
            self._name(item, event, offset)
            self._set_arguments(item, given_content(self._notes, item.call, event, offset), offset)

    def _call_of(self, kind: str, event: Json, offset: int) -> Item | None:
        item = self._of(event, kind, offset)
        if item is not None and item.kind != kind == "function_call":
            # Arguments under the index of another item belong to no opened call.
            self._notes.harmless("RESP-OUTPUT-INDEX-LOST", offset)
            place = next(at for at, each in self._calls.items() if each is item)
            return self._calls.setdefault(-1 - place, Item({"type": kind}, offset))
        if item is not None and item.kind != kind:
            self._notes.ambiguous("EVENT-GLUED", offset, calls=True)
            return None
        return item

    # The complete response

    def output(self, output: object, offset: int, *, streamed: bool) -> None:
        """Process the `output` of a response, which repeats all items."""
        if not isinstance(output, list):
            quirk = "RESP-COMPLETED-OUTPUT-NULL" if output is None else "EVENT-GLUED"
            self._notes.ambiguous(quirk, offset, text=output is not None, calls=output is not None)
        elif not self._calls:
            self._streamed = streamed and not self.resumed
            for place, value in enumerate(output):
                if isinstance(value, dict):
                    self._repeat(self._open(place, value, offset), value, offset)
                else:
                    self._notes.unreadable("EVENT-GLUED", offset)
        elif not output:
            self._notes.harmless("RESP-COMPLETED-OUTPUT-EMPTY", offset)
        else:
            self._compare(output, offset)

    def _compare(self, output: list[Any], offset: int) -> None:
        """Compare `output` with the streamed items, which are matched by id or by position."""
        values = [value for value in output if isinstance(value, dict)]
        by_id = {item.item_id: place for place, item in self._calls.items() if item.item_id}
        by_call = {item.id: place for place, item in self._calls.items() if item.id}
        found: set[int] = set()
        for place, value in enumerate(values):
            known = by_id.get(
                text_or_empty(value.get("id")), by_call.get(text_or_empty(value.get("call_id")))
            )
            known = place if known is None else known
            if self.resumed and known not in self._calls:
                self._earlier(place, value, offset)
                continue
            if known in self._calls and self._is_free(known, value):
                self._open(known, value, offset)
            item = self._calls.get(known)
            if item is None or known in found or item.kind != value.get("type"):
                # An item without events, or another index for a known one.
                self._notes.unreadable("RESP-DONE-DIFFERS", offset)
                return
            found.add(known)
            self._repeat(item, value, offset, last=True)

    def _earlier(self, place: int, value: Json, offset: int) -> None:
        """Process an item that was complete before a resumed stream began."""
        if value.get("type") in ("message", "reasoning"):
            self._notes.unknown.setdefault("text", RESUMED)
            self._notes.unknown.setdefault("reasoning", RESUMED)
        elif self._notes.choice(RESUMED, "deltas", "items") == "items":
            self._repeat(self._open(place, value, offset), value, offset)
            self._calls = dict(sorted(self._calls.items()))

    def conclude(self, offset: int, *, completed: bool) -> None:
        """Note deviations that only all items together show."""
        if completed and self._streamed and any(item.is_open() for item in self._calls.values()):
            self._notes.harmless("RESP-NO-ITEM-DONE", offset)
        if {"summary", "reasoning"} <= self._texts.kinds:
            self._notes.ambiguous("REASONING-FIELD-NAMES", offset, text=True)
        for item in self._calls.values():
            if not item.announced:
                note = self._notes.unreadable
                note = self._notes.harmless if item.kind == "function_call" else note
                note("RESP-OUTPUT-INDEX-LOST", item.offset)
            if item.early and not item.complete:
                self._notes.ambiguous(
                    "RESP-ARGUMENTS-IN-ADDED", item.offset, calls=bool(item.arguments)
                )
                item.complete = item.early

    # One item

    def _open(self, place: int, value: Json, offset: int) -> Item:
        item = self._calls.get(place)
        if item is None:
            item = self._calls[place] = Item(value, offset)
        else:  # its deltas came before it
            item.announce(value)
            if not self.resumed:
                self._notes.harmless("RESP-DELTA-BEFORE-ITEM", item.offset)
        if not item.item_id:
            self._notes.harmless("RESP-ITEM-ID-ABSENT", offset)
        if isinstance(item.kind, str):
            self._classify(item, item.kind, value, offset)
        else:
            self._notes.unreadable("EVENT-GLUED", offset)
        return item

    def _classify(self, item: Item, kind: str, value: Json, offset: int) -> None:
        """Note which kind of call the item is, if it is one for the client."""
        if self._is_provider_run(value):
            item.call = None
            self._notes.harmless("RESP-PROVIDER-CUSTOM-CALL", offset)
        elif item.call is None or is_server_run(value):
            item.call = None
            self._notes.other_output |= kind.endswith("_call")
        elif item.call[0] == "action":
            self._open_action(item, kind, offset)
        elif not item.id:
            self._notes.harmless("RESP-ITEM-VS-CALL-ID", offset)
        elif item.call[0] == "custom":
            self._notes.harmless("RESP-CUSTOM-TOOL-CALL", offset)
            if self.custom is None:
                self._notes.unknown.setdefault("calls", _UNDECLARED)
        if item.call is not None and item.namespace:
            self._notes.harmless("RESP-NAMESPACE", offset)

    def _is_provider_run(self, value: Json) -> bool:
        """Return whether a custom call names a tool that the client did not declare."""
        is_custom = value.get("type") == "custom_tool_call"
        name = value.get("name")
        is_named = self.custom is None or (isinstance(name, str) and name in self.custom)
        return is_custom and not is_named

    def _open_action(self, item: Item, kind: str, offset: int) -> None:
        """Begin an action for the client. The client may reject it, because it names no tool."""
        item.id = item.id or item.item_id
        item.name = item.name or kind.removesuffix("_call")
        answer = self._notes.policy_choice(
            "RESP-CLIENT-ITEM", offset, "call", "reject", question="actions", ambiguous=False
        )
        if answer == "reject":
            item.rejected = "the action names no tool of the request"

    def _repeat(self, item: Item, value: Json, offset: int, *, last: bool = False) -> None:
        """Process a complete item, which must be equal to its events."""
        if item.kind != value.get("type"):
            self._notes.unreadable("RESP-OUTPUT-INDEX-LOST", offset)
        elif item.call is not None:
            self._check_ids(item, value, offset, last=last)
            self._name(item, value, offset)
            self._set_arguments(item, given_content(self._notes, item.call, value, offset), offset)
            if value.get("status") == "incomplete":
                usable = read_arguments(item.arguments).value is not None
                self._notes.ambiguous("RESP-INCOMPLETE", offset, calls=usable)
        else:
            self._texts.compare(item, value, offset, streamed=self._streamed)

    def _check_ids(self, item: Item, value: Json, offset: int, *, last: bool) -> None:
        item_id, call_id = text_or_empty(value.get("id")), text_or_empty(value.get("call_id"))
        other_call = bool(call_id) and bool(item.id) and call_id != item.id
        other_item = bool(item_id) and bool(item.item_id) and item_id != item.item_id
        if other_call:
            # Under two new ids it may be another call.
            quirk = "RESP-TWO-IDS-TWICE" if other_item else "RESP-CALL-ID-CHANGES"
            self._notes.ambiguous(quirk, offset, calls=other_item and not last)
        elif other_item:
            self._notes.harmless("RESP-ITEM-ID-CHANGES", offset)
        item.id = item.id or call_id

    def _name(self, item: Item, value: Json, offset: int) -> None:
        name = text_or_empty(value.get("name"))
        if name and item.name and name != item.name:
            self._notes.ambiguous("DELTA-NAME-FRAGMENTED", offset, calls=True)
        item.name = item.name or name

    def _set_arguments(self, item: Item, arguments: object, offset: int) -> None:
        so_far = item.arguments
        is_json = item.kind != "custom_tool_call"  # whose input is text, so each space counts
        if not isinstance(arguments, str):
            quirk = "ARGS-NULL" if arguments is None else "ARGS-OBJECT"
            self._notes.ambiguous(quirk, offset, calls=arguments is not None or not so_far)
        elif not arguments:
            if so_far:
                self._notes.harmless("RESP-DONE-EMPTY", offset)
        elif so_far in ("", arguments) or (item.resumed and arguments.endswith(so_far)):
            is_late = self._streamed and not so_far and not item.resumed
            if is_late and item.kind in ("function_call", "custom_tool_call"):
                self._notes.harmless("RESP-NO-ARGUMENT-DELTAS", offset)
            item.complete = arguments
        elif is_json and arguments != "{}" and same_object(arguments, so_far):
            self._notes.harmless("RESP-DONE-DIFFERS", offset)
        else:
            quirk = "RESP-DONE-EMPTY" if arguments == "{}" else "RESP-DONE-DIFFERS"
            first = "deltas" if arguments == "{}" else "reject"
            rest = {"deltas", "done", "reject"} - {first}
            answer = self._notes.policy_choice(quirk, offset, first, *sorted(rest))
            if answer == "reject":
                item.rejected = "its deltas and its complete arguments differ"
            item.complete = arguments if answer == "done" else so_far

    # Which item

    def _placed(self, event: Json, offset: int) -> tuple[int, Json] | None:
        value = event.get("item")
        if not isinstance(value, dict):
            self._notes.unreadable("EVENT-GLUED", offset)
            return None
        place = self._place(event, offset, text_or_empty(value.get("id")))
        return None if place is None else (place, value)

    def _place(self, event: Json, offset: int, item_id: str) -> int | None:
        """Return the `output_index` of an event; without one, the place of the item `item_id`.

        llama.cpp sends no `output_index`. Its items and their deltas have ids, which say as much.
        """
        place = event.get("output_index")
        if is_index(place):
            return place
        known = self._place_of(item_id)
        if "output_index" in event or not item_id or (known is None and "item" not in event):
            self._notes.unreadable("RESP-OUTPUT-INDEX-LOST", offset)
            return None
        self._notes.harmless("RESP-OUTPUT-INDEX-LOST", offset)
        return max(self._calls, default=-1) + 1 if known is None else known

    def _place_of(self, item_id: str) -> int | None:
        same = (at for at, each in self._calls.items() if item_id and each.item_id == item_id)
        return next(same, None)

    def _is_free(self, place: int, value: Json) -> bool:
        """Return whether the item `value` may begin at `place`, where only its deltas may be."""
        item = self._calls.get(place)
        return item is None or (not item.announced and item.agrees(value))

    def _is_aside(self, place: int, value: Json, offset: int) -> bool:
        """Return whether `value` is an item of a server tool under the index of another item.

        Its id and its type show that it is not that item, and it has no content of the turn.
        """
        item_id, other = text_or_empty(value.get("id")), self._calls[place].item_id
        is_ours = value.get("type") in CALLS or value.get("type") in ITEMS_OF_TEXT.values()
        if is_ours or not (item_id and other and item_id != other):
            return False
        self._notes.server_tool("RESP-OUTPUT-INDEX-LOST", offset)
        return True

    def _of(self, event: Json, kind: str, offset: int) -> Item | None:
        """Return the item of a delta, which is of type `kind` if no event announced it so far."""
        item_id = text_or_empty(event.get("item_id"))
        place = self._place(event, offset, item_id)
        if place is None:
            return None
        item, known = self._calls.get(place), self._place_of(item_id)
        if item is None and known is not None:
            self._notes.harmless("DELTA-INDEX-CHANGES", offset)
            item = self._calls[known]
        elif item is None:
            item = self._calls[place] = Item({"type": kind, "id": item_id}, offset)
            item.announced, item.resumed = False, self.resumed
        if item_id and item.item_id and item_id != item.item_id:
            others = known is not None  # the index identifies the item, unless several share it
            self._notes.ambiguous("RESP-ITEM-ID-CHANGES", offset, text=others, calls=others)
        elif not item_id:
            self._notes.harmless("RESP-ITEM-ID-ABSENT", offset)
        return item
