"""`naive`: merges call chunks as the broken client of the DashScope story did.

Each chunk's id and name replace what was there, empty strings included, so a call whose
later chunks say `"id": "", "name": ""` ends without either; and arguments are never checked.
Ships to show what the suite is for: it must fail, and the report must say where.
"""

from collections.abc import Iterable, Iterator

import msgspec
from msgspec import UNSET

from harness.dialects.openai_chat.chunk import Entry, Function
from harness.normalizers.protocol import Normalizer
from harness.normalizers.respond import respond_chat
from harness.turns.deltas import ArgumentsDelta, Delta, ToolCallEnd, ToolCallStart
from harness.wire.interaction import Interaction


class _Merged(msgspec.Struct):
    """A call as the last chunk left it."""

    id: str = ""
    name: str = ""
    arguments: str = ""


class MergedCalls:
    """Merges entries by index, the last word winning."""

    def __init__(self) -> None:
        self.seed = ""
        self._merged: dict[int, _Merged] = {}

    def __len__(self) -> int:
        return len(self._merged)

    def take(self, entry: Entry, out: list[Delta]) -> None:
        """Merge one entry, as a shallow `{...old, ...new}` does."""
        del out
        call = self._merged.setdefault(entry.index or 0, _Merged())
        function = entry.function or Function()
        call.id = call.id if entry.id is UNSET else str(entry.id)
        call.name = call.name if function.name is UNSET else str(function.name)
        call.arguments += function.arguments or ""

    def close(self, out: list[Delta], *, failed: str = "", cut_short: bool = False) -> None:
        """Give out every call, whatever became of it."""
        del failed, cut_short
        for position, call in enumerate(self._merged.values()):
            out.append(ToolCallStart(position, call.id, call.name))
            out.append(ArgumentsDelta(position, call.arguments))
            out.append(ToolCallEnd(position))


def normalize(interaction: Interaction, reads: Iterable[bytes]) -> Iterator[Delta]:
    """Yield the deltas of one interaction's response."""
    return respond_chat(interaction, reads, calls=MergedCalls())


normalizer = Normalizer(
    name="naive",
    normalize=normalize,
    role="known-bad",
    breaks=frozenset(
        (
            "CALL-NAMED",
            "CALL-NAME-EXACT",
            "CALL-ID-PRESENT",
            "CALL-ID-EXACT",
            "CALL-IDS-UNIQUE",
            "ARGUMENTS-USABLE",
            "BROKEN-CALL-NOT-RUN",
            "TRUNCATED-CALL-NOT-RUN",
        )
    ),
    summary="the broken client of the DashScope story: empty strings overwrite id and name",
)
