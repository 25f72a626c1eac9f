"""What a text dialect is: how its calls begin, where they end, what they say, how to write them.

A block is one stretch of markup from its opening marker on; it may hold several calls. The
scanner finds opening markers, asks `starts` until it knows, lets an `Ending` look for the
end of the block piece by piece, and hands the whole raw block to `calls`, once. So time is
linear in the text if each of the four is, and no dialect needs to know how text was cut.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar, Literal

import msgspec

from harness.text_calls.boundaries import Ending
from harness.turns.turn import Tool


class WrittenCall(msgspec.Struct, frozen=True):
    """One call that stood in a text.

    Fields:
        name: as spelled.
        arguments: the JSON text of the arguments object: the model's own characters where the
            dialect holds JSON, else JSON made of its typed values. "" for a call without any.
        id: as spelled; "" where the dialect has none, and then one is made up.
        error: why it cannot be used, in one sentence; "" where it can. A call that cannot be
            used is reported with as much of its raw text as a snippet holds, and never run.
    """

    name: str
    arguments: str = ""
    id: str = ""
    error: str = ""


class Offered:
    """The tools of one request; text that is no call of one of them stays text."""

    __slots__ = ("_longest", "_tools")

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools = {tool.name: tool for tool in tools if tool.name}
        self._longest = max(map(len, self._tools), default=0)

    def __bool__(self) -> bool:
        """Whether any tool is offered."""
        return bool(self._tools)

    def __contains__(self, name: object) -> bool:
        """Whether a tool of exactly this name is offered."""
        return name in self._tools

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(self._tools)

    @property
    def longest(self) -> int:
        """How many characters the longest name has."""
        return self._longest

    def begins(self, start: str) -> bool:
        """Whether some name begins with `start`."""
        return any(name.startswith(start) for name in self._tools)

    def schema(self, name: str) -> dict[str, Any]:
        """Return the JSON Schema of the arguments of the tool; {} where it is not known."""
        tool = self._tools.get(name)
        return tool.parameters if tool else {}


# Where an opening marker may stand: anywhere, first on its line (but for spaces), or before any
# other visible text.
Where = Literal["anywhere", "line", "start"]

# `starts` must know after at most this many characters; what it does not know by then is text.
# With the marker before it, no more than 256 are held back.
HEAD_CHARACTERS = 224


class Section(msgspec.Struct, frozen=True):
    """A stretch of plain text of another kind, such as reasoning, with markers around it.

    Fields:
        reasoning: whether what stands in it is reasoning; else it is visible text, with which
            only the opening is hidden, and which nothing need end.
        closers: the markers that end it; none of them is shown.
        header: how many characters of the head, after the opener, belong to its opening.
        ended_by: openers that end it as well, and begin what they begin.
        voids: why calls of the same dialect before it and in it cannot be used; "" if they can.
    """

    reasoning: bool
    closers: tuple[str, ...]
    header: int = 0
    ended_by: tuple[str, ...] = ()
    voids: str = ""


class TextDialect(ABC):
    """One way to spell tool calls in text. Has no state; blocks are asked about one by one.

    Fields:
        name: stable, with hyphens; scenarios and policies use it.
        title: for people.
        openers: the literal markers that may begin a block.
        where: where those markers count.
        explicit: its markers are never part of an ordinary answer; False for JSON and other
            notations that an answer may well hold, whose block goes back to being text
            wherever `calls` finds no call.
        whole: the block counts only where nothing else but such blocks is in the visible text.
        last: openers whose block counts only where nothing else but such blocks follows it.
        trailers: markers swallowed after a block, with white space before them.
        open_ended: text without an end of its own may be the input of its calls, so that one which
            the end of the reply ends cannot be used where the reply was cut at its length.
        closed_by_trailer: a block is closed by a trailer that follows it; else by its ending.
        orphans: closing markers that, alone in the text, tell of a call whose start was lost.
        untyped_end: its closing marker may be part of a value, so that one which comes after
            the block makes the last call of the block ambiguous.
        noise: special tokens of the model's template that say nothing; shown only by a sentence
            that speaks of them.
        taught_by: words of the prompts that teach it. It is read by default only where the system
            text has all of them; () for those that models know by themselves.
        markers: what must never show in text, names or arguments; a superset of `openers`
            where explicit.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    openers: ClassVar[tuple[str, ...]]
    where: ClassVar[Where] = "anywhere"
    explicit: ClassVar[bool] = True
    whole: ClassVar[bool] = False
    last: ClassVar[tuple[str, ...]] = ()
    trailers: ClassVar[tuple[str, ...]] = ()
    open_ended: ClassVar[bool] = False
    closed_by_trailer: ClassVar[bool] = False
    untyped_end: ClassVar[bool] = False
    orphans: ClassVar[tuple[str, ...]] = ()
    noise: ClassVar[tuple[str, ...]] = ()
    taught_by: ClassVar[tuple[str, ...]] = ()
    markers: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def starts(self, opener: str, head: str, offered: Offered, *, final: bool) -> bool | None:
        """Return whether a block of this dialect begins here.

        Args:
            opener: the marker that was found.
            head: what follows it, as much as has come, at most `HEAD_CHARACTERS`.
            offered: the tools of the request; never empty.
            final: no more text will come.

        Returns:
            None where more text is needed to know (never where `final`). An answer must stay
            the same when more text comes. After True the block is this dialect's, up to
            its end, and is never scanned for others.
        """

    def amid_line(self, head: str, *, final: bool) -> bool | None:
        """Return whether a block that `starts` accepted counts in the middle of a line, too.

        None where more text is needed to know (never where `final`).
        """
        del head, final
        return True

    def section(self, opener: str, head: str) -> Section | None:
        """Return the section that begins here; asked first, once `starts` said True.

        None, as for nearly all dialects, where it is a block with calls.
        """
        del opener, head
        return None

    @abstractmethod
    def ending(self, opener: str) -> Ending:
        """Return what finds the end of a new block."""

    @abstractmethod
    def calls(
        self, opener: str, raw: str, offered: Offered, *, closed: bool
    ) -> tuple[WrittenCall, ...] | None:
        """Return the calls of one block, good and bad, in order. Must never raise.

        Args:
            opener: the marker that began the block.
            raw: all that follows it up to the end of the block, closing marker included
                where the ending includes it.
            offered: for types of parameters and for telling calls from data.
            closed: the ending was found; False where the text was over before.

        Returns:
            None where there is no call in it after all: a block of a dialect that is not
            explicit is then shown as text. An explicit one must report what it holds: a
            `SpelledCall` with an `error`.
        """

    def shown(self, opener: str, raw: str) -> tuple[bool, str]:
        """Return what is said of a block in which `calls` found none: is it reasoning, text."""
        return False, opener + raw

    @abstractmethod
    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return the text in which a model spells `calls`, all in one go.

        Between its blocks stands nothing that a scanner would take for visible text.
        """
