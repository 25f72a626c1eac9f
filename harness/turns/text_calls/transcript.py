"""What a channel says: visible text or reasoning, and whether what comes next is an example."""

from harness.turns.text_calls.context import Context
from harness.turns.text_calls.dialect import Section
from harness.turns.text_calls.policy import TextPolicy


class Transcript:
    """What was said so far.

    Fields:
        said: (whether it is reasoning, text), in order, since it was taken last.
        section: the reasoning that is open; None in visible text.
        visible: where in the visible text we are.
    """

    __slots__ = ("_code", "_quoted", "_thought", "said", "section", "visible")

    def __init__(self, policy: TextPolicy, section: Section | None) -> None:
        self.said: list[tuple[bool, str]] = []
        self.section = section
        self.visible = Context()
        self._thought = Context()
        self._code = policy.code == "text"
        self._quoted = policy.quoted == "text"

    @property
    def here(self) -> Context:
        """Where we are in the text or in the open reasoning."""
        return self.visible if self.section is None else self._thought

    @property
    def in_fence(self) -> bool:
        """Whether we are in a code block of the visible text, and it is an example."""
        in_fence = bool(self.visible.fence) and not self.visible.after_fence
        return self._code and self.section is None and in_fence

    @property
    def example(self) -> bool:
        """Whether markup that comes next is an example; reasoning has none, only drafts."""
        if self.section is not None:
            return False
        return (self._code and self.visible.example) or self.quotation

    @property
    def quotation(self) -> bool:
        """Whether what comes next follows a quotation mark, or markup that did."""
        here = self.visible
        if self.section is not None:
            return False
        # The start of a code span: all of a call may be quoted in it, over several lines.
        if self._code and here.last == "`" and here.in_span:
            return True
        return self._quoted and (here.quoting or here.quotation.opens)

    @property
    def after_fence(self) -> bool:
        """Whether only marks that close the code block we are in stand on this line."""
        return self._code and self.section is None and self.visible.after_fence

    def enter(self, section: Section | None) -> None:
        """Go into a section; one of visible text is like no section at all."""
        self.section = section if section is not None and section.reasoning else None
        self._thought = Context()

    def say(self, text: str, *, as_reasoning: bool = False, markup: bool = False) -> None:
        """Say text in the channel's section, or as reasoning wherever it stands."""
        if not text:
            return
        if not as_reasoning:
            self.here.advance(text, markup=markup)
        self.said.append((as_reasoning or self.section is not None, text))

    def show(self, markup: str, *, word: bool = False) -> None:
        """Say markup as text; what follows markup that was quoted is quoted with it.

        Args:
            markup: what to say.
            word: it is a bracket that nothing closed, and no markup.
        """
        quoted = self.quotation and not word
        self.say(markup, markup=quoted)
        self.visible.quoting = quoted

    def hide(self) -> None:
        """Markup that is not shown stands here."""
        if self.after_fence:
            self.visible.end_fence()
        self.here.hide()
