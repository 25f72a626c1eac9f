"""Define text dialects that use special tokens: a section of calls with name and JSON.

A block is one call. It begins with the token of its section, or with the token of a call, and ends
with its JSON. The closing tokens follow it as trailers, and the next call of the section is another
block. A marker inside a string of the JSON is data. Prose that mentions a token stays text,
because in a call the name and the separator follow the token at once. A section without calls ends
there and is not shown.
"""

import re
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from itertools import product
from typing import ClassVar, Final

from harness.text_calls.boundaries import (
    SPACE,
    Ending,
    Head,
    PatternEnd,
    SequenceEnd,
    any_literal,
    end_of,
)
from harness.text_calls.dialect import (
    BlockStart,
    Offered,
    RawBlock,
    Section,
    TextDialect,
    WrittenCall,
)
from harness.text_calls.json_end import headed_end
from harness.text_calls.native import NAMESPACE
from harness.text_calls.streamed import BlockStream, HeadedStream

FENCE: Final = "```"
_HEADER = re.compile(r"\s*([\w./:-]*)\s*")
# What precedes the arguments of a broken call: words in place of a name or an id, or no separator.
_WORDS = re.compile(r"\s*+([^<{}\n]{1,128}+)")
_UNSEPARATED = re.compile(r"\s*+[\w./:@-]{1,128}+\s*+\{")
# Text between the token of a section and that of its first call.
_NOISE = re.compile(r"\s*+[^<\n]{0,40}+\s*+")
_EMPTY_SECTION: Final = Section(reasoning=False, closers=())


def after_fence(tokens: tuple[str, ...]) -> Iterator[str]:
    """Yield each of these tokens, alone and after the end of a code block around the JSON."""
    return (FENCE + gap + token for gap, token in product(("", "\n"), tokens))


class TokenCalls(TextDialect):
    """Base of the text dialects that use special tokens.

    Fields:
        section_begins, call_begins, separators, call_ends, section_ends: all known variants of
            each token. The writer uses the first.
        ends: other tokens that may end a call, such as the end of a message.
        kinds: words that may be in the header instead of a name.
        before_json: the ways in which the text after the separator continues up to the arguments.
    """

    section_begins: ClassVar[tuple[str, ...]]
    call_begins: ClassVar[tuple[str, ...]]
    separators: ClassVar[tuple[str, ...]]
    call_ends: ClassVar[tuple[str, ...]]
    section_ends: ClassVar[tuple[str, ...]]
    ends: ClassVar[tuple[str, ...]] = ()
    kinds: ClassVar[tuple[str, ...]] = ()
    before_json: ClassVar[Head] = Head(SPACE, "[{`]", commits=0)
    closed_by_trailer = True
    untyped_end = True

    @abstractmethod
    def named(self, header: str, body: str, offered: Offered) -> WrittenCall:
        """Return the call with this text before the separator (`header`) and after it (`body`)."""

    def starts(self, start: BlockStart) -> bool | None:
        """Return whether a name and its separator follow the token that begins a call."""
        in_section = start.opener in self.section_begins
        body = start.head
        if in_section:
            body = start.head.lstrip()
            begin = next((it for it in self.call_begins if body.startswith(it)), "")
            if not begin:
                follows = (*self.call_begins, *self.section_ends)
                maybe = self._is_empty(start) or any(it.startswith(body) for it in follows)
                if not maybe and start.edge:
                    return self._follows_noise(start)
                return maybe and (bool(body) if start.final or self._is_empty(start) else None)
            body = body[len(begin) :]
        header = next(_HEADER.finditer(body))  # each of its parts may be missing
        name, rest = header[1], body[header.end() :]
        if name and rest.startswith(self.separators):
            return True
        if any(it.startswith(rest) for it in self.separators):
            cut = bool(rest) or self._begins(name, start.offered) if name else in_section
            if cut or not start.final:
                return cut if start.final else None
        broken = self._is_broken(body) if start.edge else False
        return bool(broken) if start.final else broken

    def _follows_noise(self, start: BlockStart) -> bool | None:
        """Return whether the first call of the section follows a few words, which are shown."""
        words = end_of(_NOISE, start.head, 0)
        rest = start.head[words:]
        if rest.startswith(self.call_begins):
            return True
        waits = not start.final and any(it.startswith(rest) for it in self.call_begins)
        return None if waits else False

    def _is_broken(self, body: str) -> bool | None:
        """Return whether a broken call begins: with words as its name, or without a separator."""
        body = body.lstrip()
        if not body:
            return None
        if body.startswith(self.separators) or _UNSEPARATED.match(body):
            return True
        words = _WORDS.match(body)
        rest = body[words.end() :] if words else body
        if rest.startswith(self.separators):
            return True
        return None if any(it.startswith(rest) for it in self.separators) else False

    def in_sentence(self, start: BlockStart) -> bool | None:
        """Return whether arguments follow the separator, and not words about it."""
        _, *body = re.split(any_literal(*self.separators), start.head, maxsplit=1)
        return self.before_json.matches(body[0], final=start.final) if body else True

    def _begins(self, name: str, offered: Offered) -> bool:
        plain = name.removeprefix(NAMESPACE).partition(":")[0]
        return offered.begins(plain) or any(kind.startswith(name) for kind in self.kinds)

    def _is_empty(self, start: BlockStart) -> bool:
        in_section = start.opener in self.section_begins
        return in_section and start.head.lstrip().startswith(self.section_ends)

    def section(self, start: BlockStart) -> Section | None:
        """Return a section without calls, or with words before the first; else None."""
        if start.opener not in self.section_begins:
            return None
        called = start.head.lstrip().startswith(self.call_begins)
        noise = not called and self._follows_noise(start)
        return _EMPTY_SECTION if noise or self._is_empty(start) else None

    def ending(self, _opener: str) -> Ending:
        """Return an `Ending` for the end of the JSON, or any token if JSON is broken or missing."""
        begins = (*self.section_begins, *self.call_begins)
        closers = (*self.call_ends, *self.section_ends, *self.ends)
        # Without a separator, the bracket of the arguments follows the name.
        header = re.compile(rf"{any_literal(*self.separators)}|(?=\{{)")
        header_end = PatternEnd(header, max(map(len, self.separators)))
        return SequenceEnd(header_end, lambda _text, _at: headed_end(closers, begins))

    def stream(self, opener: str, offered: Offered) -> BlockStream | None:
        """Return an object that reads the header, and then the JSON while it arrives."""
        return HeadedStream(self, opener, offered)

    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return the one call of the block, in a tuple."""
        body = block.raw.lstrip()
        for token in self.call_begins:
            body = body.removeprefix(token)
        header, *arguments = re.split(any_literal(*self.separators), body, maxsplit=1)
        header = header.strip()
        if not arguments and "{" in header:
            name = header.partition("{")[0].strip()
            return (WrittenCall(name, error="no separator is between name and arguments"),)
        if not arguments:
            name = self._cut_name(header, block.offered)
            return (WrittenCall(name, error="the text ended before the call's arguments"),)
        call = self.named(header, arguments[0], block.offered)
        if not call.arguments and not call.error:
            error = "no arguments follow the name"
            call = WrittenCall(call.name, "", call.id, error)
        return (call,)

    def _cut_name(self, header: str, offered: Offered) -> str:
        """Return the offered name in `header` before an incomplete separator; "" if none."""
        match = next(_HEADER.finditer(header))
        if any(it.startswith(header[match.end() :]) for it in self.separators):
            begun = match.end() < len(header)
            name = self.named(match[1], "", offered).name if begun else match[1]
            return name if name in offered else ""
        return ""

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return one section with all calls."""
        if not calls:
            return ""
        inside = "".join(
            f"{self.call_begins[0]}{self.written_header(call, index)}{self.separators[0]}"
            f"{call.arguments or '{}'}{self.call_ends[0]}"
            for index, call in enumerate(calls)
        )
        return f"{self.section_begins[0]}{inside}{self.section_ends[0]}"

    def written_header(self, call: WrittenCall, index: int) -> str:
        """Return the text before the separator of the call at position `index` of its section."""
        del index
        return call.name
