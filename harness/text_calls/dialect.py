"""What a text dialect is: where its calls begin and end, what they contain, how to write them.

A block is one stretch of markup from its opening marker on; it may contain several calls. The
scanner finds opening markers, calls `starts` until the answer is certain, feeds text to an
`Ending` that looks for the end of the block, and passes the complete raw block to `calls`, once.
So time is linear in the text if each of the four is, and no dialect depends on how text was split.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from harness.text_calls.boundaries import Ending, Head, any_of
from harness.turns.turn import Tool


class WrittenCall(msgspec.Struct, frozen=True):
    """One call that a model wrote in a text.

    Fields:
        name: as written; "" if nothing names a tool.
        arguments: the JSON text of the arguments object: the model's own characters if the
            dialect contains JSON, else JSON made of its typed values. "" for a call without any.
        id: as written; "" if the dialect has none, and then one is generated.
        error: why it cannot be used, in one sentence; "" if it can. A call that cannot be
            used is reported with the start of its raw text, and never executed.
    """

    name: str = ""
    arguments: str = ""
    id: str = ""
    error: str = ""


class Offered(dict[str, Tool]):
    """The tools of one request by name; text that does not call one of them stays text."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        super().__init__((tool.name, tool) for tool in tools if tool.name)

    def begins(self, start: str) -> bool:
        """Whether some name begins with `start`."""
        return any(name.startswith(start) for name in self)

    def schema(self, name: str) -> dict[str, Any]:
        """Return the JSON Schema of the arguments of the tool; {} if it is not known."""
        tool = self.get(name)
        return tool.parameters if tool else {}


# `starts` must answer after at most this many characters; what is uncertain by then is text.
# With the marker before it, no more than 256 are held back.
HEAD_CHARACTERS = 224


class BlockStart(msgspec.Struct, frozen=True):
    """A place where a block may begin.

    Fields:
        opener: the marker that was found.
        head: what follows it, as much as has arrived, at most `HEAD_CHARACTERS`.
        offered: the tools of the request; never empty.
        final: no more text will arrive.
    """

    opener: str
    head: str
    offered: Offered
    final: bool


class RawBlock(msgspec.Struct, frozen=True):
    """A complete block.

    Fields:
        opener: the marker that began it.
        raw: all that follows the opener up to the end of the block, closing marker included
            if the ending includes it.
        offered: for types of parameters and for telling calls from data.
        closed: the ending was found; False if the text ended before.
    """

    opener: str
    raw: str
    offered: Offered
    closed: bool

    @property
    def text(self) -> str:
        """All of it."""
        return self.opener + self.raw


class Section(msgspec.Struct, frozen=True):
    """A stretch of text of another kind, such as reasoning, with markers around it.

    Fields:
        reasoning: whether it contains reasoning; else it is visible text, of which only the
            opening is hidden, and which needs no end.
        closers: the markers that end it; none of them is shown.
        header: how many characters of the head, after the opener, belong to its opening.
        ended_by: openers that end it as well, and begin what they begin.
        opens: the openers that mean anything in it, all others being text; None for all. Neither
            they nor its closers count where they are words of the text.
        voids: why calls of the same dialect before it and in it cannot be used; "" if they can.
        line_ends: how many line ends its template writes on each side of its markers, at most.
    """

    reasoning: bool
    closers: tuple[str, ...]
    header: int = 0
    ended_by: tuple[str, ...] = ()
    opens: tuple[str, ...] | None = None
    voids: str = ""
    line_ends: int = 0


class TextDialect(ABC):
    """One format of tool calls in text. Has no state; it is given blocks one by one.

    Fields:
        name: stable, with hyphens; scenarios and policies use it. It is that of the module, unless
            the module has several formats.
        title: human-readable.
        openers: the literal markers that may begin a block.
        heads: the forms in which a block continues after each opener, if `starts` needs no more.
        begins_line: those markers count only first on their line (but for spaces).
        between: what separates the calls that `write_call` writes.
        line_ends: how many line ends (0 to 2) its template writes between words and a call, at
            most. So many are not shown before a block and after it, unless words follow.
        explicit: its markers are never part of an ordinary answer; False for JSON and other
            formats that an answer may well contain, whose block becomes text again
            if `calls` finds no call.
        whole: the block counts only if nothing else but such blocks is in the visible text, so that
            its first marker is before any other visible text.
        first: openers that count only where nothing visible precedes them.
        last: openers whose block counts only if nothing else but such blocks follows it.
        trailers: markers swallowed after a block, with white space before them, as is `noise`.
        open_ended: text without an end marker may be the input of its calls, so that one which
            the end of the reply ends cannot be used if the reply was cut at its length.
        closed_by_trailer: a block is closed by a trailer that follows it; else by its ending.
        orphans: closing markers that, alone in the text, indicate a call whose start was lost.
        untyped_end: its closing marker may be part of a value, so that one which comes after
            the block makes the last call of the block ambiguous.
        noise: special tokens of the model's template without meaning; shown only by a sentence
            that mentions them.
        on_new_lines: those of `noise` before which the template writes a line end.
        taught_by: words of the prompts that describe it. It is read by default only if the system
            text has all of them; () for those that models know by themselves.
        markers: what must never show in text, names or arguments; a superset of `openers`
            if explicit.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    openers: ClassVar[tuple[str, ...]]
    heads: ClassVar[Mapping[str, tuple[Head, ...]]] = {}
    begins_line: ClassVar[bool] = False
    between: ClassVar[str] = ""
    line_ends: ClassVar[int] = 0
    explicit: ClassVar[bool] = True
    whole: ClassVar[bool] = False
    first: ClassVar[tuple[str, ...]] = ()
    last: ClassVar[tuple[str, ...]] = ()
    trailers: ClassVar[tuple[str, ...]] = ()
    open_ended: ClassVar[bool] = False
    closed_by_trailer: ClassVar[bool] = False
    untyped_end: ClassVar[bool] = False
    orphans: ClassVar[tuple[str, ...]] = ()
    noise: ClassVar[tuple[str, ...]] = ()
    on_new_lines: ClassVar[tuple[str, ...]] = ()
    taught_by: ClassVar[tuple[str, ...]] = ()
    markers: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        """Name a format after its module."""
        if "name" not in cls.__dict__:
            cls.name = cls.__module__.rpartition(".")[2].replace("_", "-")

    def starts(self, start: BlockStart) -> bool | None:
        """Return whether a block of this dialect begins here.

        None if more text is needed; if `start.final`, that means no. An answer must stay the same
        when more text arrives. After True the block is this dialect's, up to its end, and is
        never scanned for others.
        """
        heads = self.heads.get(start.opener, ())
        return any_of(it.matches(start.head, start.offered, final=start.final) for it in heads)

    def amid_line(self, _start: BlockStart) -> bool | None:
        """Return whether a block that `starts` accepted counts in the middle of a line, too.

        None if more text is needed (never if `_start.final`).
        """
        return True

    def section(self, _start: BlockStart) -> Section | None:
        """Return the section that begins here; called first, once `starts` returned True.

        None, as in nearly all dialects, if it is a block with calls.
        """
        return None

    @abstractmethod
    def ending(self, opener: str) -> Ending:
        """Return what finds the end of a new block."""

    @abstractmethod
    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return the calls of one block, good and bad, in order. Must never raise.

        None if it contains no call after all: a block of a dialect that is not explicit is
        then shown as text. An explicit one must report its content: a `WrittenCall` with an
        `error`.
        """

    def ends_value(self, _marker: str) -> bool:
        """Whether an orphan ends a value that has no quotes or escapes, and not only a call."""
        return False

    def shown(self, block: RawBlock) -> tuple[bool, str]:
        """Return what a block means in which `calls` found none: is it reasoning, text."""
        return False, block.text

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return the text in which a model writes `calls`, all at once.

        Between its blocks there is nothing that a scanner would take for visible text.
        """
        return self.between.join(map(self.write_call, calls))

    def write_call(self, _call: WrittenCall) -> str:
        """Return the text of one call, if a model writes each by itself; else not used."""
        return ""
