"""Hold the state of one text while a scanner reads it, and what the scanner emits of it."""

from harness.text_calls.block import Block, Transcript
from harness.text_calls.dialect import Offered, Section, TextDialect
from harness.text_calls.early import EarlyCalls
from harness.text_calls.found import Found, Pending
from harness.text_calls.policy import TextPolicy
from harness.text_calls.stray import Markup, markup_for

NEVER = -1


class Channel:
    """Holds the state of the text or the reasoning of one response.

    Args:
        offered: the tools of the request. Without tools, only sections begin, and no blocks.
        policy: what counts as a call.
        section: the section in which the channel begins. The reasoning channel is one section.
        early: gets the calls as they are read; None if they are emitted at the end.

    Fields:
        found: the calls so far, without those of reasoning that is still open.
    """

    def __init__(
        self,
        offered: Offered,
        policy: TextPolicy,
        section: Section | None = None,
        early: EarlyCalls | None = None,
    ) -> None:
        self.found: list[Found] = []
        self._transcript = Transcript(policy, section)
        self._offered = offered
        self._policy = policy
        self._home = section
        self._early = early
        self._markup = self._markup_in(section)
        # Dialects whose calls cannot be used in this text, and why.
        self._voids: dict[TextDialect, str] = {}
        self._held = ""
        self._block: Block | None = None
        self._after: TextDialect | None = None  # what a block was just of
        self._last: list[Found] = []  # its calls
        self._pending = Pending()
        self._shown = self._leftovers = self._cut = False
        # How many calls were found before a `<think>` that was emitted as text.
        self._think_shown = NEVER

    @property
    def blank(self) -> bool:
        """Whether no visible text and no call was found yet."""
        return self._transcript.visible.blank and not self.found

    def begin_prompt(self, prompt_end: str) -> None:
        """Read what the prompt contains of the reply."""
        self.feed(prompt_end)

    def begin_reply(self) -> str:
        """Mark all text so far as part of the prompt; return the part that may still be emitted."""
        in_block = self._block.raw if self._block else ""
        self._transcript.output.clear()
        self._held = "" if self._held.isspace() else self._held
        return "".join(self._pending.raw) + in_block + self._held

    def take(self) -> list[tuple[bool, str]]:
        """Return (whether it is reasoning, text) for everything emitted since the last call."""
        return self._transcript.output.take()

    def passes(self, text: str) -> bool:
        """Return True if the caller may emit `text` unchanged; False if `feed` must get it."""
        busy = self._block or self._after or self._pending.raw
        if busy or self._section is not self._home:
            return False
        if self._held:
            return self._repeats_held(text) and self._transcript.passes(text)
        begins = self._markup.begins_first if self._at_start else self._markup.begins
        return not begins(text, 0) and self._transcript.passes(text)

    def _repeats_held(self, text: str) -> bool:
        """Return whether emitting `text` and holding what is held equals reading `text`.

        It does if both repeat one character that no marker has twice at its start, such as `<`.
        """
        held = self._held
        return (
            len(held) == 1
            and text == held * len(text)
            and not self._at_start
            and not self._markup.may_begin(held * 2, 0, final=False)
        )

    def feed(self, text: str) -> None:
        """Process the next part of the text."""
        raise NotImplementedError

    def settle(self) -> None:
        """Emit white space that a header may begin with: what follows belongs to this text."""
        if self._held.isspace():
            self._transcript.emit(self._held)
            self._held = ""

    def resolve(self, *, count: bool) -> None:
        """Add the calls that were undecided to `found` if `count`; otherwise emit their text."""
        pending, self._pending = self._pending, Pending()
        if count:
            self.found += pending.found
        else:
            self._transcript.emit("".join(pending.raw), as_reasoning=pending.thought)

    @property
    def _at_start(self) -> bool:
        return self._section is None and self.blank

    def _enter(self, section: Section | None) -> None:
        self.resolve(count=False)
        self._transcript.enter(section)
        self._markup = self._markup_in(self._section)

    @property
    def _section(self) -> Section | None:
        return self._transcript.section

    def _markup_in(self, section: Section | None) -> Markup:
        closers = section.closers if section else ()
        return markup_for(self._policy.dialects, self._policy.bare, closers)

    def _waits(self, block: Block) -> bool:
        """Return whether later text decides if the calls of the block count."""
        last = block.dialect.whole or block.opener in block.dialect.last
        drafts = self._section and self._policy.reasoning == "drafts"
        return bool(last or drafts or self._pending.found)
