"""Recognize an API by a request, or by the first events of a response.

Each dialect lists what only its API writes (`Detection`). `Detector` compares a request or an event
with the lists of all dialects. The result does not depend on the order of the dialects.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from enum import IntEnum
from typing import Any, Final, Literal, TypeAlias

import msgspec

from harness.providers import UNKNOWN

Json: TypeAlias = dict[str, Any]


class Strength(IntEnum):
    """Ranks the signs of an event. If an event has several, the first of these counts."""

    FRAME_NAME = 1
    TYPE = 2
    EVENT_TYPE = 3
    # Completions: the shape of `choices` before `object`, which many servers get wrong.
    CHOICES_OF_ONE_PROVIDER = 4
    CHOICES = 5
    OBJECT = 6
    MESSAGE = 7
    MEMBERS = 8
    # Errors look alike in many APIs, so these signs only count if no event has a better one.
    FORM_OF_ERROR = 9
    ERROR = 10
    STRAY = 11


_WEAKEST_CERTAIN: Final = Strength.MEMBERS


class Sign(msgspec.Struct, frozen=True):
    """Describes one feature by which events of an API are recognized.

    Fields:
        strength: how certain the sign is.
        label_of: a function of an event and its name in the framing. It returns the feature as
            text, or "" if the event does not have it.
    """

    strength: Strength
    label_of: Callable[[Json, str], str]


class Detection(msgspec.Struct, frozen=True, kw_only=True):
    """Lists the features by which one API is recognized.

    Fields:
        paths: regular expressions for the end of an address before its query.
        headers: names of request headers, in lower case.
        request_keys: members of a request's body that only this API has.
        shared_request_keys: members that requests of other APIs may have too; they count if the
            body has none of `request_keys`.
        content_types: content types of its responses.
        signs: the signs of its events.
        looks_like: the dialect whose events look the same; the provider then decides.
        providers: the providers of an API whose events look like those of another dialect.
        events_in_lists: how its servers frame events, for a recorder that saved them as a list.
        events_one_a_line: a member of events that servers send as lines, whatever the framing is.
        sends_arrays: whether a list of events may be a body of the API.
    """

    paths: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    request_keys: tuple[str, ...] = ()
    shared_request_keys: tuple[str, ...] = ()
    content_types: tuple[str, ...] = ()
    signs: tuple[Sign, ...] = ()
    looks_like: str = ""
    providers: tuple[str, ...] = ()
    events_in_lists: Literal["event", "named-event", "line", "message"] = "event"
    events_one_a_line: str = ""
    sends_arrays: bool = False


class Mark(msgspec.Struct, frozen=True):
    """Says which dialect one event shows.

    Fields:
        dialect: "unknown" if the event shows none.
        strong: False if other dialects write such an event too.
        label: the feature of the event that shows the dialect.
    """

    dialect: str = UNKNOWN
    strong: bool = False
    label: str = ""


_NO_MARK: Final = Mark()


# Signs of events


def frame_names(*names: str) -> Sign:
    """Return a sign for events that have one of these names in the framing."""
    return Sign(Strength.FRAME_NAME, lambda _, name: name if name in names else "")


def types(*starts: str) -> Sign:
    """Return a sign for events whose `type` begins with one of these texts.

    If a text ends in `$`, the rest of it must equal the type. For an event without the member, its
    name in the framing counts.
    """
    return _value_sign(Strength.TYPE, "type", starts)


def event_types(*starts: str) -> Sign:
    """Return a sign for events whose `event_type` begins with one of these texts; see `types`."""
    return _value_sign(Strength.EVENT_TYPE, "event_type", starts)


def objects(*starts: str) -> Sign:
    """Return a sign for events whose `object` begins with one of these texts; see `types`."""
    return _value_sign(Strength.OBJECT, "object", starts)


def members(*groups: str) -> Sign:
    """Return a sign for events with all members of one of these groups, such as `done message`."""
    sets = tuple(frozenset(group.split()) for group in groups)

    def label_of(event: Json, _: str) -> str:
        found = next((names for names in sets if names <= event.keys()), frozenset())
        return " ".join(sorted(found))

    return Sign(Strength.MEMBERS, label_of)


def shape(strength: Strength, label: str, has: Callable[[Json], bool]) -> Sign:
    """Return a sign for events for which the function `has` returns True."""
    return Sign(strength, lambda event, _: label if has(event) else "")


def first_choice(event: Json) -> Json | None:
    """Return the first object among the `choices` of an event; None if there is none."""
    choices = event.get("choices")
    objects_in = choices if isinstance(choices, list) else ()
    return next((choice for choice in objects_in if isinstance(choice, dict)), None)


def is_chat_choice(event: Json) -> bool:
    """Return whether an event has a choice with a delta or a message."""
    choice = first_choice(event)
    return choice is not None and ("delta" in choice or "message" in choice)


def error_in(event: Json) -> Json:
    """Return the object `error` of an event; {} if it has none."""
    error = event.get("error")
    return error if isinstance(error, dict) else {}


def _value_sign(strength: Strength, member: str, starts: tuple[str, ...]) -> Sign:
    def label_of(event: Json, name: str) -> str:
        value = event.get(member, name if member.endswith("type") else None)
        is_one = isinstance(value, str) and f"{value}$".startswith(starts)
        return f"{member} {value}" if is_one else ""

    return Sign(strength, label_of)


# All dialects together


class Detector:
    """Recognizes the dialect of requests and events.

    Fields:
        by_dialect: the features of each dialect.
    """

    def __init__(self, by_dialect: Mapping[str, Detection]) -> None:
        # Two dialects that recognize the same thing: the name decides, not the order of rows.
        rows = sorted(by_dialect.items())
        self.by_dialect = dict(rows)
        self._paths = [(re.compile(path), name) for name, row in rows for path in row.paths]
        self._headers = {header: name for name, row in rows for header in row.headers}
        self._keys = {key: name for name, row in rows for key in row.request_keys}
        self._keys |= {key: name for name, row in rows for key in row.shared_request_keys}
        self._content_types = {kind: name for name, row in rows for kind in row.content_types}
        signs = [(sign, name) for name, row in rows for sign in row.signs]
        self._signs = sorted(signs, key=lambda each: (each[0].strength, each[1]))
        self._of_provider = {
            (provider, row.looks_like): name for name, row in rows for provider in row.providers
        }

    def dialect_of_path(self, path: str) -> str:
        """Return the dialect of an address without its query; "" for an unknown one."""
        return next((name for pattern, name in self._paths if pattern.search(path)), "")

    def dialect_of_header(self, header: str) -> str:
        """Return the dialect of a request header, in lower case; "" for an unknown one."""
        return self._headers.get(header, "")

    def dialect_of_content_type(self, content_type: str) -> str:
        """Return the dialect of a response's content type; "" for an unknown one."""
        return self._content_types.get(content_type, "")

    def key_of_request(self, body: Json) -> tuple[str, str]:
        """Return the member of a request's body that shows its dialect, and the dialect.

        Both are "" if no member shows it.
        """
        return next(((key, name) for key, name in self._keys.items() if key in body), ("", ""))

    def dialect_of_provider(self, provider: str, dialect: str) -> str:
        """Return the dialect of `provider` if its events look like those of `dialect`.

        Otherwise, return `dialect`.
        """
        return self._of_provider.get((provider, dialect), dialect)

    def looks_like(self, dialect: str) -> str:
        """Return the dialect whose events look like those of `dialect`; "" if there is none."""
        row = self.by_dialect.get(dialect)
        return row.looks_like if row else ""

    def mark_of(self, event: object, name: str = "") -> Mark:
        """Return which dialect `event` shows; `name` is its name in the framing."""
        if not isinstance(event, dict):
            return _NO_MARK
        for sign, dialect in self._signs:
            if label := sign.label_of(event, name):
                return Mark(dialect, sign.strength <= _WEAKEST_CERTAIN, label)
        return _NO_MARK

    def first_mark(self, events: Iterable[tuple[object, str]]) -> Mark:
        """Return the first strong mark among `events`, or else the first weak one.

        Each event comes with its name in the framing.
        """
        weak = _NO_MARK
        for event, name in events:
            mark = self.mark_of(event, name)
            if mark.strong:
                return mark
            weak = weak if weak.label else mark
        return weak
