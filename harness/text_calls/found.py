"""Calls that were found in a text: of offered tools or not, whole or not."""

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from harness.text_calls.dialect import Offered, TextDialect, WrittenCall
from harness.text_calls.native import clean_name
from harness.text_calls.policy import TextPolicy

_LEFTOVER = "the text contains a closing marker of a call, and no call that it could close"
_AMBIGUOUS = "a closing marker follows the call too: the end of its last value is not known"
_NEVER_CLOSED = "the call was never closed"


class Found(msgspec.Struct):
    """A call that was found in the text.

    Fields:
        raw: the block that held it, opener included.
        closed: its closing marker came.
        tails: what was swallowed after the block, for the last call of it.
    """

    call: WrittenCall
    dialect: TextDialect
    raw: str
    closed: bool
    tails: list[str] = msgspec.field(default_factory=list)

    @property
    def tail(self) -> str:
        """What was swallowed after the block."""
        return "".join(self.tails)

    @property
    def is_leftover(self) -> bool:
        """Whether no call was written: only a closing marker was left over."""
        return self.call.error == _LEFTOVER


def rejection_reason(found: Found, policy: TextPolicy) -> str:
    """Return why the form of a call keeps it from being used; "" if it does not."""
    counts = found.closed or policy.unclosed == "whole"
    return found.call.error or ("" if counts else _NEVER_CLOSED)


def check_call(call: WrittenCall, offered: Offered) -> WrittenCall:
    """Return the call with the name of an offered tool, or with an error."""
    name = clean_name(call.name, offered)
    unknown = f"no tool {name!r} was offered" if name else "the call has no name"
    error = call.error or ("" if name in offered else unknown)
    return WrittenCall(name, call.arguments, call.id, error)


def all_undeclared(calls: tuple[WrittenCall, ...], offered: Offered, policy: TextPolicy) -> bool:
    """Whether none of the calls is of an offered tool, and such calls are text."""
    if policy.undeclared == "reject":
        return False
    named = [call for call in calls if call.name]
    return bool(named) and all(clean_name(call.name, offered) not in offered for call in named)


def note_leftover(found: list[Found], dialect: TextDialect, marker: str) -> None:
    """Note a closing marker without a call, or one that may close a call found earlier.

    The last value of that call may contain all that follows it, so the calls after it cannot be
    used either. The end of a value may close the first call, that of a call only the last one.
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
    """Note what was swallowed after the block of these calls, and closes them."""
    if not found:
        return
    if not found[-1].closed:  # else all of them are: a block may have many, and many ends
        for each in found:
            each.closed = True
    found[-1].tails.append(raw)


def void_calls(found: list[Found], dialect: TextDialect, why: str) -> None:
    """Let no call of this dialect be used."""
    for each in found:
        if each.dialect is dialect and not each.call.error:
            call = each.call
            each.call = WrittenCall(call.name, call.arguments, call.id, why)


class Pending(msgspec.Struct):
    """Those of a whole reply, of reasoning that is still open, or of reasoning just closed.

    Fields:
        raw: their text and what stood between, which comes back where they do not count.
        dialect: that of the last block, which may have had no call.
        thought: reasoning whose start was never emitted ended after them, and nothing else came.
    """

    found: list[Found] = msgspec.field(default_factory=list)
    raw: list[str] = msgspec.field(default_factory=list)
    dialect: TextDialect | None = None
    thought: bool = False


def raw_text(found: Sequence[Found]) -> str:
    """Return the text of the blocks that held some calls, several of which one may hold."""
    return "".join(
        each.tail if before and each.raw is before.raw else each.raw + each.tail
        for before, each in pairwise([None, *found])
        if each
    )
