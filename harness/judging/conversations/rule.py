"""What a rule about a conversation is, and how it says what it found."""

from collections.abc import Callable, Iterator

import msgspec

from harness.judging.conversations.evidence import ConversationEvidence
from harness.judging.results import Finding, Level, Outcome
from harness.judging.rule import Violation, display_text

Check = Callable[[ConversationEvidence], Iterator[Violation]]


class ConversationRule(msgspec.Struct, frozen=True):
    """One thing that a conversation must satisfy; fields as those of a rule about turns.

    Fields:
        check: yields each place where it does not hold, its path counted from the conversation.
        always: it holds for an agent that did not come to an end too.
        yields_to: ids of rules whose breach makes that of this one follow, so that one fault
            is told once.
    """

    id: str
    level: Level
    title: str
    outcome: Outcome
    quirks: tuple[str, ...]
    check: Check
    always: bool = False
    yields_to: frozenset[str] = frozenset()

    def findings(self, seen: ConversationEvidence) -> Iterator[Finding]:
        """Yield what breaks this rule in `seen`."""
        if seen.stopped and not self.always:
            return
        for broken in self.check(seen):
            yield Finding(
                rule=self.id,
                level=self.level,
                outcome=broken.outcome or self.outcome,
                path=broken.path,
                expected=display_text(broken.expected),
                actual=display_text(broken.actual),
            )
