"""Growing text -> whether it is one whole JSON value, in time linear in the text.

Asked again and again while a text grows, a scan of all of it each time would be quadratic:
here brackets are counted from where the last answer stopped, and only a text in which all of
them are closed is scanned, once. It never says yes to what is no JSON value.
"""

import re

from harness.turns.json_prefix import PrefixState, prefix_state

_OUTSIDE = re.compile(r'[\[\]{}"]')
_IN_STRING = re.compile(r'\\.|"', re.DOTALL)
_STARTS = ("{", "[", '"')
# A number or a word that is longer than this is no value that a caller could mean.
_SCALAR_CHARACTERS = 64


class Completeness:
    """What is known of one text that only grows."""

    __slots__ = ("_depth", "_in_string", "_rest", "_seen_pieces", "_spoiled", "_value")

    def __init__(self) -> None:
        self._seen_pieces = 0
