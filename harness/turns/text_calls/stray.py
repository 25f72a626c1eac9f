"""A closing marker or end token outside a block -> is it left over, or does the text speak of it?

What a model leaves over stands at the edge of its words: right after a word, with nothing but
markup up to the end of the line; or first on a line; or beside other markup. In a sentence
about it, it has a space before it, or words go on after it, and it is text.
"""

import re
from typing import Final

from harness.turns.text_calls.context import Context
from harness.turns.text_calls.markup import Markup

_MOST_SPACES: Final = 16
# What an end token may follow without a space, as no word about it does. In scripts without
# spaces only the end of a sentence tells.
_ENDS_WORDS: Final = re.compile(r"[A-Za-z0-9.!?>)}\]\u2026\u3002\uff01\uff1f]")
_SPACES: Final = re.compile(rf"[ \t]{{0,{_MOST_SPACES}}}")


def is_stray(  # noqa: PLR0913 - the marker, where it stands, and what counts
    marker: str,
    here: Context,
    markup: Markup,
    text: str,
    at: int,
    *,
    closers: bool,
    final: bool,
) -> bool | None:
    """Return whether the marker before `text[at:]` is left over; None where more must tell.

    Args:
        marker: an end token, a closing marker, or any other, which is none.
        here: where in the text it stands.
        markup: what may stand beside it.
        text: holds what follows it, as much as has come.
        at: where that begins.
        closers: closing markers may be left over, and not only end tokens.
        final: no more text will come.
    """
    noise = marker in markup.noise
    if not noise and not (closers and marker in markup.orphans):
        return False
    if here.beside or (noise and _ENDS_WORDS.match(here.last)):
        return True
    if not noise and not here.line_blank and here.last.isspace():
        return False
    ends = _line_ends(markup, text, at, final=final)
    if ends is None:
        return None
    # Words about a token do not begin right after it.
    attached = noise and text[at : at + 1].isascii() and text[at : at + 1].isalnum()
    stray = ends or attached or _begins_line(here, text, at)
    return stray and (noise or not here.tags.balances(marker))


def _begins_line(here: Context, text: str, at: int) -> bool:
    """Whether the marker begins the line, and what follows is attached to it."""
    return here.line_blank and not text[at : at + 1].isspace()


def _line_ends(markup: Markup, text: str, at: int, *, final: bool) -> bool | None:
    """Whether nothing but markup follows on the line; None where more text must tell."""
    gap = _SPACES.match(text, at).end()  # type: ignore[union-attr]  # it matches ""
    if gap - at == _MOST_SPACES:
        return False
    if gap == len(text):
        return True if final else None
    if not final and markup.may_begin(text, gap):
        return None
    return text[gap] in "\r\n" or markup.marks(text, gap)
