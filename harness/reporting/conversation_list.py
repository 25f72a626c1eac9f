"""The conversations of a run -> their ranking, the first rows, and some that conform, whole."""

from collections.abc import Collection
from typing import Final

import msgspec

from harness.judging.results import Result
from harness.reporting.boards import ConversationRow, conversation_rows
from harness.reporting.conversation_view import ConversationView, conversation_view
from harness.reporting.words import fails, worst_first
from harness.runs.rankings import Rankings
from harness.runs.run import Run

MAX_CONVERSATIONS: Final = 500
MAX_CONFORMING: Final = 20


class Conversations(msgspec.Struct, frozen=True):
    """Cells that an agent supports, and logged conversations.

    Fields:
        ranked: models by prompts by agents.
        rows: worst first; `more` are left out.
        conforming: some that conform, whole.
    """

    ranked: tuple[ConversationRow, ...]
    rows: tuple[Result, ...]
    more: int
    conforming: tuple[ConversationView, ...]

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self.rows) + self.more


def conversations(run: Run, rankings: Rankings, shown: Collection[str]) -> Conversations:
    """Return the conversations of `run`; cells in `shown` are whole elsewhere on the page."""
    found = [each for each in run.results if each.conversation]
    conforming = [
        each
        for each in found
        if not fails(each) and each.cell in run.conversations and each.cell not in shown
    ]
    return Conversations(
        ranked=conversation_rows(rankings),
        rows=tuple(sorted(found, key=worst_first)[:MAX_CONVERSATIONS]),
        more=max(0, len(found) - MAX_CONVERSATIONS),
        conforming=tuple(
            conversation_view(each, run.conversations[each.cell])
            for each in conforming[:MAX_CONFORMING]
        ),
    )
