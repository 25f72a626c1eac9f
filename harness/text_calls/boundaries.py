"""Find where a block of text calls begins and ends, while its text is still arriving."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable
from functools import cached_property, lru_cache
from typing import Final

import msgspec

MORE = -1

_SOLID: Final = re.compile(r"\S")


def end_of(pattern: "re.Pattern[str]", text: str, at: int) -> int:
    """Return the end of the match of `pattern` at index `at`; `at` if it does not match there."""
    return match.end() if (match := pattern.match(text, at)) else at


class Ending(ABC):
    """Base of the objects that find the end of one block while its text arrives."""

    @abstractmethod
    def feed(self, text: str, start: int) -> int:
        """Search `text[start:]`, which follows the text of earlier calls, for the end of the block.

        Returns:
            the length of the block, counted from right after its opening marker. It may end in the
            text of an earlier call. `MORE` if all text belongs to the block and its end has not
            arrived.
        """

    def close(self) -> int:
        """Return the length of the block when the text ends; `MORE` if all text belongs to it."""
        return MORE


class PatternEnd(Ending):
    """Ends a block at the first match of a pattern.

    Args:
        pattern: must match the same text, whatever follows the match. So it may not end with
            something optional, and may look ahead no further than `span`.
        span: the maximum number of characters of a match, including what it looks ahead at.
        inclusive: the match belongs to the block. Otherwise the block ends before the match, or
            before the last group in it that matched.
    """

    def __init__(self, pattern: "re.Pattern[str]", span: int, *, inclusive: bool = True) -> None:
        self._pattern = pattern
        self._span = span
        self._inclusive = inclusive
        self._tail = ""
        self._taken = 0

    def feed(self, text: str, start: int) -> int:
        """Search the next text for the end of the block; see `Ending.feed`."""
        tail = self._tail
        if tail:
            match = self._pattern.search(tail + text[start : start + self._span])
            if match:
                return self._taken - len(tail) + self._end(match)
        match = self._pattern.search(text, start)
        if match:
            return self._taken + self._end(match) - start
        self._taken += len(text) - start
        self._tail = (tail + text[max(start, len(text) - self._span) :])[-self._span :]
        return MORE

    def _end(self, match: "re.Match[str]") -> int:
        return match.end() if self._inclusive else match.start(match.lastindex or 0)


def any_literal(*literals: str) -> str:
    """Return a pattern that matches the longest of `literals` at a position."""
    return "|".join(map(re.escape, sorted(literals, key=len, reverse=True)))


@lru_cache(maxsize=64)
def _literal_pattern(*literals: str) -> "re.Pattern[str]":
    return re.compile(any_literal(*literals))


def literal_end(*closers: str, inclusive: bool = True) -> PatternEnd:
    """Return an `Ending` that ends the block at the first of these literal markers."""
    return PatternEnd(_literal_pattern(*closers), max(map(len, closers)), inclusive=inclusive)


class SequenceEnd(Ending):
    """Finds the end of a block that has two parts, each with a separate end.

    Args:
        first: finds the end of the first part. If this end is in an earlier piece of text than
            the latest, it is the end of the block.
        then: a function that gets the text and the offset at which the second part begins. It
            returns the `Ending` of the second part, or None if the block ends there.
    """

    def __init__(self, first: Ending, then: Callable[[str, int], Ending | None]) -> None:
        self._first = first
        self._choose = then
        self._then: Ending | None = None
        self._taken = 0

    def feed(self, text: str, start: int) -> int:
        """Search the next text for the end of the block; see `Ending.feed`."""
        if self._then is None:
            end = self._first.feed(text, start)
            if end == MORE:
                self._taken += len(text) - start
                return MORE
            at = start + end - self._taken
            self._then = self._choose(text, at) if at >= start else None
            if self._then is None:
                return end
            self._taken, start = end, at
        end = self._then.feed(text, start)
        return end if end == MORE else self._taken + end

    def close(self) -> int:
        """Return the end of the block when the text ends; see `Ending.close`."""
        end = self._then.close() if self._then else MORE
        return end if end == MORE else self._taken + end


def chosen_end(choose: Callable[[str], Ending]) -> SequenceEnd:
    """Return an `Ending` that `choose` selects by the first character that is not a space."""
    return SequenceEnd(PatternEnd(_SOLID, 1, inclusive=False), lambda text, at: choose(text[at]))


SPACE: Final = r"\s*+"
# A name of a tool in a tag; what no name holds keeps prose and JSON out.
_NAME: Final = r"""[^\s<>"'{}\[\]()=,;|]{1,128}+"""
NAME: Final = f"(?P<name>{_NAME})"
# A quotation mark next to a name. With it, the name is that of no tool.
MARK: Final = r"[\"']?+"
MARKED_NAME: Final = f"(?P<name>{MARK}{_NAME}{MARK})"


def literal(text: str) -> tuple[str, ...]:
    """Return one pattern for each character of a literal text, as arguments for `Head`."""
    return tuple(map(re.escape, text))


class Head:
    """Describes one way in which a block continues after its opening marker.

    It is a sequence of patterns (atoms), each for a character of a literal or for a class of
    characters. The text so far may end between any two of them. `matches` starts from the first
    atom each time, and reads at most 224 characters.

    Args:
        atoms: patterns that follow each other, each possessive.
        commits: the index of an atom. If the text ends at this atom or later, it ends inside
            markup. If it ends earlier, it may be prose about the marker. None: always prose.
        offered: the name in the head must be the name of an offered tool.
    """

    def __init__(self, *atoms: str, commits: int | None = None, offered: bool = False) -> None:
        self._atoms = atoms
        self._commits = commits
        self._offered = offered

    # Compiled on first use: dialects have a hundred heads, and most processes meet few of them.
    @cached_property
    def _complete(self) -> "re.Pattern[str]":
        return re.compile("".join(self._atoms))

    @cached_property
    def _part(self) -> "re.Pattern[str]":
        part = ""
        for index in range(len(self._atoms) - 1, -1, -1):
            opening = "(?P<committed>" if index == self._commits else "(?:"
            part = f"(?:{opening}{self._atoms[index]}{part}))?"
        return re.compile(part + r"\Z")

    def matches(self, head: str, offered: Container[str] = (), *, final: bool) -> bool | None:
        """Return whether `head` continues in this way; None if the decision needs more text."""
        if complete := self._complete.match(head):
            return not self._offered or complete["name"] in offered
        part = self._part.match(head)
        if part is None:
            return False
        if not final:
            return None
        return self._commits is not None and part["committed"] is not None

    def size(self, head: str) -> int:
        """Return the length of a complete match at the start of `head`; 0 if there is none."""
        return end_of(self._complete, head, 0)

    def name(self, head: str) -> str:
        """Return the tool name in `head`, which must match completely."""
        return self._complete.match(head)["name"]  # type: ignore[index]  # it is complete


def any_of(answers: Iterable[bool | None]) -> bool | None:
    """Return True if an answer is True; else None if an answer is undecided; else False."""
    waits = False
    for answer in answers:
        if answer:
            return True
        waits = waits or answer is None
    return None if waits else False


_NEWLINE: Final = "\n"
_MOST_SPACES: Final = 24
BRACKETS: Final = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


class Quote(msgspec.Struct, frozen=True):
    """Describes one kind of quoted string.

    Fields:
        mark: the quotation mark that begins and ends the string.
        escapes: a backslash removes the meaning of the next character.
        one_line: a line end inside the string means that the string is broken.
    """

    mark: str
    escapes: bool = True
    one_line: bool = False


PYTHON_QUOTES: Final = (
    Quote("'''"),
    Quote('"""'),
    Quote("'", one_line=True),
    Quote('"', one_line=True),
)


class BlockSyntax:
    """Stores the strings, brackets and markers of a block as compiled patterns.

    Args:
        quotes: how strings begin and end.
        closers: markers that end a block outside of strings.
        openers: markers that begin such a block. A broken string may quote one.
        before: markers that begin something else, so that the block ends before them.
        brackets: the block ends when its brackets are balanced.
    """

    def __init__(
        self,
        quotes: tuple[Quote, ...],
        closers: tuple[str, ...] = (),
        *,
        openers: tuple[str, ...] = (),
        before: tuple[str, ...] = (),
        brackets: bool = False,
    ) -> None:
        self.closers = closers
        self.openers = openers
        self.before = before
        self.quotes = {quote.mark: quote for quote in quotes}
        words = (*self.quotes, *closers, *before, *(BRACKETS if brackets else ()))
        self.outside = _Tokens(words)
        self.inside = {quote.mark: _inside(quote) for quote in quotes}


class _Tokens:
    """Searches for literal texts, the longest first, and for escaped characters."""

    def __init__(self, words: tuple[str, ...], *, escapes: bool = False) -> None:
        longest_first = sorted(words, key=len, reverse=True)
        pattern = "|".join(map(re.escape, longest_first))
        self.pattern = re.compile(rf"\\.|{pattern}" if escapes else pattern, re.DOTALL)
        self._cut = {word[:size] for word in words for size in range(1, len(word))}
        if escapes:
            self._cut.add("\\")
        self.span = max(map(len, words))

    def cut_from(self, text: str, at: int) -> int:
        """Return the index of a tail of `text` that may begin a literal; its length if none."""
        for index in range(max(at, len(text) - self.span), len(text)):
            if text[index:] in self._cut:
                return index
        return len(text)


def _inside(quote: Quote) -> _Tokens:
    words = (quote.mark, _NEWLINE) if quote.one_line else (quote.mark,)
    return _Tokens(words, escapes=quote.escapes)


class _BrokenEnd(Ending):
    """Finds the end of a block with a string that contains a line end although it must not.

    The string's quotation mark may be missing, or it may have several lines and quote markup. So a
    closing marker counts only if it follows a bracket and no opening marker precedes it.
    """

    def __init__(self, syntax: BlockSyntax) -> None:
        opener = any_literal(*syntax.openers) or r"(?!)"
        closer = any_literal(*syntax.closers)
        shut = rf"[)\]}}]\s{{0,{_MOST_SPACES}}}+"
        self._pattern = re.compile(rf"(?P<opener>{opener})|(?P<shut>{shut})?(?:{closer})")
        self._span = 1 + _MOST_SPACES + max(map(len, (*syntax.openers, *syntax.closers)))
        self._depth = 0
        self._rest = ""
        self._taken = 0

    def feed(self, text: str, start: int) -> int:
        """Search the next text for the end of the block; see `Ending.feed`."""
        buffer, offset = self._rest + text[start:], self._taken - len(self._rest)
        at = 0
        for match in self._pattern.finditer(buffer):
            at = match.end()
            if match["opener"]:
                self._depth += 1
            elif self._depth:
                self._depth -= 1
            elif match["shut"]:
                return offset + at
        self._taken += len(text) - start
        self._rest = buffer[max(at, len(buffer) - self._span) :]
        return MORE


class QuotedEnd(Ending):
    """Finds the end of one block in `syntax`. The closing marker belongs to the block.

    A string that is open at the end of the text has no end, whatever markers it contains.

    Args:
        syntax: the strings, brackets and markers of the block.
        depth: how many brackets the opening marker itself opened.
    """

    def __init__(self, syntax: BlockSyntax, depth: int = 0) -> None:
        self._syntax = syntax
        self._depth = depth
        self._quote = ""
        # What was taken, and where its last string began, until that is broken; then its end.
        self._pieces: list[str] = []
        self._string_at = 0
        self._broken = False
        self._broken_end: Ending | None = None
        # The tail of what came that may be the beginning of something.
        self._rest = ""
        self._taken = 0

    def feed(self, text: str, start: int) -> int:
        """Search the next text for the end of the block; see `Ending.feed`."""
        if not self._broken:
            fresh = text[start:]
            self._pieces.append(fresh)
            buffer, offset = self._rest + fresh, self._taken - len(self._rest)
            self._taken += len(fresh)
            end = self._read(buffer, offset)
            if end != MORE:
                return offset + end
            if not self._broken:
                return MORE
            self._broken_end = _BrokenEnd(self._syntax) if self._syntax.closers else None
            text, start = "".join(self._pieces), self._string_at
            self._pieces.clear()
        if self._broken_end is None:
            return MORE
        end = self._broken_end.feed(text, start)
        return end if end == MORE else self._string_at + end

    def _read(self, buffer: str, offset: int) -> int:
        at = 0
        while not self._broken:
            tokens = self._tokens
            match = tokens.pattern.search(buffer, at)
            if match is None or match.end() + tokens.span > len(buffer):
                # A marker that is still coming may hold what matched.
                cut = tokens.cut_from(buffer, at)
                if match is None or cut <= match.start():
                    self._rest = buffer[cut:]
                    return MORE
            at = match.end()
            if self._is_end(match[0], offset + at):
                return match.start() if match[0] in self._syntax.before else at
        return MORE

    @property
    def _tokens(self) -> _Tokens:
        return self._syntax.inside[self._quote] if self._quote else self._syntax.outside

    def _is_end(self, token: str, at: int) -> bool:
        """Process a token that ends at index `at`; return whether the block ends with it."""
        if self._quote:
            if token == self._quote:
                self._quote = ""
            elif token == _NEWLINE:
                self._broken = True
        elif token in self._syntax.quotes:
            self._quote, self._string_at = token, at
        elif token in BRACKETS:
            self._depth += BRACKETS[token]
            return self._depth <= 0
        else:
            return True
        return False
