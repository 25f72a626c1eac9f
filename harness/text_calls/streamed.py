"""Read the calls of a block while its text still arrives, for clients that cannot wait for its end.

A `BlockStream` gets the text of one block. It starts a call as soon as its name is certain, and
adds to the call's arguments what no later text of the block can change. At anything unusual it
stops, and the rest comes when the block is complete: the dialect then reads the block as always,
and that reading decides. If it contradicts what was streamed, the call is rejected.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from harness.text_calls.boundaries import MORE
from harness.text_calls.dialect import Offered, RawBlock, TextDialect, WrittenCall
from harness.text_calls.json_calls import read_json_calls
from harness.text_calls.json_end import JsonEnd
from harness.text_calls.json_scan import MATTERS, PAIRS
from harness.text_calls.native import clean_name

CONTRADICTED: Final = "the text that followed contradicts what was streamed of the call"


class StreamedCall(msgspec.Struct, eq=False):
    """A call that was started before all text that decides about it was read.

    Fields:
        fragments: the parts of its arguments so far, in order.
        taken: the number of fragments that were emitted.
        index: its index in the turn; -1 before its start was emitted.
    """

    name: str
    id: str = ""
    fragments: list[str] = msgspec.field(default_factory=list)
    taken: int = 0
    index: int = -1

    def take(self) -> str:
        """Return the arguments that arrived since the last call."""
        fresh = "".join(self.fragments[self.taken :])
        self.taken = len(self.fragments)
        return fresh

    def fits(self, arguments: str) -> bool:
        """Return whether `arguments` continue what was streamed, perhaps up to a white space."""
        streamed = "".join(self.fragments)
        return arguments.startswith(streamed) or arguments == streamed.rstrip()

    def complete(self, arguments: str) -> None:
        """Add the rest of the complete `arguments`, which must fit."""
        self.fragments.append(arguments[sum(map(len, self.fragments)) :])


class BlockStream(ABC):
    """Base of the objects that read the calls of one block while its text arrives.

    The calls that it starts are the first of the block, without a gap. The text of a call, and
    each other text, is looked at a bounded number of times.

    Args:
        offered: the tools of the request.

    Fields:
        calls: the calls that were started.
        over: nothing more is streamed of the block.
    """

    def __init__(self, offered: Offered) -> None:
        self.offered = offered
        self.calls: list[StreamedCall] = []
        self.over = False

    @abstractmethod
    def feed(self, text: str) -> None:
        """Read the next text of the block; called only until `over` is set."""

    def start(self, name: str, call_id: str = "") -> StreamedCall | None:
        """Start a call of an offered tool; any other name ends the stream, and gives None."""
        name = clean_name(name, self.offered)
        if name not in self.offered:
            self.over = True
            return None
        self.calls.append(StreamedCall(name, call_id))
        return self.calls[-1]


# What matters in a string.
_STRING_SIGNS: Final = re.compile(r'["\\]')
_BRACKET: Final = re.compile(r"[{\[]")
_BETWEEN: Final = re.compile(r"[ \t\n\r,;]*+")
# How far from its start, and at which objects in it, the arguments of a call are looked for.
_HEAD_CHARACTERS: Final = 2_048
_MOST_TRIES: Final = 8
_CLOSERS: Final = {opener: closer for closer, opener in PAIRS.items()}


class JsonStrings:
    """Skips the content of JSON strings in a text that arrives in pieces."""

    def __init__(self) -> None:
        self.inside = False
        self._escaped = False

    def skip(self, text: str, at: int) -> int:
        """Return the index after the string that is open at `at`, or the length of the text."""
        if self._escaped:
            self._escaped = False
            at += 1
        while match := _STRING_SIGNS.search(text, at):
            at = match.end()
            if match[0] == '"':
                self.inside = False
                return at
            if at == len(text):
                self._escaped = True
                return at
            at += 1
        return len(text)


class _ObjectCopy:
    """Finds the end of the JSON object that begins with the first character it gets.

    Fields:
        over: the object has ended, or is broken.
        broken: the text stopped being JSON.
    """

    def __init__(self) -> None:
        self.over = self.broken = False
        self._json = JsonEnd()
        self._taken = 0

    def feed(self, text: str, at: int) -> int:
        """Return the index in `text` up to which it belongs to the object."""
        end, before = self._json.feed(text, at), at - self._taken
        self._taken += len(text) - at
        self.broken = self._json.broken
        self.over = self.broken or end != MORE
        if not self.over:
            return len(text)
        return before + (self._json.broken_at if self.broken else end)


ReadCalls = Callable[[str, Offered], Sequence[WrittenCall] | None]


def _with_no_arguments(calls: Sequence[WrittenCall] | None) -> WrittenCall | None:
    """Return the one usable call if its arguments are exactly `{}`; else None."""
    if calls is None or len(calls) != 1 or calls[0].error or calls[0].arguments != "{}":
        return None
    return calls[0]


class HeadedStream(BlockStream):
    """Streams a block of one call: a header with its name, and its arguments as a JSON object.

    Args:
        dialect: the text dialect of the block.
        opener: its opening marker.
        offered: the tools of the request.
    """

    def __init__(self, dialect: TextDialect, opener: str, offered: Offered) -> None:
        super().__init__(offered)
        self._dialect = dialect
        self._opener = opener
        self._head = ""
        self._copy: _ObjectCopy | None = None

    def feed(self, text: str) -> None:
        """Read the next text of the block; see `BlockStream.feed`."""
        at = 0
        if self._copy is None:
            at = text.find("{")
            self._head += text if at < 0 else text[:at]
            if at < 0:
                self.over = len(self._head) > _HEAD_CHARACTERS
                return
            # If the object were empty, it would be this call, so that the object is its arguments.
            block = RawBlock(self._opener, f"{self._head}{{}}", self.offered, closed=True)
            call = _with_no_arguments(self._dialect.calls(block))
            if call is None or self.start(call.name, call.id) is None:
                self.over = True
                return
            self._copy = _ObjectCopy()
        end = self._copy.feed(text, at)
        self.calls[-1].fragments.append(text[at:end])
        self.over = self._copy.over


class JsonStream(BlockStream):
    """Streams a block of JSON objects that are calls, also in arrays.

    Args:
        offered: the tools of the request.
        opened: the bracket that is part of the opening marker; "" if it has none.
        read: returns the calls of one object.
    """

    def __init__(
        self, offered: Offered, opened: str = "", *, read: ReadCalls = read_json_calls
    ) -> None:
        super().__init__(offered)
        self._read = read
        self._stack = list(opened)
        self._begun = bool(opened)
        self._strings = JsonStrings()
        # The text of the open object up to here, until it is too long to be looked at again.
        self._head: str | None = None
        self._tries = 0
        self._copy: _ObjectCopy | None = None
        self._streamed = False

    def feed(self, text: str) -> None:
        """Read the next text of the block; see `BlockStream.feed`."""
        at = 0
        while at < len(text) and not self.over:
            if self._copy is not None:
                end = self._copy.feed(text, at)
                self.calls[-1].fragments.append(text[at:end])
                self.over = self._copy.broken
                self._copy = None if self._copy.over else self._copy
            elif self._strings.inside:
                end = self._strings.skip(text, at)
                self._keep(text[at:end])
            elif self._stack:
                end = self._token(text, at)
            else:
                end = self._gap(text, at)
            at = end

    def _keep(self, piece: str) -> None:
        if self._head is not None and not self._streamed:
            self._head += piece
            self.over = len(self._head) > _HEAD_CHARACTERS

    def _gap(self, text: str, at: int) -> int:
        """Return the index at which the next value may begin."""
        if self._begun:
            match = _BETWEEN.match(text, at)
            end = match.end() if match else at
            self.over = end < len(text) and text[end] not in "{["
        else:
            first = _BRACKET.search(text, at)
            end = first.start() if first else len(text)
        if end < len(text) and not self.over:
            self._begun = True
            return self._open(text, end)
        return end

    def _token(self, text: str, at: int) -> int:
        match = MATTERS.search(text, at)
        end = match.end() if match else len(text)
        sign = match[0] if match else ""
        self._keep(text[at : end - 1] if sign in ("{", "[", "}", "]") else text[at:end])
        if sign == '"':
            self._strings.inside = True
        elif sign in _CLOSERS:
            return self._open(text, end - 1)
        elif sign in PAIRS:
            self._close(sign)
        elif sign:
            self.over = True
        return end

    def _open(self, text: str, at: int) -> int:
        """Process a bracket at `at`; return the index after it, or `at` if arguments begin."""
        sign = text[at]
        if sign == "{" and self._head is None:
            self._head, self._tries, self._streamed = "", 0, False
        elif sign == "{" and not self._streamed and self._begins_arguments():
            self._copy, self._streamed = _ObjectCopy(), True
            return at
        self._keep(sign)
        self._stack.append(sign)
        return at + 1

    def _begins_arguments(self) -> bool:
        """Start the call if the object that follows contains its arguments."""
        self._tries += 1
        if self._tries > _MOST_TRIES or self._head is None:
            self.over = True
            return False
        inside = self._stack[self._stack.index("{") :]
        closers = "".join(_CLOSERS[it] for it in reversed(inside))
        call = _with_no_arguments(self._read(f"{self._head}{{}}{closers}", self.offered))
        return call is not None and self.start(call.name, call.id) is not None

    def _close(self, sign: str) -> None:
        if self._stack.pop() != PAIRS[sign]:
            self.over = True
            return
        self._keep(sign)
        if self._head is not None and "{" not in self._stack:
            # Without its call, what follows would come before it.
            self._head, self.over = None, self.over or not self._streamed


class ChosenStream(BlockStream):
    """Streams a block with the object that `choose` selects by its first character.

    Args:
        offered: the tools of the request.
        choose: gets the first character that is neither a space nor the bracket of an array.
    """

    def __init__(self, offered: Offered, choose: Callable[[str], BlockStream]) -> None:
        super().__init__(offered)
        self._choose = choose
        self._chosen: BlockStream | None = None
        self._head = ""

    def feed(self, text: str) -> None:
        """Read the next text of the block; see `BlockStream.feed`."""
        if self._chosen is None:
            self._head, text = self._head + text, self._head + text
            first = text.lstrip(" \t\r\n[")[:1]
            if not first:
                self.over = len(text) > _HEAD_CHARACTERS
                return
            self._chosen = self._choose(first)
            self._chosen.calls = self.calls
        self._chosen.feed(text)
        self.over = self._chosen.over
