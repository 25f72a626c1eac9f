"""The address of a request -> its path, and the names in it, as they were before escaping.

Written here, since the standard library's module for this also opens connections.
Source: RFC 3986, section 2.1 "Percent-Encoding"
"""

import re

_ESCAPES = re.compile("(?:%[0-9A-Fa-f]{2})+")


def path_of(uri: str) -> str:
    """Return `uri` without its query."""
    return uri.partition("?")[0]


def unescaped(text: str) -> str:
    """Return `text` with its escapes as what they stand for."""
    return _ESCAPES.sub(_character, text)


def _character(escapes: re.Match[str]) -> str:
    return bytes.fromhex(escapes[0].replace("%", "")).decode("utf-8", "replace")
