"""Represent calls that were found in a text, whether usable or not."""

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from harness.text_calls.dialect import Offered, TextDialect, WrittenCall
from harness.text_calls.native import clean_name
from harness.text_calls.policy import TextPolicy
from harness.text_calls.streamed import StreamedCall

_LEFTOVER = "the text contains a closing marker of a call, and no call that it could close"
_AMBIGUOUS = "a closing marker follows the call too: the end of its last value is not known"
_NEVER_CLOSED = "the call was never closed"


class Found(msgspec.Struct):
    """A call that was found in the text.

    Fields:
        raw: the block that contained it, including its opening marker.
        closed: whether its closing marker arrived.
        tails: closing markers after the block. Only the last call of the block stores them.
        streamed: the call as it was started before the end of the turn; None if it was not.
    """

    call: WrittenCall
    dialect: TextDialect
    raw: str
    closed: bool
    tails: list[str] = msgspec.field(default_factory=list)
    streamed: StreamedCall | None = None

    @property
    def tail(self) -> str:
        """The closing markers that followed the block."""
        return "".join(self.tails)

    @property
    def is_leftover(self) -> bool:
        """Whether this is a closing marker without a call."""
        return self.call.error == _LEFTOVER


def rejection_reason(found: Found, policy: TextPolicy) -> str:
    """Return why a call cannot be used because of its form; "" if it can."""
    counts = found.closed or policy.unclosed == "whole"
    return found.call.error or ("" if counts else _NEVER_CLOSED)


def check_call(call: WrittenCall, offered: Offered) -> WrittenCall:
    """Return the call with the name of an offered tool, or with an `error` if there is none."""
    name = clean_name(call.name, offered)
    unknown = f"no tool {name!r} was offered" if name else "the call has no name"
    error = call.error or ("" if name in offered else unknown)
    return WrittenCall(name, call.arguments, call.id, error)


def all_undeclared(calls: tuple[WrittenCall, ...], offered: Offered, policy: TextPolicy) -> bool:
    """Return whether no call names an offered tool, and `policy` treats such calls as text."""
    if policy.undeclared == "reject":
        return False
    named = [call for call in calls if call.name]
    return bool(named) and all(clean_name(call.name, offered) not in offered for call in named)


def note_leftover(found: list[Found], dialect: TextDialect, marker: str) -> None:
    """Note a closing marker outside of a block, which may belong to a call found earlier.

    The last value of that call may contain all text up to the marker, so the calls in between
    are unusable too. A marker that ends a value may belong to the first call. A marker that ends
    a call may belong only to the last one.
    """
    dialects = [it.dialect for it in found]
    own = [at for at, it in enumerate(dialects) if it.untyped_end and marker in it.orphans]
    if own:
        first = own[0 if dialect.ends_value(marker) else -1]
        for each in found[first:]:
            call = each.call
            each.call = WrittenCall(call.name, call.arguments, call.id, call.error or _AMBIGUOUS)
    elif not found or found[-1].call.error != _LEFTOVER:
        found.append(Found(WrittenCall("", error=_LEFTOVER), dialect, marker, closed=True))


def close_calls(found: Sequence[Found], raw: str) -> None:
    """Mark the calls of a block as closed, and store `raw`, the closing markers that follow it."""
    if not found:
        return
    if not found[-1].closed:  # else all of them are: a block may have many, and many ends
        for each in found:
            each.closed = True
    found[-1].tails.append(raw)


def void_calls(found: list[Found], dialect: TextDialect, why: str) -> None:
    """Mark all calls of this dialect as unusable, with the reason `why`."""
    for each in found:
        if each.dialect is dialect and not each.call.error:
            call = each.call
            each.call = WrittenCall(call.name, call.arguments, call.id, why)


class Pending(msgspec.Struct):
    """Calls that count only under a condition that is still unknown, such as that no text follows.

    They are the calls of a reply that must contain nothing but calls, of open reasoning, or of
    reasoning that has just ended.

    Fields:
        found: the calls.
        raw: their text and the text between them. The scanner emits it if they do not count.
        dialect: the text dialect of the last block, even if that block had no call.
        thought: reasoning without a start marker ended after them, and nothing else arrived.
    """

    found: list[Found] = msgspec.field(default_factory=list)
    raw: list[str] = msgspec.field(default_factory=list)
    dialect: TextDialect | None = None
    thought: bool = False


def raw_text(found: Sequence[Found]) -> str:
    """Return the text of the blocks that contained these calls, each block once."""
    return "".join(
        each.tail if before and each.raw is before.raw else each.raw + each.tail
        for before, each in pairwise([None, *found])
        if each
    )
