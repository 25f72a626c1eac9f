"""Collect the markers of text dialects, and decide whether one outside a block is left over.

A marker is left over if it remained from a call without being part of a block. Such a closing
marker is at the edge of the answer: right after a word, with nothing but markup up to the end of
the line; or first on a line; or next to other markup. If a sentence mentions the marker, a space
precedes it or words follow it, and it is text.
"""

import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from harness.text_calls.boundaries import end_of
from harness.text_calls.context import FENCES, Context
from harness.text_calls.dialect import Section, TextDialect
from harness.text_calls.dialects.bare_json import BARE_ANYWHERE
from harness.text_calls.dialects.think import THINK
from harness.text_calls.line_ends import MOST_LINE_ENDS
from harness.text_calls.policy import Bare
from harness.text_calls.table import TEXT_DIALECTS


class Markup:
    """Searches a text for the markers of some text dialects.

    Fields:
        begins, begins_first: find a character with which some marker begins, from an index on;
            the second is for the start of a text.
        explicit: the opening markers that no ordinary answer contains.
        orphans, noise: markers that do not open a block, as in `TextDialect`.
        longest: the number of characters of the longest marker.
    """

    def __init__(self, dialects: Iterable[TextDialect], closers: Iterable[str]) -> None:
        by_opener: dict[str, list[TextDialect]] = {}
        self._by_letter: dict[str, list[tuple[str, TextDialect]]] = {}
        self._owners: dict[str, list[tuple[str, TextDialect]]] = {}  # of markers that came
        for dialect in dialects:
            for opener in dialect.openers:
                by_opener.setdefault(opener, []).append(dialect)
                self._by_letter.setdefault(opener[0], []).append((opener, dialect))
        # In the order of the table, which decides whose an orphan is that several have.
        owned = dict.fromkeys(each for owners in by_opener.values() for each in owners)
        self.orphans = {mark: each for each in owned for mark in each.orphans}
        self.explicit = frozenset(
            mark for mark, owners in by_opener.items() if any(it.explicit for it in owners)
        )
        self.noise = frozenset(mark for each in owned for mark in each.noise)
        self._on_new_lines = frozenset(mark for each in owned for mark in each.on_new_lines)
        self._line_ends = dict.fromkeys(THINK.tag_closers, THINK.line_ends) | {
            mark: each.line_ends for mark, each in self.orphans.items()
        }
        # Code blocks must be seen.
        always = {*self.orphans, *self.noise, *closers, *FENCES}
        later = {
            mark
            for mark, owners in by_opener.items()
            if not all(it.whole or mark in it.first for it in owners)
        }
        words = always | set(by_opener)
        self._start = re.compile(_trie(words))
        self._later = re.compile(_trie(always | later))
        self.longest = max(map(len, words))
        self._first_prefixes, self._prefixes = _prefixes(words), _prefixes(always | later)
        # Find the longest tail of a text that may become a marker.
        self._first_tail, self._tail = _tail(words), _tail(always | later)
        # Bound, because one is asked for each delta of a stream.
        self.begins_first = _first_letters(words)
        self.begins = _first_letters(always | later)

    def search(self, text: str, at: int, *, start: bool) -> "re.Match[str] | None":
        """Return the first marker from `at` on. Some markers count only at the text's start."""
        return (self._start if start else self._later).search(text, at)

    def is_marker(self, text: str) -> bool:
        """Return whether `text` is exactly a marker that may occur anywhere."""
        return bool(text) and self._later.fullmatch(text) is not None

    def owners(self, text: str, at: int) -> list[tuple[str, TextDialect]]:
        """Return the opening markers at `at`, each with a text dialect that has it."""
        match = self._start.match(text, at)
        if match is None:
            return []
        # Each of them begins the longest marker there.
        marker = match[0]
        if marker not in self._owners:
            alike = self._by_letter.get(marker[0], ())
            self._owners[marker] = [each for each in alike if marker.startswith(each[0])]
        return self._owners[marker]

    def marks(self, text: str, at: int) -> bool:
        """Return whether a marker other than a JSON bracket is at index `at`."""
        match = self._later.match(text, at)
        return match is not None and match[0] not in BARE_ANYWHERE.openers

    def noise_at(self, text: str, at: int) -> str:
        """Return the end token at `at`; "" if there is none."""
        match = self._later.match(text, at)
        return match[0] if match and match[0] in self.noise else ""

    def line_ends(self, marker: str) -> tuple[int, int]:
        """Return how many line ends before and after a marker without a block belong to it."""
        if marker in self.noise:
            return int(marker in self._on_new_lines), MOST_LINE_ENDS
        count = self._line_ends.get(marker, 0)
        return count, count

    def may_begin(self, text: str, at: int, *, final: bool, start: bool = False) -> bool:
        """Return whether `text` ends at `at` with a marker that more text may complete."""
        prefixes = self._first_prefixes if start else self._prefixes
        return not final and text[at : at + self.longest] in prefixes

    def held_from(self, text: str, at: int, *, start: bool) -> int:
        """Return the index of the longest tail that may become a marker; the length if none."""
        begin = max(at, len(text) - self.longest + 1)
        if start:
            # Some markers count only if nothing but white space is before them.
            first = self._first_tail.search(text, begin)
            if first and not text[at : first.start()].strip():
                return first.start()
        match = self._tail.search(text, begin)
        return match.start() if match else len(text)


@lru_cache(maxsize=64)
def markup_for(names: frozenset[str], bare: Bare, closers: tuple[str, ...]) -> Markup:
    """Return the markers of the text dialects with these names, in the order of the table."""
    table = TEXT_DIALECTS | ({BARE_ANYWHERE.name: BARE_ANYWHERE} if bare == "anywhere" else {})
    dialects = [dialect for name, dialect in table.items() if name in names]
    return Markup((THINK, *dialects), (*closers, *THINK.closers))


def _prefixes(words: Iterable[str]) -> frozenset[str]:
    return frozenset(word[:size] for word in words for size in range(1, len(word)))


def _tail(words: Iterable[str]) -> "re.Pattern[str]":
    """Return a pattern for the end of a text that begins one of `words` and is not all of it."""
    return re.compile(rf"(?:{_trie(_prefixes(words))})\Z")


def _first_letters(words: Iterable[str]) -> Callable[[str, int], "re.Match[str] | None"]:
    letters = re.escape("".join({word[0] for word in words}))
    search: Callable[[str, int], re.Match[str] | None] = re.compile(f"[{letters}]").search
    return search


def _trie(words: Iterable[str]) -> str:
    """Return a pattern that matches the longest of `words`, without trying each in turn."""
    first: dict[str, list[str]] = {}
    for word in words:
        if word:
            first.setdefault(word[0], []).append(word[1:])
    branches = []
    for letter, rests in sorted(first.items()):
        inner = _trie(rests)
        optional = "?" if "" in rests else ""
        branches.append(re.escape(letter) + (f"(?:{inner}){optional}" if inner else ""))
    return "|".join(branches)


# What an end token may follow without a space, as no word about it does. In scripts without
# spaces only the end of a sentence decides.
_ENDS_WORDS: Final = re.compile(r"[A-Za-z0-9.!?>)}\]\u2026\u3002\uff01\uff1f]")
_SPACES: Final = re.compile(r"[ \t]{0,16}")


def is_stray(  # noqa: PLR0913 - the marker, its position, and what counts
    marker: str,
    here: Context,
    markup: Markup,
    text: str,
    at: int,
    *,
    closers: bool,
    final: bool,
) -> bool | None:
    """Return whether a marker is left over from a call; None if the decision needs more text.

    Args:
        marker: an end token, a closing marker, or any other, which is never left over.
        here: the context of the text before it.
        markup: the markers that may be next to it.
        text: contains the text after it, as far as it has arrived.
        at: the index at which that text begins.
        closers: closing markers may be left over, and not only end tokens.
        final: no more text will arrive.
    """
    noise = marker in markup.noise
    if not noise and not (closers and marker in markup.orphans):
        return False
    if here.tags.balances(marker):
        return False
    if here.after_markup or (noise and _ENDS_WORDS.match(here.last)):
        return True
    if not noise and not here.line_blank and here.last.isspace():
        return False
    ends = line_over(markup, text, at, final=final)
    if ends is None:
        return None
    # Words about a token do not begin right after it.
    attached = noise and text[at : at + 1].isascii() and text[at : at + 1].isalnum()
    begins_line = here.line_blank and not text[at : at + 1].isspace()
    return ends or attached or begins_line


def line_over(markup: Markup, text: str, at: int, *, final: bool) -> bool | None:
    """Return whether only markup follows on the line; None if the decision needs more text."""
    gap = end_of(_SPACES, text, at)
    if gap == len(text):
        return True if final else None
    if markup.may_begin(text, gap, final=final):
        return None
    return text[gap] in "\r\n" or markup.marks(text, gap)


def over_in(  # noqa: PLR0913 - the section, and as for `is_stray`
    marker: str,
    here: Context,
    markup: Markup,
    text: str,
    at: int,
    *,
    section: Section,
    final: bool,
) -> tuple[bool | None, bool]:
    """Return whether to hide `marker` before `text[at:]`, and whether it ends `section`.

    The first value is None if the decision needs more text.
    """
    if marker in section.closers:
        if marker not in markup.noise:  # a header, which no sentence has
            return True, True
        ends = is_stray(marker, here, markup, text, at, closers=False, final=final)
        return ends, bool(ends)
    return (line_over(markup, text, at, final=final) if marker in markup.noise else False), False
