"""Track whether the next visible text is in an example, which is code or a quotation.

The rules are those of CommonMark, as far as they distinguish examples from the answer: fenced code
blocks, in list items too, indented code, code spans on one line, block quotes, and HTML tags of
code. A fence may have any indentation, because the scanner does not know how deeply lists are
nested. Source: the CommonMark specification, 4.4, 4.5, 5.1, 5.2 and 6.1; quirk TEXT-FP-FENCE.
"""

import re
from collections import deque
from typing import Final

# A name as long as this is none that matters.
_LONGEST: Final = 40
# Its name may follow in the next text.
_TAG: Final = re.compile(rf"<(/?+)([^\s<>/=]{{1,{_LONGEST}}}+|\Z)")
_CODE: Final = frozenset(("code", "pre", "samp", "kbd"))
_MOST: Final = 64


class ShownTags:
    """Tracks the HTML-like tags in the visible text of one paragraph."""

    def __init__(self) -> None:
        # The tag whose name may continue, the names shown on this line, the open tag of an example.
        self._part = ""
        self._shown_names: deque[str] = deque(maxlen=_MOST)
        self._code = ""

    @property
    def example(self) -> bool:
        """Whether a tag that shows an example is open."""
        return bool(self._code)

    def advance(self, part: str) -> None:
        """Process the next part of the line, at least one character."""
        text, self._part = self._part + part, ""
        for match in _TAG.finditer(text):
            if match.end() == len(text):
                self._part = match[0] if len(match[2]) < _LONGEST else ""
                return
            self._show(match[1], match[2])

    def _show(self, slash: str, name: str) -> None:
        if len(name) == _LONGEST:
            return
        if slash:
            if name.lower() == self._code:
                self._code = ""
            return
        if name.lower() in _CODE and not self._code:
            self._code = name.lower()
        self._shown_names.append(name)

    def balances(self, closer: str) -> bool:
        """Return whether an opening tag on this line belongs to the tag `closer`, and use it up."""
        name = next((it for it in self._shown_names if closer == f"</{it}>"), None)
        if name is None:
            return False
        self._shown_names.remove(name)
        return True

    def end_line(self, *, blank: bool) -> None:
        """Begin the next line. A blank line ends the paragraph."""
        self._part = ""
        self._shown_names.clear()
        # CommonMark: inline code and inline HTML end with their paragraph, at the latest.
        if blank:
            self._code = ""


_SYMMETRIC: Final = frozenset("\"'\uff02\uff07")
_APOSTROPHES: Final = frozenset("'\uff07")
_MARK: Final = re.compile(f"[{''.join(_SYMMETRIC)}]")
# Those that some language closes a quotation with open one only if no word ends before them.
_EITHER: Final = _SYMMETRIC.union("“«\u2018")
_OPENING: Final = frozenset("„「『《〈\u201a")
# What ends a word or a sentence: a mark right after it opens nothing.
_WORD_ENDS: Final = frozenset(".!?…)]}%")
# From here on scripts have no spaces between words and marks.
_FIRST_CJK: Final = "\u2e80"


class Quotation:
    """Tracks the quotation marks in the visible text of one line."""

    def __init__(self) -> None:
        # The last character, the one before it, and the marks that are open; the last
        # character is not among those yet, because what follows it decides about an apostrophe.
        self._last = ""
        self._before = ""
        self._open: set[str] = set()

    @property
    def opens(self) -> bool:
        """Whether the last character opens a quotation."""
        if self._last in _OPENING:
            return True
        return self._last in _EITHER and self._last not in self._open and _may_open(self._before)

    def advance(self, part: str) -> None:
        """Process the next part of the line, at least one character."""
        text = self._last + part
        for match in _MARK.finditer(text, 0, len(text) - 1):
            at = match.start()
            self._turn(text[at - 1] if at else self._before, match[0], text[at + 1])
        self._before, self._last = text[-2:-1], text[-1]

    def end_line(self) -> None:
        """Begin the next line, on which no quotation is open."""
        self._last = self._before = ""
        self._open.clear()

    def _turn(self, before: str, mark: str, after: str) -> None:
        if mark in self._open:
            # In "don't" the mark is inside a word, so it closes no quotation.
            apostrophe = mark in _APOSTROPHES and before.isalnum() and after.isalnum()
            if not apostrophe:
                self._open.remove(mark)
        elif _may_open(before):
            self._open.add(mark)


def _may_open(before: str) -> bool:
    # Chinese and Japanese have no space before a quotation.
    return before >= _FIRST_CJK or not (before.isalnum() or before in _WORD_ENDS)


_FENCE = re.compile(r"[ \t]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++)*(`{3,}|~{3,})(.*)", re.DOTALL)
_CLOSING = re.compile(r"[ \t]*+(`{3,}+|~{3,}+)[ \t]*+")
_TICKS = re.compile("`+")
# Indented code; in a list item the text of the item is indented as well.
_INDENTED = re.compile(r" {0,3}(?: {4}|\t)")
_INDENTED_IN_LIST = re.compile(r"(?: {0,3}(?: {4}|\t)){2}")
_LIST = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]")
# What begins and ends a code block.
FENCES: Final = ("```", "~~~")
# As much of a line as identifies a fence, however the line continues.
_LEAD_CHARACTERS = 200


class Context:
    """Tracks whether the visible text ends in code, in a quotation, or in neither.

    Fields:
        last: the last character emitted; "" before any.
        quotation: the quotation marks of this line.
        tags: the tags shown on this line.
        after_markup: the text ends with hidden markup, apart from spaces after it.
        blank: only white space was emitted so far.
        line_blank: only spaces were emitted on this line.
        fence: the marks that opened the current code block; "" outside one.
        quoting: the last text, apart from white space, was markup after a quotation mark.
        naming: the last text, apart from white space, was an opening marker that a sentence names.
    """

    def __init__(self) -> None:
        self.last = ""
        self.blank = True
        self.line_blank = True
        self.fence = ""
        self.quoting = False
        self.naming = False
        self.after_markup = False
        self.quotation = Quotation()
        self.tags = ShownTags()
        self._lead = ""
        # Whether markup that is not shown is on this line; whether the last line was blank
        # or indented code; whether the last line that was not indented began a list item.
        self._marked = False
        self._after_blank = False
        self._list = False
        # How many backticks opened the code span we are in, and how many were emitted last.
        self._span = 0
        self._ticks = 0
        self._quote = False

    @property
    def example(self) -> bool:
        """Whether the next text is in code or in a block quote."""
        if self.fence:
            return not self.after_fence
        return self._quote or self.in_span or self.tags.example or self._indented

    @property
    def mentions(self) -> bool:
        """Whether a sentence mentions the next markup: other text and a space precede it."""
        return self.last.isspace() and not self.line_blank

    @property
    def sets_apart(self) -> bool:
        """Whether a space after words, or a bracket, precedes the next markup."""
        return self.mentions or self.last in {"(", "["}

    @property
    def names(self) -> bool:
        """Whether a sentence may name the next opening marker, or goes on with one it named."""
        return self.naming or (self.mentions and not self.after_markup)

    @property
    def in_span(self) -> bool:
        """Whether a code span is open."""
        return self._span_after(self._ticks) > 0

    @property
    def after_fence(self) -> bool:
        """Whether this line has only marks that close the code block."""
        match = _CLOSING.fullmatch(self._lead) if self.fence else None
        return bool(match) and self._closes(match[1])  # type: ignore[index]  # there is a match

    @property
    def _indented(self) -> bool:
        if not self._after_blank or self._marked:
            return False
        return bool((_INDENTED_IN_LIST if self._list else _INDENTED).match(self._lead))

    def fence_marks(self, text: str, at: int, stop: int) -> int:
        """Return the end of the marks in `text[at:stop]` that may close the code block.

        If there are none, return `stop`.
        """
        line = (self._lead + text[at : min(stop, at + _LEAD_CHARACTERS)])[:_LEAD_CHARACTERS]
        match = _CLOSING.match(line)
        if not match or match.end() <= len(self._lead):
            return stop
        return at + match.end() - len(self._lead)

    def end_fence(self) -> None:
        """End the code block, although other text follows its closing marks."""
        self.fence = self._lead = ""

    def hide(self) -> None:
        """Note that there is markup at this position which is not shown."""
        self.after_markup = self._marked = True

    def advance(self, text: str, *, markup: bool = False) -> None:
        """Process text that was emitted. Quotation marks and tags inside `markup` do not count."""
        if not text:
            return
        self.last = text[-1]
        if not text.isspace():
            self.quoting = self.naming = self.after_markup = False
        if "\n" not in text:
            self._more(text, markup=markup)
            return
        self.after_markup = False
        for number, line in enumerate(text.split("\n")):
            if number:
                self._end_line(markup=markup)
            if line:
                self._more(line, markup=markup)

    def _more(self, part: str, *, markup: bool) -> None:
        if not markup and not self.fence:
            self.quotation.advance(part)
            self.tags.advance(part)
        self._lead = (self._lead + part)[:_LEAD_CHARACTERS]
        if self.line_blank and not part.isspace():
            self.blank = self.line_blank = False
            self._quote = part.lstrip().startswith(">")
        if not self.fence:
            self._count(_TICKS.sub("", part) if markup else part)

    def _count(self, part: str) -> None:
        """Open or close code spans by the backticks in `part`; as many must close as opened."""
        at = 0
        for match in _TICKS.finditer(part):
            if match.start() > at:
                self._span = self._span_after(self._ticks)
                self._ticks = 0
            at = match.end()
            self._ticks += at - match.start()
        if at < len(part):
            self._span, self._ticks = self._span_after(self._ticks), 0

    def _span_after(self, ticks: int) -> int:
        """Return the value of `_span` after `ticks` backticks in a row."""
        if not self._span:
            return ticks
        return 0 if ticks == self._span else self._span

    def _end_line(self, *, markup: bool) -> None:
        if not markup:
            self.quotation.end_line()
            self.tags.end_line(blank=self.line_blank)
        self._after_blank = not self._marked and not self.fence and self._goes_before_code()
        if not self.line_blank:
            match = _FENCE.match(self._lead)
            if match:
                self._mark(match[1], match[2])
        self._marked = False
        self._lead = ""
        if not markup:  # a code span that quotes markup has all of its lines
            self._span = self._ticks = 0
        self._quote = False
        self.line_blank = True

    def _goes_before_code(self) -> bool:
        """Return whether indented code may follow this line: it is blank after text, or is code."""
        if self.line_blank:
            return not self.blank
        if not self._lead.startswith(("  ", "\t")):
            self._list = bool(_LIST.match(self._lead))
        return self._indented

    def _closes(self, marks: str) -> bool:
        return marks[0] == self.fence[0] and len(marks) >= len(self.fence)

    def _mark(self, marks: str, rest: str) -> None:
        """Process a line of fence marks: it opens a code block, or closes the open one."""
        if not self.fence:
            # Backticks in the words after it: a code span, no block.
            if marks[0] == "~" or "`" not in rest:
                self.fence = marks
        elif self._closes(marks) and not rest.strip():
            self.fence = ""
