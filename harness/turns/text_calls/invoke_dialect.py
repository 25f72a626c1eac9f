"""What the XML-ish text dialects do alike once a block has begun: find its end, read its calls."""

from typing import ClassVar

from harness.turns.text_calls.dialect import TextDialect
from harness.turns.text_calls.endings import Ending
from harness.turns.text_calls.invoke_end import InvokeEnd
from harness.turns.text_calls.invoke_markup import Grammar, read
from harness.turns.text_calls.offered import Offered
from harness.turns.text_calls.spelled import SpelledCall


class InvokeDialect(TextDialect):
    """A dialect whose blocks are tags.

    Fields:
        grammar: its tags.
    """

    grammar: ClassVar[Grammar]

    def ending(self, opener: str) -> Ending:
        """The closing tag that can be one."""
        return InvokeEnd(self.grammar, opener)

    def calls(
        self, opener: str, raw: str, offered: Offered, *, closed: bool
    ) -> tuple[SpelledCall, ...] | None:
        """Each call tag is a call."""
        del closed
        return read(self.grammar, opener + raw, offered)
