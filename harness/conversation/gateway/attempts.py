"""Text in which no call could be read -> what was meant as one there; None where nothing was.

Weak models forget quotes, write Python's, begin with the arguments or stop in the middle of a
name. Such text is no answer: the user must see that nothing ran, and the model is asked again.
Plain data is left alone: it names no tool that was offered, or holds nothing like arguments.
"""

import re
from collections.abc import Set as AbstractSet
from typing import Final

from harness.turns.calls import SNIPPET_CHARACTERS, ParseError
from harness.turns.text_calls.json_calls import ARGUMENTS_KEYS, NAME_KEYS

_COLON: Final = r"""["']\s{0,20}:\s{0,20}"""
# A name right behind a brace, or anywhere; the text may end inside it.
_NAME: Final = re.compile(
    rf"""(\{{\s{{0,200}})?["'](?:{"|".join(NAME_KEYS)}){_COLON}["']([^"'\\]{{1,200}})(["']|\Z)"""
)
_ARGUMENTS: Final = re.compile(rf"""["'](?:{"|".join(ARGUMENTS_KEYS)}){_COLON}""")
# These keys stand first in nothing but calls; others, such as `input`, may be data.
_BEGUN: Final = re.compile(rf"""\{{\s{{0,200}}["'](?:arguments|tool_args){_COLON}[{{"']""")
_UNREADABLE: Final = (
    "expected one strict JSON object with the name of a tool and its arguments, found text that "
    "only looks like one"
)


def attempt_in(text: str, known: AbstractSet[str]) -> ParseError | None:
    """Return a report of the first call that `text` attempts.

    Args:
        text: what the model said, without calls that could be read.
        known: names of the tools that were offered.
    """
    return _of_known(text, known) or _of_unknown(text, known) or _nameless(text)


def _of_known(text: str, known: AbstractSet[str]) -> ParseError | None:
    arguments = _ARGUMENTS.search(text)
    for found in _NAME.finditer(text):
        behind_brace, name, closed = found.groups()
        if name in known and (behind_brace or arguments):
            start = found.start() if arguments is None else min(arguments.start(), found.start())
            return _report(text, start, _UNREADABLE, name)
        if behind_brace and not closed and any(each.startswith(name) for each in known):
            return _report(text, found.start(), _UNREADABLE)
    return None


def _of_unknown(text: str, known: AbstractSet[str]) -> ParseError | None:
    for found in _NAME.finditer(text):
        name = found[2]
        if found[1] and name not in known:
            says_more = _ARGUMENTS.search(text, found.end())
            return (
                _report(text, found.start(), f"there is no tool {name!r}", name)
                if says_more
                else None
            )
    return None


def _nameless(text: str) -> ParseError | None:
    found = _BEGUN.search(text)
    return _report(text, found.start(), _UNREADABLE) if found else None


def _report(text: str, start: int, error: str, name: str = "") -> ParseError:
    snippet = text[start : start + SNIPPET_CHARACTERS]
    return ParseError("json_fallback", error, snippet, "", name)
