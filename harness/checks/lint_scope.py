"""Say what a lint of some streams judged, and what it could not judge.

"No deviations" must never mean more than was checked.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final

from harness.dialects.table import oracle_reading, read_request
from harness.judging.contract.table import load_tables
from harness.turns.deltas import CUT_SHORT
from harness.wire.interaction import Interaction
from harness.wording import pluralize

_TWO: Final = 2
# Recorders write 0 for a time, so it is not a deviation.
_NO_TIME: Final = re.compile(rb'"created(?:_at)?": ?0[,}]')
# What at least one stream must show before its form is judged.
_FORMS: Final = (
    "a text", "a call", "two calls in one turn", "a call without arguments",
    "a stop at the limit", "usage with both numbers",
)  # fmt: skip


class LintScope:
    """Counts the streams of one lint by what was known of them."""

    def __init__(self) -> None:
        self._streams = 0
        self._dialects: Counter[str] = Counter()
        self._without: Counter[str] = Counter()
        self._unjudged: Counter[str] = Counter()
        self._by_table: set[str] = set()
        self._forms: set[str] = set()

    def add(self, interaction: Interaction, unjudged: str) -> None:
        """Note what is known of one judged stream, and which forms it shows.

        Args:
            interaction: the interaction with the stream.
            unjudged: why its members and the order of its events were not judged; "" if they were.
        """
        self._streams += 1
        self._dialects[interaction.dialect] += 1
        known = read_request(interaction.dialect, interaction.request).tools_known
        self._without["requests"] += not (known or interaction.tools)
        self._without["headers"] += not interaction.headers
        self._without["times"] += bool(_NO_TIME.search(interaction.body))
        if unjudged:
            self._unjudged[unjudged] += 1
        else:
            self._by_table.add(interaction.dialect)
        reading = oracle_reading(interaction)
        calls = reading.calls or ()
        counts = ((it.input_tokens, it.output_tokens) for it in reading.usages or ())
        shown = (
            bool(reading.text), bool(calls), len(calls) >= _TWO,
            any(call.arguments.strip() in ("", "{}") for call in calls),
            reading.meaning in CUT_SHORT, any(None not in each for each in counts),
        )  # fmt: skip
        self._forms.update(form for form, is_shown in zip(_FORMS, shown, strict=True) if is_shown)

    def checked(self) -> Iterator[str]:
        """Yield what the streams were judged by."""
        tables = load_tables()
        for name in sorted(self._dialects):
            yield f"the meaning and the end of each stream by the reference of {name}"
            if name in tables and name in self._by_table:
                table = tables[name]
                rows = sum(map(len, table.duties.values()))
                yield f"{rows} members and {len(table.orders)} orders of {name} as of {table.date}"

    def unchecked(self) -> Iterator[str]:
        """Yield what could not be judged, with the reason."""
        for name in sorted(self._dialects.keys() - load_tables().keys()):
            yield f"the members of {name}, which has no table"
        for why, count in self._unjudged.items():
            yield f"the members of {pluralize(count, 'stream')}: {why}"
        if count := self._without["requests"]:
            yield f"offered tools and text calls of {pluralize(count, 'stream')} without a request"
        if count := self._without["headers"]:
            yield f"the content type of {pluralize(count, 'stream')} without headers"
        if count := self._without["times"]:
            yield f"the times of {pluralize(count, 'stream')}, which are 0"
        if not self._forms.isdisjoint(_FORMS[:2]):
            yield "what texts and arguments say, such as an error of a gateway written as text"
        missing = [form for form in _FORMS if form not in self._forms]
        if missing and self._streams:
            yield f"forms that no stream shows: {', '.join(missing)}"
