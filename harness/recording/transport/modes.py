"""The record modes of vcrpy: what may be asked of a real server, and what is played instead.

`none` is the default. In CI nothing else is allowed unless somebody says so: a test that
records there would ask a live server in silence.
"""

import os
from enum import Enum
from typing import Final

from harness.errors import UsageError


class RecordMode(Enum):
    """What a recorder does with a request; the values are vcrpy's.

    Attributes:
        NONE: play only; a request that nothing recorded answers is an error.
        ONCE: record all where there is no cassette yet, else as `none`.
        NEW_EPISODES: play what is recorded, and record the rest.
        ANY: as `new_episodes`, as it is in vcrpy.
        ALL: play nothing and record all; what was recorded before is replaced where it
            matches, else kept.
    """

    NONE = "none"
    ONCE = "once"
    NEW_EPISODES = "new_episodes"
    ANY = "any"
    ALL = "all"


MODES: Final = tuple(mode.value for mode in RecordMode)

_SAYS_NO: Final = frozenset({"", "0", "false", "no"})


def record_mode(name: "str | RecordMode", *, allow_in_ci: bool = False) -> RecordMode:
    """Return the mode called `name`.

    Raises:
        UsageError: there is none of that name, or CI is set and the mode may record.
    """
    try:
        mode = RecordMode(name)
    except ValueError:
        raise UsageError(
            f"there is no record mode {name!r}", hint=f"Known: {', '.join(MODES)}."
        ) from None
    if mode is not RecordMode.NONE and in_ci() and not allow_in_ci:
        raise UsageError(
            f"CI is set, and the record mode {mode.value!r} may ask a live server",
            hint="Use the mode none there, or allow recording in CI explicitly.",
        )
    return mode


def in_ci() -> bool:
    """Whether the environment says that this is a CI job."""
    return os.environ.get("CI", "").lower() not in _SAYS_NO
