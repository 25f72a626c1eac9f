"""What opens in a text: a block whose end has not come yet, and what was emitted before it."""

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from harness.text_calls.boundaries import Ending, end_of
from harness.text_calls.context import Context
from harness.text_calls.dialect import HEAD_CHARACTERS, BlockStart, Offered, Section, TextDialect
from harness.text_calls.dialects.think import THINK, TOKENS
from harness.text_calls.line_ends import Output
from harness.text_calls.policy import TextPolicy


class Transcript:
    """What was emitted so far.

    Fields:
        output: the text itself.
        section: the reasoning that is open; None in visible text.
        message: the section that is open, if most markers mean nothing in it.
        visible: where in the visible text we are.
    """

    def __init__(self, policy: TextPolicy, section: Section | None) -> None:
        self.output = Output()
        self.visible = Context()
        self.section = section
        self.message: Section | None = None
        self._thought = Context() if section else self.visible
        self._code = policy.code == "text"
        self._quoted = policy.quoted == "text"

    @property
    def here(self) -> Context:
        """Where we are in the text or in the open reasoning."""
        return self.visible if self.section is None else self._thought

    def in_fence(self, following: str) -> bool:
        """Whether we are in a code block of the visible text, as is the character that follows."""
        fence = self.visible.fence
        in_fence = bool(fence) and (following in fence or not self.visible.after_fence)
        return self._code and in_fence

    @property
    def example(self) -> bool:
        """Whether markup that comes next is an example; no reasoning begins in one."""
        return (self._code and self.visible.example) or self.quotation

    @property
    def quotation(self) -> bool:
        """Whether what comes next follows a quotation mark, or markup that did."""
        here = self.visible
        # The start of a code span: all of a call may be quoted in it, over several lines.
        if self._code and here.last == "`" and here.in_span:
            return True
        return self._quoted and (here.quoting or here.quotation.opens)

    @property
    def after_fence(self) -> bool:
        """Whether only marks that close the code block we are in are on this line."""
        return self._code and self.visible.after_fence

    def emit_code(self, text: str, at: int) -> int:
        """Emit a line of code, so that the line which ends the block is seen; return how far."""
        line = text.find("\n", at) + 1 or len(text)
        stop = self.visible.fence_marks(text, at, line)
        self.emit(text[at:stop])
        return stop

    def takes(self, marker: str) -> bool:
        """Whether `marker` may mean anything here."""
        if self.message is None:
            return True
        return marker in (self.message.opens or ()) and not self.here.mentions

    def enter(self, section: Section | None) -> None:
        """Go into a section, or out of one; one of visible text is like no section at all."""
        border = section or self.section
        if border:
            self.hide()
            # Those between words and reasoning divide the words from others after it.
            own = self.section is not None or self.visible.blank
            before = border.line_ends if own else 0
            self.output.meet(before, border.line_ends, section=True)
        self.section = section if section is not None and section.reasoning else None
        self.message = section if section is not None and section.opens is not None else None
        self._thought = Context()

    def emit(self, text: str, *, as_reasoning: bool = False, markup: bool = False) -> None:
        """Emit text in the channel's section, or as reasoning in any section."""
        if not text:
            return
        if not as_reasoning:
            self.here.advance(text, markup=markup)
        self.output.emit(text, as_reasoning=as_reasoning or self.section is not None)

    def passes(self, text: str) -> bool:
        """Take text that is emitted elsewhere; False if it must be emitted here."""
        if not self.output.passes(text):
            return False
        self.here.advance(text)
        return True

    def show(self, markup: str, *, word: bool = False) -> None:
        """Say markup as text; what follows markup that was quoted is quoted with it.

        Args:
            markup: what to emit.
            word: it is a bracket that nothing closed, and no markup.
        """
        quoted = self.quotation and not word
        self.emit(markup, markup=quoted)
        self.visible.quoting = quoted

    def hide(self) -> None:
        """Markup that is not shown is here."""
        if self.after_fence:
            self.visible.end_fence()
        self.here.hide()


# White space, of which a marker may follow no more than this.
GAP: Final = re.compile(r"\s{0,224}")
# As much of a closing marker as is not a word of the answer, where the text was cut in it.
_CUT_TRAILER_CHARACTERS: Final = 3


class Trailing(msgspec.Struct, frozen=True):
    """What comes next after a block.

    Fields:
        stop: up to where it is swallowed.
        over: nothing more can belong to the block.
    """

    stop: int
    over: bool


def trailing(
    dialect: TextDialect, section: Section | None, text: str, at: int, *, final: bool
) -> Trailing | None:
    """Return what may close a block of `dialect` before `at`; None if more text must decide."""
    other = (*dialect.openers, *(section.closers if section else ()))
    marks = (*dialect.trailers, *(it for it in dialect.noise if it not in other))
    gap = end_of(GAP, text, at)
    rest = text[gap : gap + max(map(len, marks), default=0)]
    if any(len(rest) < len(it) and it.startswith(rest) for it in marks):
        if not final:
            return None
        if len(rest) >= _CUT_TRAILER_CHARACTERS:
            return Trailing(len(text), over=True)
    marker = next((it for it in marks if text.startswith(it, gap)), "")
    if not marker:
        return Trailing(at, over=True)
    # Where it can open a block as well, another one begins the next block.
    return Trailing(gap + len(marker), over=marker in dialect.openers)


_FIRST_WINDOW: Final = 256


class Block(msgspec.Struct):
    """A block whose end has not come yet.

    Fields:
        shown: it is quoted, and will be emitted as text.
        pieces: its raw text so far, after the opener.
        taken: characters in `pieces`.
        window: the most characters that `ending` is fed next.
    """

    dialect: TextDialect
    opener: str
    ending: Ending
    shown: bool
    pieces: list[str] = msgspec.field(default_factory=list)
    taken: int = 0
    window: int = _FIRST_WINDOW

    @property
    def raw(self) -> str:
        """All of its text so far."""
        return self.opener + "".join(self.pieces)

    def take(self, piece: str) -> None:
        """Take more of its text."""
        self.pieces.append(piece)
        self.taken += len(piece)
        self.window = max(_FIRST_WINDOW, self.taken)

    def cut(self, end: int) -> str:
        """End it inside what was taken; return what is text again."""
        raw = "".join(self.pieces)
        self.pieces = [raw[:end]]
        return raw[end:]


class Opening(msgspec.Struct, frozen=True):
    """A dialect whose block or section begins, and where.

    Fields:
        cut: the reply was cut before it could be known whether it begins.
    """

    dialect: TextDialect
    start: BlockStart
    cut: bool = False


# More text must decide what opens, if anything does.
WAIT: Final = Opening(THINK, BlockStart("", "", Offered(), final=False))


def counts_at(opener: str, dialect: TextDialect, emitted: Transcript, *, start: bool) -> bool:
    """Return whether an opener of `dialect` may open something after what was emitted.

    Args:
        opener: the marker.
        dialect: one of its owners.
        emitted: all before it.
        start: that is nothing.
    """
    if emitted.after_fence:
        return dialect.explicit and not dialect.begins_line
    if dialect.whole or opener in dialect.first:
        return start
    if dialect is THINK:
        return emitted.section is None and (opener in TOKENS or emitted.visible.line_blank)
    return not dialect.begins_line or emitted.here.line_blank


class Place(msgspec.Struct, frozen=True):
    """Where markup may begin.

    Fields:
        text: its part from `at` on matters.
        offered: the tools of the request.
        final: no more text will come.
        cut: because the reply was truncated.
    """

    text: str
    at: int
    offered: Offered
    final: bool
    cut: bool


def opening_of(
    owners: Iterable[tuple[str, TextDialect]],
    place: Place,
    emitted: Transcript,
    *,
    start: bool,
    only: TextDialect | None,
) -> Opening | None:
    """Return which of the openers at a place opens; `WAIT` if more text must decide.

    If the reply was cut, what more text would have decided opens nothing, and is hidden.
    """
    wait, cut, here = False, None, emitted.here
    for opener, dialect in owners:
        if not (dialect is only if only else counts_at(opener, dialect, emitted, start=start)):
            continue
        begin = place.at + len(opener)
        head = place.text[begin : begin + HEAD_CHARACTERS]
        over = place.final or len(head) == HEAD_CHARACTERS
        block = BlockStart(opener, head, place.offered, over)
        begins = dialect.starts(block)
        if begins:
            # What it refuses amid a line is not markup of a dialect after it either.
            counts = here.line_blank or dialect.amid_line(block)
            return Opening(dialect, block) if counts else WAIT if counts is None else None
        wait = wait or (begins is None and not over)
        said = emitted.example or (head.strip() and here.mentions)
        if place.cut and dialect.explicit and not said:
            partial = BlockStart(opener, head, place.offered, final=False)
            cut = Opening(dialect, block, cut=True) if dialect.starts(partial) is None else cut
    return WAIT if wait else cut
