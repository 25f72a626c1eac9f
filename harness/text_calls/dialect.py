"""Define a text dialect: where its calls begin and end, what they contain, and how to write them.

A block is one part of the text that is markup, from its opening marker on. It may contain several
calls. The scanner finds an opening marker and calls `starts` until the answer is certain. Then it
feeds the text to an `Ending`, which searches for the end of the block, and passes the complete raw
block to `calls` once. If each of the four steps is linear in the text, so is the scanner. The
result never depends on where the text was split.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from harness.text_calls.boundaries import Ending, Head, any_of
from harness.text_calls.policy import Untyped
from harness.turns.turn import Tool

if TYPE_CHECKING:
    from harness.text_calls.streamed import BlockStream


class WrittenCall(msgspec.Struct, frozen=True):
    """One call that a model wrote in a text.

    Fields:
        name: as written; "" if the call names no tool.
        arguments: the JSON text of the arguments object. If the dialect contains JSON, these are
            the model's own characters, otherwise JSON made of its typed values. "" if a call has
            none.
        id: as written; "" if the dialect has no ids, and then the harness generates one.
        error: one sentence on why the call is unusable; "" if it is usable. The harness reports
            such a call with the start of its raw text, and never executes it.
    """

    name: str = ""
    arguments: str = ""
    id: str = ""
    error: str = ""


class Offered(dict[str, Tool]):
    """Maps names to the tools of one request. Text that calls no such tool stays text.

    Args:
        tools: the tools.
        untyped: how values are read that may be strings or something else, as in `TextPolicy`.
    """

    def __init__(self, tools: Iterable[Tool] = (), untyped: Untyped = "as-peers") -> None:
        super().__init__((tool.name, tool) for tool in tools if tool.name)
        self.untyped = untyped

    def begins(self, start: str) -> bool:
        """Return whether the name of any tool begins with `start`."""
        return any(name.startswith(start) for name in self)

    def schema(self, name: str) -> dict[str, Any]:
        """Return the JSON Schema of the arguments of the tool `name`; {} if it is not offered."""
        tool = self.get(self.halved(name))
        return tool.parameters if tool else {}

    def halved(self, name: str) -> str:
        """Return the name of an offered tool that `name` doubles, such as `f.f`; else `name`.

        Muse Glimmer's template calls the tools `f.*`, so the model writes the name twice.
        """
        head, _, tail = name.partition(".")
        return head if head == tail and head in self and name not in self else name


# `starts` must answer after at most this many characters; what is uncertain by then is text.
# With the marker before it, no more than 256 are held back.
HEAD_CHARACTERS = 224


class BlockStart(msgspec.Struct, frozen=True):
    """An opening marker in the text, after which `TextDialect.starts` decides if a block begins.

    Fields:
        opener: the marker that was found.
        head: the text after it that has arrived, at most `HEAD_CHARACTERS`.
        offered: the tools of the request; never empty.
        final: no more text will arrive.
        edge: no words are before the marker on its line, or only markup is between them.
    """

    opener: str
    head: str
    offered: Offered
    final: bool
    edge: bool = False


class RawBlock(msgspec.Struct, frozen=True):
    """The text of a complete block, with what is needed to read its calls.

    Fields:
        opener: the marker that began it.
        raw: all text after the opening marker up to the end of the block. It contains the closing
            marker if the `Ending` includes it.
        offered: the tools, which give the types of parameters and distinguish calls from data.
        closed: whether the end of the block was found; False if the text ended before.
    """

    opener: str
    raw: str
    offered: Offered
    closed: bool

    @property
    def text(self) -> str:
        """The complete text of the block, including its opening marker."""
        return self.opener + self.raw


class Section(msgspec.Struct, frozen=True):
    """A part of the text with markers around it and another kind of content, such as reasoning.

    Fields:
        reasoning: whether it contains reasoning. If not, it is visible text. Then only its opening
            marker is hidden, and it needs no end.
        closers: the markers that end the section. They are hidden.
        header: the number of characters after the opening marker that are hidden with it.
        ended_by: opening markers that also end it, and begin the next block or section.
        opens: the opening markers that have a meaning in it, while all others are text; None for
            all. They and the closing markers have no meaning if a sentence mentions them.
        voids: why calls of the same dialect before it and in it are unusable; "" if they are
            usable.
        line_ends: the maximum number of line ends that the model's template writes on each side
            of the markers.
    """

    reasoning: bool
    closers: tuple[str, ...]
    header: int = 0
    ended_by: tuple[str, ...] = ()
    opens: tuple[str, ...] | None = None
    voids: str = ""
    line_ends: int = 0


def follows_at_once(start: BlockStart) -> bool | None:
    """Return whether text follows the marker without a space, as no sentence about it has it."""
    if start.head:
        return not start.head[0].isspace()
    return False if start.final else None


class TextDialect(ABC):
    """Describes one format of tool calls in text. It has no state, and gets one block at a time.

    Fields:
        name: a stable name with hyphens, which scenarios and policies use. It is the name of the
            module, unless the module has several formats.
        title: a human-readable name.
        openers: the literal markers that may begin a block.
        heads: for each opening marker, the ways in which a block continues after it. A dialect
            that `heads` describes completely does not override `starts`.
        broken: for opening markers, the ways in which a broken block continues. They count only at
            the edge of words, where no sentence mentions a marker.
        meant: for opening markers, the ways in which a block continues that a sentence does not
            merely name: up to the second tag of its call, or to its arguments.
        begins_line: a marker counts only if it is the first on its line, apart from spaces.
        between: the text between the calls that `write_call` writes.
        line_ends: the maximum number of line ends (0 to 2) that its template writes between text
            and a call. The scanner hides that many before a block, and also after it if no other
            text follows.
        explicit: its markers are never part of an ordinary answer. It is False for JSON and other
            formats that an answer may contain. If `calls` finds no call in a block of such a
            format, the block becomes text again.
        whole: a block counts only if the visible text contains nothing but such blocks.
        first: opening markers that count only if no visible text precedes them.
        last: opening markers whose block counts only if just such blocks follow it, and no text.
        trailers: markers after a block that are hidden, like `noise`, with white space before them.
        open_ended: text without an end marker may be the input of its calls. If the reply was
            truncated at its maximum length, the call at its end is unusable.
        closed_by_trailer: a block counts as closed if a trailer follows it. For other dialects, it
            counts as closed if its end was found.
        orphans: closing markers that, without a block, show that the start of a call was lost.
        untyped_end: its closing marker may be part of a value. So if one follows the block, the
            last call of the block is ambiguous.
        noise: special tokens of the model's template that have no meaning. The scanner shows them
            only if a sentence mentions them.
        on_new_lines: the members of `noise` before which the template writes a line end.
        taught_by: phrases of the prompts that describe the dialect. It is read by default only if
            the system text has all of them; () for formats that models use without a prompt.
        markers: texts that must never be in text, names or arguments; a superset of `openers`
            if explicit.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    openers: ClassVar[tuple[str, ...]]
    heads: ClassVar[Mapping[str, tuple[Head, ...]]] = {}
    broken: ClassVar[Mapping[str, tuple[Head, ...]]] = {}
    meant: ClassVar[Mapping[str, tuple[Head, ...]]] = {}
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
        """Give a text dialect without a name the name of its module."""
        if "name" not in cls.__dict__:
            cls.name = cls.__module__.rpartition(".")[2].replace("_", "-")

    def starts(self, start: BlockStart) -> bool | None:
        """Return whether a block of this dialect begins here; None if the decision needs more text.

        None means False if `start.final` is set. The answer must stay the same when more text
        arrives. After True, the block belongs to this dialect up to its end, and the scanner never
        searches it for other blocks.
        """
        heads = self.heads.get(start.opener, ())
        if start.edge:
            heads = (*heads, *self.broken.get(start.opener, ()))
        return any_of(it.matches(start.head, start.offered, final=start.final) for it in heads)

    def amid_line(self, _start: BlockStart) -> bool | None:
        """Return whether a block that `starts` accepted also counts in the middle of a line.

        None if the decision needs more text, which never happens if `_start.final` is set.
        """
        return True

    def in_sentence(self, start: BlockStart) -> bool | None:
        """Return whether a block that `starts` accepted counts after a word and a space.

        A sentence may name an opening tag, so there the markup must continue as `meant` says. None
        if the decision needs more text.
        """
        heads = self.meant.get(start.opener, ())
        if not heads:
            return True
        return any_of(it.matches(start.head, start.offered, final=start.final) for it in heads)

    def rest_of_tag(self, start: BlockStart) -> str:
        """Return what follows the marker in the tag or header that it begins."""
        sizes = (it.size(start.head) for it in self.heads.get(start.opener, ()))
        matched = start.head[: max(sizes, default=0)]
        return matched[: matched.rfind(">") + 1]

    def section(self, _start: BlockStart) -> Section | None:
        """Return the section that begins here, or None if a block of calls begins instead.

        The scanner calls it after `starts` returned True. Few dialects have sections.
        """
        return None

    @abstractmethod
    def ending(self, opener: str) -> Ending:
        """Return a new object that finds the end of one block that began with `opener`."""

    @abstractmethod
    def calls(self, block: RawBlock) -> tuple[WrittenCall, ...] | None:
        """Return the calls of one block in order, usable or not; None if it contains no call.

        It must never raise. With None, the block of a dialect that is not explicit becomes text. An
        explicit dialect must report such content as a `WrittenCall` with an `error`.
        """

    def stream(self, _opener: str, _offered: Offered) -> "BlockStream | None":
        """Return a new object that reads the calls of one block while its text arrives.

        None if what follows the block decides whether its calls count, or how they are read.
        """
        return None

    def ends_value(self, _marker: str) -> bool:
        """Return whether a marker in `orphans` closes an unquoted value, and not only a call."""
        return False

    def shown(self, block: RawBlock) -> tuple[bool, str]:
        """Return (whether it is reasoning, text) for a block in which `calls` found no call."""
        return False, block.text

    def write(self, calls: Sequence[WrittenCall]) -> str:
        """Return the text in which a model writes `calls`, all at once.

        The scanner finds no visible text between its blocks.
        """
        return self.between.join(map(self.write_call, calls))

    def write_call(self, _call: WrittenCall) -> str:
        """Return the text of one call. Dialects that override `write` do not need it."""
        return ""
