"""Choices where two rules of the catalogue pull against each other.

A reader cannot obey both; it declares which one it follows and is judged by that.
"""

from typing import Literal

import msgspec


class ReaderPolicy(msgspec.Struct, frozen=True):
    """How `read` decides; the defaults are those of the `reference` normalizer.

    Fields:
        names: a second piece of a name (`DELTA-NAME-FRAGMENTED` against
            `DELTA-NAME-REPEATED`): `by-tools` picks the reading that the request declares,
            `append` always appends, `first` keeps the first.
        arguments: a fragment that repeats or extends all the text before it
            (`ARGS-CUMULATIVE`, `ARGS-REPEATED-AT-END` against plain appending): `auto`
            replaces only where appending cannot be JSON, `append` always appends.
        nameless: a call whose name never came (`NAME-EMPTY`): reported or dropped.
        unfinished_event: an event without its blank line at the end of the stream
            (`SSE-NO-FINAL-BLANK` against the WHATWG algorithm): used if it is whole JSON, or
            dropped.
        done_without_finish: `[DONE]` but no finish reason: the turn counts as finished, or as
            interrupted.
    """

    names: Literal["by-tools", "append", "first"] = "by-tools"
    arguments: Literal["auto", "append"] = "auto"
    nameless: Literal["reject", "drop"] = "reject"
    unfinished_event: Literal["use", "drop"] = "use"
    done_without_finish: Literal["finished", "interrupted"] = "finished"
