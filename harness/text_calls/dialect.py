"""A text dialect: where its calls begin and end, what they contain, and how to write them.

A block is one stretch of markup from its opening marker on. It may contain several calls. The
scanner finds an opening marker and calls `starts` until the answer is certain. Then it feeds the
text to an `Ending`, which searches for the end of the block, and passes the complete raw block to
`calls` once. If each of the four steps is linear in the text, so is the scanner. The result never
depends on where the text was split.
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
        name: as written; "" if the call names no tool.
        arguments: the JSON text of the arguments object. If the dialect contains JSON, these are
            the model's own characters, otherwise JSON made of its typed values. "" if a call has
            none.
        id: as written; "" if the dialect has no ids, and then the harness generates one.
        error: one sentence on why the call cannot be used; "" if it can. Such a call is reported
            with the start of its raw text, and is never executed.
    """

    name: str = ""
    arguments: str = ""
    id: str = ""
    error: str = ""


class Offered(dict[str, Tool]):
    """The tools of one request by name. Text that does not call one of them stays text."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        super().__init__((tool.name, tool) for tool in tools if tool.name)

    def begins(self, start: str) -> bool:
        """Return whether the name of some tool begins with `start`."""
        return any(name.startswith(start) for name in self)

    def schema(self, name: str) -> dict[str, Any]:
        """Return the JSON Schema of the arguments of the tool; {} if it is not known."""
        tool = self.get(name)
        return tool.parameters if tool else {}


# `starts` must answer after at most this many characters; what is uncertain by then is text.
# With the marker before it, no more than 256 are held back.
HEAD_CHARACTERS = 224


class BlockStart(msgspec.Struct, frozen=True):
    """A position at which a block may begin.

    Fields:
        opener: the marker that was found.
        head: the text after it that has arrived, at most `HEAD_CHARACTERS`.
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
        raw: all text after the opener up to the end of the block. It contains the closing marker
            if the ending includes it.
        offered: the tools, which give the types of parameters and distinguish calls from data.
        closed: the ending was found; False if the text ended before.
    """

    opener: str
    raw: str
    offered: Offered
    closed: bool

    @property
    def text(self) -> str:
        """The complete text of the block, opener included."""
        return self.opener + self.raw


class Section(msgspec.Struct, frozen=True):
    """A stretch of text of another kind, such as reasoning, with markers around it.

    Fields:
        reasoning: whether it contains reasoning. If not, it is visible text; then only its opening
            marker is hidden, and it needs no end.
        closers: the markers that end it; none of them is shown.
        header: how many characters after the opener belong to its opening.
        ended_by: openers that end it as well, and begin the next block or section.
        opens: the openers that have a meaning in it, while all others are text; None for all. They
            and its closers have no meaning where a sentence mentions them.
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
    """One format of tool calls in text. It has no state, and receives blocks one by one.

    Fields:
        name: a stable name with hyphens, which scenarios and policies use. It is the name of the
            module, unless the module has several formats.
        title: a human-readable name.
        openers: the literal markers that may begin a block.
        heads: the forms in which a block continues after each opener. A dialect that `heads`
            describes completely does not override `starts`.
        begins_line: a marker counts only if it is the first on its line, apart from spaces.
        between: the text between the calls that `write_call` writes.
        line_ends: how many line ends (0 to 2) its template writes between text and a call, at
            most. The scanner hides that many before a block, and also after it if no words follow.
        explicit: its markers are never part of an ordinary answer. It is False for JSON and other
            formats that an answer may contain. If `calls` finds no call in a block of such a
            format, the block becomes text again.
        whole: a block counts only if the visible text contains nothing but such blocks.
        first: openers that count only if no visible text precedes them.
        last: openers whose block counts only if no text but such blocks follows it.
        trailers: markers after a block that are not shown, like `noise`, and neither is white
            space before them.
        open_ended: text without an end marker may be the input of its calls. If the reply was
            truncated at its maximum length, the call that it ends in cannot be used.
        closed_by_trailer: a block counts as closed if a trailer follows it. For other dialects, it
            counts as closed if its ending was found.
        orphans: closing markers that, without a block, show that the start of a call was lost.
        untyped_end: its closing marker may be part of a value. So if one follows the block, the
            last call of the block is ambiguous.
        noise: special tokens of the model's template that have no meaning. They are shown only if
            a sentence mentions them.
        on_new_lines: the members of `noise` before which the template writes a line end.
        taught_by: phrases of the prompts that describe it. It is read by default only if the system
            text has all of them; () for formats that models use without a prompt.
        markers: texts that must never be in text, names or arguments; a superset of `openers`
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
        """Name a text dialect after its module."""
        if "name" not in cls.__dict__:
            cls.name = cls.__module__.rpartition(".")[2].replace("_", "-")

    def starts(self, start: BlockStart) -> bool | None:
        """Return whether a block of this dialect begins here; None if more text is needed.

        None means no if `start.final` is set. An answer must stay the same when more text arrives.
        After True, the block belongs to this dialect up to its end, and the scanner never searches
        it for other blocks.
        """
        heads = self.heads.get(start.opener, ())
        return any_of(it.matches(start.head, start.offered, final=start.final) for it in heads)

    def amid_line(self, _start: BlockStart) -> bool | None:
        """Return whether a block that `starts` accepted also counts in the middle of a line.

        None if more text is needed, which never happens if `_start.final` is set.
        """
        return True

    def section(self, _start: BlockStart) -> Section | None:
        """Return the section that begins here; called first, once `starts` returned True.

        In nearly all dialects it is None, because a block of calls begins here.
        """
        return None

    @abstractmethod
    def ending(self, opener: str) -> Ending:
        """Return a new object that finds the end of one block."""

    @abstractmethod
    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return the calls of one block in order, usable or not. Must never raise.

        None if the block contains no call. A block of a dialect that is not explicit is then shown
        as text. An explicit dialect must report its content as a `WrittenCall` with an `error`.
        """

    def ends_value(self, _marker: str) -> bool:
        """Whether an orphan ends a value without quotes or escapes, and not only a call."""
        return False

    def shown(self, block: RawBlock) -> tuple[bool, str]:
        """Return (whether it is reasoning, text) for a block in which `calls` found none."""
        return False, block.text

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return the text in which a model writes `calls`, all at once.

        The scanner finds no visible text between its blocks.
        """
        return self.between.join(map(self.write_call, calls))

    def write_call(self, _call: WrittenCall) -> str:
        """Return the text of one call. Dialects that override `write` do not need it."""
        return ""
