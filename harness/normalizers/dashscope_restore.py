"""`dashscope-restore`: keep id and name by index while streaming, restore them at the end.

The first seed system of the project. DashScope's OpenAI-compatible stream gives a call's id
and name in its first chunk and empty strings after it; some layers also move the calls to
`additional_kwargs`. The fix: a table from index to what was first said, asked when the turn
ends; an id is made up where none came, and a call that never had a name is dropped.
The table lives as long as one response, so no state crosses from run to run.
"""

from collections.abc import Iterable, Iterator

import msgspec

from harness.dialects.openai_chat.chunk import Entry, Function
from harness.normalizers.protocol import Normalizer
from harness.normalizers.respond import respond_chat
from harness.turns.deltas import ArgumentsDelta, Delta, ToolCallStart
from harness.turns.verdicts import end_of_call, unusable_reason
from harness.wire.interaction import Interaction


class _Slot(msgspec.Struct):
    """What was said about the call at one index."""

    id: str = ""
    name: str = ""
    arguments: str = ""


class RestoredCalls:
    """Collects calls by index; gives them out, restored, when the turn ends."""

    def __init__(self) -> None:
        self.seed = ""
        self._slots: dict[int, _Slot] = {}
        self._newest: dict[int, int] = {}  # provider's index -> slot; moves on with a new id

    def __len__(self) -> int:
        return sum(1 for slot in self._slots.values() if slot.name)

    def take(self, entry: Entry, out: list[Delta]) -> None:
        """Keep what one entry says; nothing is given out before the end."""
        del out
        function = entry.function or Function()
        slot = self._slot(entry)
        slot.id = slot.id or _text(entry.id)
        slot.name = slot.name or _text(function.name)
        slot.arguments += function.arguments or ""

    def close(self, out: list[Delta], *, failed: str = "", cut_short: bool = False) -> None:
        """Give out every call that has a name."""
        named = [slot for slot in self._slots.values() if slot.name]
        used: set[str] = set()
        for position, slot in enumerate(named):
            call_id = slot.id or f"generated_{self.seed}_{position}"
            while call_id in used:
                call_id = f"{call_id}_{position}"
            used.add(call_id)
            out.append(ToolCallStart(position, call_id, slot.name))
            out.append(ArgumentsDelta(position, slot.arguments))
            error = failed or unusable_reason(slot.name, slot.arguments, cut_short=cut_short)
            out.append(end_of_call(position, error, slot.arguments))

    def _slot(self, entry: Entry) -> _Slot:
        index = entry.index if isinstance(entry.index, int) else 0
        call_id = _text(entry.id)
        place = self._newest.get(index)
        if place is not None:
            known = self._slots[place]
            named = entry.function is not None and entry.function.name
            if not (call_id and known.id and named and call_id != known.id):
                return known
        place = len(self._slots)
        self._newest[index] = place
        self._slots[place] = _Slot()
        return self._slots[place]


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas of one interaction's response."""
    return respond_chat(interaction, reads, calls=RestoredCalls())


normalizer = Normalizer(
    name="dashscope-restore",
    normalize=normalize,
    capabilities=frozenset(("calls-without-index",)),
    summary="seed system 1: id and name kept by index, restored at the end of the turn",
    policies={"nameless": "drop", "arguments": "append", "names": "first"},
)
