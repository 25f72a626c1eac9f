"""The `tool_calls` entries of an openai-chat stream in the spellings of its many servers.

Each edit changes entries where they stand; texts, ends and all other frames keep their bytes.
"""

from collections.abc import Callable, Hashable, Iterator
from copy import deepcopy
from typing import Any, Final, TypeAlias

import msgspec
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from harness.fuzzing.mutators.mutator import Mutate, changing, preserving
from harness.fuzzing.mutators.sent import Sent, dumped, sent, value_of
from harness.turns.arguments import parse
from harness.wire.interaction import Interaction

Json: TypeAlias = dict[str, Any]
_CHAT: Final = ("openai-chat",)


class Entry(msgspec.Struct):
    """One entry of a `tool_calls` list.

    Fields:
        call: the place of its call among all calls.
        opens: whether it is the first of its call.
        opening: the first one of its call, as it was sent.
        value: to be edited in place.
    """

    call: int
    opens: bool
    opening: Json
    value: Json

    @property
    def function(self) -> Json:
        """The entry's function, or custom tool; an object of its own where it has none."""
        found = self.value.get("function", self.value.get("custom"))
        return found if isinstance(found, dict) else {}


# Edits one entry in place, knowing all of them.
EditEntry: TypeAlias = Callable[[Entry], None]
Suits: TypeAlias = Callable[[list[Entry]], bool]


class _Chunks:
    """The JSON values of the frames, and the entries in them."""

    def __init__(self, frames: Sent) -> None:
        self.frames = frames
        self.values = {at: value_of(frames.frames[at]) for at in frames.places()}
        self.entries = list(self._entries())

    def _entries(self) -> Iterator[Entry]:
        calls: dict[Hashable, tuple[int, Json]] = {}
        for value in self.values.values():
            for place, choice in enumerate(choices_of(value)):
                for entry in entries_of(choice):
                    key = place, entry.get("index")
                    opens = key not in calls
                    number, opening = calls.setdefault(key, (len(calls), deepcopy(entry)))
                    yield Entry(number, opens, opening, entry)

    def into(self, interaction: Interaction) -> Interaction:
        """Return the interaction with the values as they are now; others keep their bytes."""
        frames = self.frames
        for at, value in self.values.items():
            frame = frames.frames[at]
            if value is not None and value != value_of(frame):
                frames = frames.put(at, frames.changed(frame, dumped(value, frame.data)))
        return frames.into(interaction)


def choices_of(value: object) -> list[Json]:
    """Return the choices of a chunk that are objects."""
    choices = value.get("choices") if isinstance(value, dict) else None
    return [each for each in choices if isinstance(each, dict)] if isinstance(choices, list) else []


def entries_of(choice: Json) -> list[Json]:
    """Return the entries of a choice's delta that are objects."""
    delta = choice.get("delta")
    calls = delta.get("tool_calls") if isinstance(delta, dict) else None
    return [each for each in calls if isinstance(each, dict)] if isinstance(calls, list) else []


def _always(_entries: list[Entry]) -> bool:
    return True


def _distinct_indexes(entries: list[Entry]) -> bool:
    """Whether the index alone says which entries are of one call, as the edits take it to."""
    return all(
        type(entry.value.get("index")) is int
        and entry.value.get("id") in (None, "", entry.opening.get("id"))
        for entry in entries
    )


def editing_entries(how: str, edit: EditEntry, suits: Suits = _always) -> Mutate:
    """Return the mutation that edits each entry, where all entries together suit it."""

    def mutate(_draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
        frames = sent(interaction.body)
        chunks = None if frames is None or frames.framing != "sse" else _Chunks(frames)
        entries = [] if chunks is None else chunks.entries
        if chunks is None or not entries or not _distinct_indexes(entries) or not suits(entries):
            return None
        for entry in entries:
            edit(entry)
        changed = chunks.into(interaction)
        return None if changed.body == interaction.body else (changed, how)

    return mutate


def drawing_entries(options: dict[str, EditEntry], suits: Suits = _always) -> Mutate:
    """Return the mutation that draws one of several edits; the keys say what each does."""
    mutations = {how: editing_entries(how, edit, suits) for how, edit in options.items()}

    def mutate(draw: DrawFn, interaction: Interaction) -> tuple[Interaction, str] | None:
        return mutations[draw(st.sampled_from(tuple(mutations)))](draw, interaction)

    return mutate


# What all entries together must be


def _distinct_ids(entries: list[Entry]) -> bool:
    """Whether ids alone say whose each fragment is, by the order in which they come.

    A call without arguments before one of the same name is two ids for one call, or two calls.
    """
    ids = [entry.value.get("id") for entry in entries if entry.opens]
    in_order = [entry.call for entry in entries] == sorted(entry.call for entry in entries)
    bare = any(not _text_of(entries, call) for call in range(len(ids)))
    return all(ids) and len(set(ids)) == len(ids) and in_order and not (bare and len(ids) > 1)


def _text_of(entries: list[Entry], call: int) -> str:
    own = (entry.function for entry in entries if entry.call == call)
    return "".join(str(f.get("arguments") or f.get("input") or "") for f in own)


def _complete_and_distinct_ids(entries: list[Entry]) -> bool:
    """Whether each of several calls is whole before the next one, with another id, begins."""
    texts = [_text_of(entries, call) for call in range(max(entry.call for entry in entries) + 1)]
    whole = all(parse(text).value is not None for text in texts)
    return _several(entries) and whole and _distinct_ids(entries)


def _with_later(entries: list[Entry]) -> bool:
    return any(not entry.opens for entry in entries)


def _with_later_unnamed(entries: list[Entry]) -> bool:
    """Whether there are later ones, and none has a piece of a name, which would be lost."""
    return _with_later(entries) and not any(
        entry.function.get("name") for entry in entries if not entry.opens
    )


def _several(entries: list[Entry]) -> bool:
    return any(entry.call for entry in entries)


def _plain_functions(entries: list[Entry]) -> bool:
    return all(isinstance(entry.value.get("function"), dict) for entry in entries)


# Edits


def _later(**fields: object) -> EditEntry:
    """Return the edit that gives all but the first entry of a call these fields."""

    def edit(entry: Entry) -> None:
        if not entry.opens:
            entry.value.update(fields)

    return edit


def _later_name(name: object) -> EditEntry:
    def edit(entry: Entry) -> None:
        if not entry.opens and entry.function:
            entry.function["name"] = name

    return edit


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
    def edit(entry: Entry) -> None:
        entry.value["index"] = of(entry.call)

    return edit


def _without(field: str) -> EditEntry:
    def edit(entry: Entry) -> None:
        entry.value.pop(field, None)

    return edit


def _with(**fields: object) -> EditEntry:
    def edit(entry: Entry) -> None:
        entry.value.update(fields)

    return edit


def _first_arguments(value: object) -> EditEntry:
    """Spell the empty arguments that open a call as `value`; `...` leaves them out."""

    def edit(entry: Entry) -> None:
        if entry.opens and entry.function.get("arguments") == "":
            entry.function["arguments"] = value
            if value is ...:
                del entry.function["arguments"]

    return edit


def _id_shared(entry: Entry) -> None:
    if entry.value.get("id"):
        entry.value["id"] = "call_0"


MUTATORS: Final = (
    preserving(
        "name-repeated",
        "each delta of a call has its whole name",
        editing_entries("in each delta", _name_repeated, _with_later_unnamed),
        "DELTA-NAME-REPEATED",
        dialects=_CHAT,
    ),
    preserving(
        "id-repeated",
        "each delta of a call has its id",
        editing_entries("in each delta", _id_repeated, _with_later),
        dialects=_CHAT,
    ),
    preserving(
        "later-fields-empty",
        "later deltas have an empty id, or an empty name",
        drawing_entries(
            {"id": _later(id=""), "name": _later_name(""), "type": _later(type="")},
            _with_later_unnamed,
        ),
        "DELTA-ID-EMPTY-LATER",
        dialects=_CHAT,
    ),
    preserving(
        "later-fields-null",
        "later deltas have null for id, type and name",
        editing_entries("id, type and name", _nulls, _with_later_unnamed),
        "DELTA-ID-NULL-LATER",
        "DELTA-NAME-NULL-STRINGIFIED",
        dialects=_CHAT,
    ),
    preserving(
        "id-changes",
        "later deltas have another id beside the same index",
        editing_entries("in later deltas", _later(id="call_other"), _with_later),
        "DELTA-ID-CHANGES",
        dialects=_CHAT,
    ),
    preserving(
        "index-sparse",
        "indexes do not count from zero",
        drawing_entries(
            {
                "from one": _index(lambda call: call + 1),
                "only even": _index(lambda call: call * 2),
                "from minus one": _index(lambda call: call - 1),
            }
        ),
        "DELTA-INDEX-SPARSE",
        dialects=_CHAT,
    ),
    preserving(
        "index-missing",
        "no delta has an index",
        drawing_entries({"left out": _without("index"), "null": _with(index=None)}, _distinct_ids),
        "DELTA-INDEX-MISSING",
        dialects=_CHAT,
        needs=("calls-without-index",),
    ),
    preserving(
        "index-all-zero",
        "parallel calls all have index 0",
        editing_entries(
            "of each call",
            _index(lambda _: 0),
            _complete_and_distinct_ids,
        ),
        "DELTA-INDEX-ALL-ZERO",
        "DELTA-INDEX-BY-NAME",
        dialects=_CHAT,
        needs=("calls-without-index",),
    ),
    preserving(
        "type-odd",
        "the type of a call is missing, null, empty, or in each delta",
        drawing_entries(
            {
                "left out": _without("type"),
                "null": _with(type=None),
                "empty": _with(type=""),
                "in each": _with(type="function"),
            },
            _plain_functions,
        ),
        "DELTA-TYPE-MISSING",
        "DELTA-TYPE-EMPTY-OR-NULL",
        dialects=_CHAT,
    ),
    preserving(
        "arguments-open",
        "the first delta of a call has null for its arguments, or none",
        drawing_entries({"null": _first_arguments(None), "left out": _first_arguments(...)}),
        "ARGS-NULL",
        "DELTA-ID-NAME-NO-ARGS",
        dialects=_CHAT,
    ),
    changing(
        "id-missing",
        "no delta has an id, so that each client makes its own",
        drawing_entries(
            {"left out": _without("id"), "null": _with(id=None), "empty": _with(id="")}
        ),
        "DELTA-ID-MISSING",
        dialects=_CHAT,
    ),
    changing(
        "id-shared",
        "all calls have the same id",
        editing_entries("'call_0'", _id_shared, _several),
        "DELTA-ID-SHARED-BY-SIBLINGS",
        dialects=_CHAT,
    ),
)
