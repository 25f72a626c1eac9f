"""The user's choices for a recording: which requests are played or sent, and the labels."""

import os
from enum import Enum
from typing import Any, Final

import msgspec

from harness.errors import UsageError
from harness.wire.interaction import Due


class RecordMode(Enum):
    """The record modes of vcrpy.

    `none` is the default. In CI no other mode is allowed unless the user allows it, because a test
    that records there would connect to a live server unnoticed.

    Attributes:
        NONE: play only; a request without a recorded answer is an error.
        ONCE: record all requests if the cassette does not exist yet, else as `none`.
        NEW_EPISODES: play recorded answers, and record all other requests.
        ANY: the same as `new_episodes`, as in vcrpy.
        ALL: play nothing and record all requests; a new interaction replaces the recorded one that
            it matches.
    """

    NONE = "none"
    ONCE = "once"
    NEW_EPISODES = "new_episodes"
    ANY = "any"
    ALL = "all"


MODES: Final = tuple(mode.value for mode in RecordMode)

_FALSE_VALUES: Final = frozenset({"", "0", "false", "no"})


def record_mode(name: "str | RecordMode", *, allow_in_ci: bool = False) -> RecordMode:
    """Return the record mode called `name`.

    Raises:
        UsageError: the mode is unknown, or the variable CI is set and the mode may record.
    """
    try:
        mode = RecordMode(name)
    except ValueError:
        raise UsageError(
            f"unknown record mode {name!r}", hint=f"Choose one of: {', '.join(MODES)}."
        ) from None
    if mode is not RecordMode.NONE and in_ci() and not allow_in_ci:
        raise UsageError(
            f"CI is set, and the record mode {mode.value!r} may connect to a live server",
            hint="Use the mode none in CI, or allow recording in CI explicitly.",
        )
    return mode


def in_ci() -> bool:
    """Whether the environment variable CI is set."""
    return os.environ.get("CI", "").lower() not in _FALSE_VALUES


class RecordingLabels(msgspec.Struct, frozen=True):
    """The user's labels for a recording.

    If a label is empty, the recorder uses the label of an existing cassette whose interactions it
    keeps, or else detects it.

    Fields:
        source: the server and its version, for `origin.source`; by default the server's address.
        tools: tools that the prompt describes, as `Interaction.tools`.
        due: the expected kind of answer, as `Interaction.due`.
    """

    provider: str = ""
    model: str = ""
    prompt: str = ""
    dialect: str = ""
    source: str = ""
    licence: str = ""
    by: str = "toolcall-harness"
    tools: tuple[dict[str, Any], ...] = ()
    due: Due = ""
