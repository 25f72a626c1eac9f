"""Represent an open block of markup in a text, and the text that was emitted before it."""

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from harness.text_calls.boundaries import MORE, Ending, end_of, literal_end
from harness.text_calls.context import Context
from harness.text_calls.dialect import HEAD_CHARACTERS, BlockStart, Offered, Section, TextDialect
from harness.text_calls.dialects.think import THINK, TOKENS
from harness.text_calls.early import EarlyCalls
from harness.text_calls.line_ends import Output
from harness.text_calls.policy import TextPolicy
from harness.text_calls.streamed import BlockStream


class Transcript:
    """Stores the emitted text of one response, and whether the next text is code or reasoning.

    Fields:
        output: the text itself.
        section: the reasoning that is open; None in visible text.
        message: the open section, if most markers have no meaning inside it.
        visible: whether the visible text ends in a code block, in a quotation, or in neither.
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
        """The context at the end of the visible text, or at the end of the open reasoning."""
        return self.visible if self.section is None else self._thought

    def in_fence(self, following: str) -> bool:
        """Return whether the emitted text and the next character are in a visible code block."""
        fence = self.visible.fence
        in_fence = bool(fence) and (following in fence or not self.visible.after_fence)
        return self._code and in_fence

    @property
    def example(self) -> bool:
        """Whether markup that comes next is an example. Reasoning never begins in an example."""
        return (self._code and self.visible.example) or self.quotation

    @property
    def quotation(self) -> bool:
        """Whether the next character follows a quotation mark, or markup that follows one."""
        here = self.visible
        # The start of a code span: all of a call may be quoted in it, over several lines.
        if self._code and here.last == "`" and here.in_span:
            return True
        return self._quoted and (here.quoting or here.quotation.opens)

    @property
    def after_fence(self) -> bool:
        """Whether this line has only the marks that close the current code block."""
        return self._code and self.visible.after_fence

    def emit_code(self, text: str, at: int) -> int:
        """Emit one line of code, up to marks that may close the code block; return its end."""
        line = text.find("\n", at) + 1 or len(text)
        stop = self.visible.fence_marks(text, at, line)
        self.emit(text[at:stop])
        return stop

    def takes(self, marker: str) -> bool:
        """Return whether `marker` may have a meaning after the emitted text."""
        if self.message is None:
            return True
        return marker in (self.message.opens or ()) and not self.here.mentions

    def enter(self, section: Section | None) -> None:
        """Begin a section, or end it if `section` is None or a section of visible text."""
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
        """Emit text as visible text or as reasoning, depending on the open section.

        Args:
            text: the text.
            markup: the text is markup, so quotation marks and tags in it do not count.
            as_reasoning: emit it as reasoning, whatever the section is.
        """
        if not text:
            return
        if not as_reasoning:
            self.here.advance(text, markup=markup)
        self.output.emit(text, as_reasoning=as_reasoning or self.section is not None)

    def passes(self, text: str) -> bool:
        """Return True if the caller may emit `text` itself; False if it must call `emit`."""
        if not self.output.passes(text):
            return False
        self.here.advance(text)
        return True

    def show(self, markup: str, *, word: bool = False) -> None:
        """Emit markup as text. If it was quoted, the text after it counts as quoted too.

        Args:
            markup: the text to emit.
            word: `markup` is a bracket of ordinary text, and not a marker of a dialect.
        """
        quoted = self.quotation and not word
        self.emit(markup, markup=quoted)
        self.visible.quoting = quoted

    def hide(self) -> None:
        """Note that there was markup at the end of the emitted text, and that it is not shown."""
        if self.after_fence:
            self.visible.end_fence()
        self.here.hide()


# White space, of which a marker may follow no more than this.
GAP: Final = re.compile(r"\s{0,224}")
# As much of a closing marker as is not a word of the answer, where the text was cut in it.
_CUT_TRAILER_CHARACTERS: Final = 3


class Trailing(msgspec.Struct, frozen=True):
    """Describes the closing markers that follow a block.

    Fields:
        stop: the index up to which the text belongs to the block and is not shown.
        over: nothing more can belong to the block.
    """

    stop: int
    over: bool


def trailing(
    dialect: TextDialect, section: Section | None, text: str, at: int, *, final: bool
) -> Trailing | None:
    """Find the closing marker of `dialect` that follows a block at index `at` of `text`.

    Args:
        dialect: the text dialect of the block.
        section: the open section, whose closing markers do not belong to the block; or None.
        text: the text, as far as it has arrived.
        at: the index after the block.
        final: no more text will arrive.

    Returns:
        the end of the marker, or None if the decision needs more text.
    """
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
    """Collects the text of a block of markup whose end has not arrived yet.

    Fields:
        shown: the block is quoted, so the scanner will emit it as text.
        thought_end: finds the end of the reasoning that the block is in. A draft that is not
            complete by then is ordinary reasoning: markup that is only named has no end.
        pieces: its raw text so far, after the opening marker.
        taken: the number of characters in `pieces`.
        window: the maximum number of characters that `ending` gets next.
        over: no more text belongs to the block.
        closed: its end was found.
        named: the reasoning ended before the block did.
        stream: reads its calls while the text arrives; None if they come when it is complete.
        early: gets what the stream reads.
    """

    dialect: TextDialect
    opener: str
    ending: Ending
    shown: bool
    thought_end: Ending | None = None
    pieces: list[str] = msgspec.field(default_factory=list)
    taken: int = 0
    window: int = _FIRST_WINDOW
    over: bool = False
    closed: bool = False
    named: bool = False
    stream: BlockStream | None = None
    early: EarlyCalls | None = None

    @property
    def raw(self) -> str:
        """The text of the block so far, including its opening marker."""
        return self.opener + "".join(self.pieces)

    def read(self, buffer: str, at: int, *, final: bool) -> tuple[str, int]:
        """Take text of the block from `buffer[at:]`; return the rest, and where to continue in it.

        Each window of text is twice as long as the last: many short blocks must not search it all.
        """
        end = MORE
        while end == MORE and at < len(buffer):
            window = buffer[at : at + self.window]
            end = self._end_in(window)
            if end >= self.taken:
                size = end - self.taken
                self._take(window[:size])
                self.over = self.closed = True
                return buffer, at + size
            self._take(window)
            at += len(window)
        if end == MORE and final:
            end = self.ending.close()
            self.over = True
        if end == MORE:
            return buffer, at
        # It ended inside what was taken: the rest is text again.
        self.over = self.closed = True
        raw = "".join(self.pieces)
        self.pieces, rest = [raw[:end]], raw[end:]
        if len(rest) <= at:  # all of it came from this buffer
            return buffer, at - len(rest)
        return rest + buffer[at:], 0

    def _end_in(self, window: str) -> int:
        end = self.ending.feed(window, 0)
        thought_end = self.thought_end.feed(window, 0) if self.thought_end else MORE
        if thought_end == MORE or MORE < end <= thought_end:
            return end
        self.named = True
        return thought_end

    def _take(self, piece: str) -> None:
        self.pieces.append(piece)
        self.taken += len(piece)
        self.window = max(_FIRST_WINDOW, self.taken)
        if self.early is not None and self.stream is not None and not self.stream.over:
            self.early.read(self.stream, piece)


def new_block(dialect: TextDialect, opener: str, drafts: Section | None, *, shown: bool) -> Block:
    """Return the block that begins after `opener`, in the section `drafts` if a call is a draft."""
    closers = drafts.closers if drafts else ()
    thought_end = literal_end(*closers, inclusive=False) if closers else None
    return Block(dialect, opener, dialect.ending(opener), shown, thought_end)


class Opening(msgspec.Struct, frozen=True):
    """Describes the block or section that begins at a marker.

    Fields:
        dialect: the text dialect of the block.
        start: the marker and the text after it.
        cut: the reply was truncated before it was known whether a block begins.
        named: a sentence names the tag or the header, so that it begins nothing.
    """

    dialect: TextDialect
    start: BlockStart
    cut: bool = False
    named: bool = False


# More text must decide what opens, if anything does.
WAIT: Final = Opening(THINK, BlockStart("", "", Offered(), final=False))


def counts_at(opener: str, dialect: TextDialect, emitted: Transcript, *, start: bool) -> bool:
    """Return whether an opening marker may begin a block after the emitted text.

    Args:
        opener: the marker.
        dialect: one of the text dialects that have this opening marker.
        emitted: all text before it.
        start: True if nothing was emitted before it.
    """
    if emitted.after_fence:
        return dialect.explicit and not dialect.begins_line
    if dialect.whole or opener in dialect.first:
        return start
    if dialect is THINK:
        return emitted.section is None and (opener in TOKENS or emitted.visible.line_blank)
    return not dialect.begins_line or emitted.here.line_blank


class Place(msgspec.Struct, frozen=True):
    """Describes an index of a text at which markup may begin.

    Fields:
        text: the text as far as it has arrived.
        at: the index.
        offered: the tools of the request.
        final: no more text will arrive.
        cut: no more text will arrive because the reply was truncated.
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
    """Decide which opening marker at an index begins a block.

    If the reply was truncated before the decision, the marker begins nothing and is hidden.

    Args:
        owners: the opening markers at the index, each with a text dialect that has it.
        place: the text and the index.
        emitted: all text before it.
        start: True if nothing was emitted before it.
        only: consider only this text dialect; None for all.

    Returns:
        the block, `WAIT` if the decision needs more text, or None if none begins.
    """
    wait, cut, here = False, None, emitted.here
    edge = here.line_blank or here.after_markup
    for opener, dialect in owners:
        if not (dialect is only if only else counts_at(opener, dialect, emitted, start=start)):
            continue
        begin = place.at + len(opener)
        head = place.text[begin : begin + HEAD_CHARACTERS]
        over = place.final or len(head) == HEAD_CHARACTERS
        block = BlockStart(opener, head, place.offered, over, edge)
        begins = dialect.starts(block)
        if begins:
            # What it refuses amid a line is not markup of a dialect after it either.
            if wait:  # a dialect before it may read the block
                return WAIT
            if here.names:
                meant = dialect.in_sentence(block)
                if not meant:
                    return WAIT if meant is None else Opening(dialect, block, named=True)
            counts = here.line_blank or dialect.amid_line(block)
            if counts is not False:
                return Opening(dialect, block) if counts else WAIT
            alone = place.cut and dialect.explicit and not (emitted.example or head.strip())
            return Opening(dialect, block, cut=True) if alone else None
        wait = wait or (begins is None and not over)
        said = emitted.example or (head.strip() and here.mentions)
        if place.cut and dialect.explicit and not said:
            partial = BlockStart(opener, head, place.offered, final=False)
            cut = Opening(dialect, block, cut=True) if dialect.starts(partial) is None else cut
    return WAIT if wait else cut
