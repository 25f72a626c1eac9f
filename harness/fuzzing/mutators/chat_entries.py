"""Define mutators that write the items of `tool_calls` in openai-chat chunks as other servers do.

Each edit changes items in place. Texts, ends and all other frames keep their bytes.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from copy import deepcopy
from functools import partial
from typing import Any, TypeAlias

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from harness.fuzzing.mutators.mutator import Mutate, mutator
from harness.fuzzing.mutators.sent import Sent, dumped, on_frames, value_of
from harness.turns.arguments import parse

Json: TypeAlias = dict[str, Any]
chat_mutator = partial(mutator, dialects=("openai-chat",))


class Entry(msgspec.Struct):
    """An item of the list `tool_calls` in a chunk.

    Fields:
        call: the number of the call to which the item belongs.
        opens: whether it is the first item of this call.
        opening: the first item of this call, as it was sent.
        value: the item, which an edit changes in place.
    """

    call: int
    opens: bool
    opening: Json
    value: Json

    @property
    def function(self) -> Json:
        """The item's function, or custom tool; a new object if it has none."""
        found = self.value.get("function", self.value.get("custom"))
        return found if isinstance(found, dict) else {}


# Edits one entry in place, knowing all of them.
EditEntry: TypeAlias = Callable[[Entry], object]
Suits: TypeAlias = Callable[[list[Entry]], bool]


def choices_of(value: object) -> list[Json]:
    """Return the choices of a chunk, without those that are not objects."""
    choices = value.get("choices") if isinstance(value, dict) else None
    return [each for each in choices if isinstance(each, dict)] if isinstance(choices, list) else []


def entries_of(choice: Json) -> list[Json]:
    """Return the items of `tool_calls` in a choice, without those that are not objects."""
    delta = choice.get("delta")
    calls = delta.get("tool_calls") if isinstance(delta, dict) else None
    return [each for each in calls if isinstance(each, dict)] if isinstance(calls, list) else []


def with_values(frames: Sent, values: Mapping[int, Json | None]) -> Sent:
    """Return `frames` with `values` as payloads. A frame with an equal payload keeps its bytes."""
    for at, value in values.items():
        frame = frames.frames[at]
        if value is not None and value != value_of(frame):
            frames = frames.put(at, frames.changed(frame, dumped(value, frame.data)))
    return frames


def _entries(values: Iterable[Json | None]) -> Iterator[Entry]:
    calls: dict[Hashable, tuple[int, Json]] = {}
    for value in values:
        for index, choice in enumerate(choices_of(value)):
            for entry in entries_of(choice):
                key = index, entry.get("index")
                opens = key not in calls
                number, opening = calls.setdefault(key, (len(calls), deepcopy(entry)))
                yield Entry(number, opens, opening, entry)


def editing_entries(options: dict[str, EditEntry], suits: Suits = bool) -> Mutate:
    """Return a mutation that edits each item of `tool_calls`, if `suits` accepts all items.

    Args:
        options: description -> edit; the mutation draws one.
        suits: returns whether the edits keep the meaning of these items.
    """

    @on_frames("sse")
    def mutate(draw: DrawFn, frames: Sent) -> tuple[Sent, str] | None:
        how = draw(st.sampled_from(tuple(options))) if len(options) > 1 else next(iter(options))
        values = {at: value_of(frames.frames[at]) for at in frames.payload_indexes()}
        entries = list(_entries(values.values()))
        if not entries or not _distinct_indexes(entries) or not suits(entries):
            return None
        for entry in entries:
            options[how](entry)
        return with_values(frames, values), how

    return mutate


# What all entries together must be


def _distinct_indexes(entries: list[Entry]) -> bool:
    """Return whether the member `index` alone tells to which call each item belongs."""
    return all(
        type(entry.value.get("index")) is int
        and entry.value.get("id") in (None, "", entry.opening.get("id"))
        for entry in entries
    )


def _distinct_ids(entries: list[Entry]) -> bool:
    """Return whether ids and the order alone tell to which call each item belongs.

    The result is False if one of several calls has no arguments, because two ids could also belong
    to one call.
    """
    ids = [entry.value.get("id") for entry in entries if entry.opens]
    in_order = [entry.call for entry in entries] == sorted(entry.call for entry in entries)
    bare = any(not _text_of(entries, call) for call in range(len(ids)))
    return all(ids) and len(set(ids)) == len(ids) and in_order and not (bare and len(ids) > 1)


def _text_of(entries: list[Entry], call: int) -> str:
    own = (entry.function for entry in entries if entry.call == call)
    return "".join(str(f.get("arguments") or f.get("input") or "") for f in own)


def _complete_and_distinct_ids(entries: list[Entry]) -> bool:
    """Return whether each of several calls is complete before the next one, with another id."""
    texts = [_text_of(entries, call) for call in range(max(entry.call for entry in entries) + 1)]
    whole = all(parse(text).value is not None for text in texts)
    return _several(entries) and whole and _distinct_ids(entries)


def _with_later(entries: list[Entry]) -> bool:
    return any(not entry.opens for entry in entries)


def _with_later_unnamed(entries: list[Entry]) -> bool:
    """Return whether calls have later items, and none of these has a part of the name."""
    return _with_later(entries) and not any(
        entry.function.get("name") for entry in entries if not entry.opens
    )


def _several(entries: list[Entry]) -> bool:
    return any(entry.call for entry in entries)


def _plain_functions(entries: list[Entry]) -> bool:
    return all(isinstance(entry.value.get("function"), dict) for entry in entries)


# Edits


def _later(**fields: object) -> EditEntry:
    """Return an edit that sets these fields in all items of a call except the first."""
    return lambda entry: None if entry.opens else entry.value.update(fields)


def _other_id(entry: Entry) -> None:
    if not entry.opens and entry.opening.get("id"):
        entry.value["id"] = f"{entry.opening['id']}_other"


def _later_name_empty(entry: Entry) -> None:
    if not entry.opens and entry.function:
        entry.function["name"] = ""


def _name_repeated(entry: Entry) -> None:
    opening = entry.opening.get("function", entry.opening.get("custom"))
    if entry.function and isinstance(opening, dict) and "name" in opening:
        entry.function["name"] = opening["name"]


def _id_repeated(entry: Entry) -> None:
    if "id" in entry.opening:
        entry.value["id"] = entry.opening["id"]


def _nulls(entry: Entry) -> None:
    if not entry.opens:
        entry.value.update(id=None, type=None)
        entry.function["name"] = None


def _index(of: Callable[[int], int]) -> EditEntry:
    return lambda entry: entry.value.update(index=of(entry.call))


def _without(field: str) -> EditEntry:
    return lambda entry: entry.value.pop(field, None)


def _with(**fields: object) -> EditEntry:
    return lambda entry: entry.value.update(fields)


def _first_arguments(value: object) -> EditEntry:
    """Return an edit of the empty arguments in a call's first item; `...` removes them."""

    def edit(entry: Entry) -> None:
        if entry.opens and entry.function.get("arguments") == "":
            entry.function["arguments"] = value
            if value is ...:
                del entry.function["arguments"]

    return edit


def _id_shared(entry: Entry) -> None:
    if entry.value.get("id"):
        entry.value["id"] = "call_0"


chat_mutator("name-repeated")(
    editing_entries({"in each delta": _name_repeated}, _with_later_unnamed)
)
chat_mutator("id-repeated")(editing_entries({"in each delta": _id_repeated}, _with_later))
chat_mutator("later-fields-empty")(
    editing_entries(
        {"id": _later(id=""), "name": _later_name_empty, "type": _later(type="")},
        _with_later_unnamed,
    )
)
chat_mutator("later-fields-null")(
    editing_entries({"id, type and name": _nulls}, _with_later_unnamed)
)
chat_mutator("id-changes")(editing_entries({"in later deltas": _other_id}, _with_later))
chat_mutator("index-sparse")(
    editing_entries(
        {
            "from one": _index(lambda call: call + 1),
            "only even": _index(lambda call: call * 2),
            "from minus one": _index(lambda call: call - 1),
        }
    )
)
chat_mutator("index-missing")(
    editing_entries({"left out": _without("index"), "null": _with(index=None)}, _distinct_ids)
)
chat_mutator("index-all-zero")(
    editing_entries({"of each call": _index(lambda _: 0)}, _complete_and_distinct_ids)
)
chat_mutator("type-odd")(
    editing_entries(
        {
            "left out": _without("type"),
            "null": _with(type=None),
            "empty": _with(type=""),
            "in each": _with(type="function"),
        },
        _plain_functions,
    )
)
chat_mutator("arguments-open")(
    editing_entries({"null": _first_arguments(None), "left out": _first_arguments(...)})
)
chat_mutator("id-missing")(
    editing_entries({"left out": _without("id"), "null": _with(id=None), "empty": _with(id="")})
)
chat_mutator("id-shared")(editing_entries({"'call_0'": _id_shared}, _several))
