"""JSON text -> the text of one member in it, spelled as it came.

A value that was decoded and written again may have lost digits or one of two equal keys. The
text here was read as JSON before, so it is not checked again.
"""

import json
from collections.abc import Iterator

_DECODE = json.JSONDecoder().raw_decode
_SPACE = " \t\r\n"


def member_text(text: str, *path: str | int) -> str:
    """Return the text of the member at `path`, keys and places; "" where there is none."""
    for step in path:
        found = ""
        for key, value in _members(text):
            if key == step:
                found = value  # the last of several, as decoders have it
        text = found
    return text


def item_texts(text: str) -> tuple[str, ...]:
    """Return the texts of the items of a list, or of the members of an object."""
    return tuple(found for _, found in _members(text))


def _members(text: str) -> Iterator[tuple[str | int, str]]:
    """Yield key and text of each member of an object, or place and text of a list's."""
    at = _skip(text, 0)
    is_object, is_list = text.startswith("{", at), text.startswith("[", at)
    at = _skip(text, at + 1)
    place = 0
    while (is_object or is_list) and at < len(text) and text[at] not in "}]":
        key: str | int = place
        if is_object:
            key, end = _DECODE(text, at)
            at = _skip(text, _skip(text, end) + 1)
        _, end = _DECODE(text, at)
        yield key, text[at:end]
        at = _skip(text, end)
        at = _skip(text, at + 1) if text.startswith(",", at) else at
        place += 1


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at
