"""Remove credentials from headers and addresses. No other module lists secret names.

A name is secret if it contains certain words, in any case and with any separator, because each
gateway has its own names. `fields` searches bodies. Scrubbing twice changes nothing more.
"""

import re
from importlib import resources
from typing import Final
from urllib.parse import unquote

import msgspec

from harness.wire.interaction import Headers, Interaction

REDACTED: Final = "REDACTED"


class _Headers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `headers.toml`, which describes the fields."""

    accounts: frozenset[str]
    harmless: frozenset[str]
    addresses: frozenset[str]
    secret_words: frozenset[str]
    secret_endings: tuple[str, ...]
    secret_parameters: frozenset[str]
    members: frozenset[str]
    member_endings: tuple[str, ...]
    parents_of_keys: frozenset[str]
    parents_of_headers: tuple[str, ...]
    conversation: frozenset[str]
    of_requests: frozenset[str]
    of_responses: frozenset[str]
    dummies: frozenset[str]
    schemes: frozenset[str]


_TEXT: Final = resources.files(__package__).joinpath("headers.toml").read_text(encoding="utf-8")
HEADERS: Final = msgspec.toml.decode(_TEXT, type=_Headers)

# HTTP/2 writes the request line as such headers; the address itself is stored elsewhere.
_PSEUDO: Final = ":"
_LOOKS_LIKE_ADDRESS: Final = re.compile(r"\?|//")
# One word of a header's value; it may contain several links, separated by commas.
_PART: Final = re.compile(r"(?:[^\s,]|,(?!<))+")

_WORD: Final = re.compile(r"[a-z0-9]+")
_USER: Final = re.compile(
    r"""\A(?: [^/?\#]* @ (?= (?:[^/?\#@]*:)? // ) )*  # before what looks like an address
    ( (?:[^/?\#@]*:)? // )? [^/?\#]* @""",
    re.VERBOSE,
)
_QUERY: Final = re.compile(r"[?#]")
_PARAMETER: Final = re.compile(r"([?&;#])([^=&;#?/]*)=([^&;#]+)")


def is_secret_name(name: str, *, parameter: bool = False) -> bool:
    """Whether the value of a header or parameter called `name` must be removed.

    Args:
        name: the name of the header or parameter.
        parameter: whether the name is a parameter of an address or a form, for which more names are
            secret.
    """
    lowered = name.lower().replace("_", "-")
    if lowered in HEADERS.harmless:
        return False
    words = name_words(lowered)
    if parameter and not HEADERS.secret_parameters.isdisjoint(words):
        return True
    return lowered in HEADERS.accounts or any(
        word in HEADERS.secret_words or word.endswith(HEADERS.secret_endings) for word in words
    )


def name_words(name: str) -> list[str]:
    """Return the words of a name in lower case, without the separators."""
    return _WORD.findall(name.lower())


def scrub_address(uri: str) -> str:
    """Return `uri` without user and password, and with secret parameters REDACTED."""
    known = _USER.sub(r"\1", uri)
    query = _QUERY.search(known)
    start = query.start() if query else len(known)
    return known[:start] + _PARAMETER.sub(_scrub_parameter, known[start:])


def scrub_headers(given: Headers) -> Headers:
    """Return `given` without secret headers, and with the addresses in others scrubbed."""
    return tuple(
        (name, _scrub_value(name, value)) for name, value in given if not _is_removed(name)
    )


def _is_removed(name: str) -> bool:
    return name.startswith(_PSEUDO) or is_secret_name(name)


def _scrub_value(name: str, value: str) -> str:
    """Return the value of a kept header with all its addresses scrubbed."""
    if name.lower() in HEADERS.addresses:
        return scrub_address(value)
    return _PART.sub(_scrub_part, value) if _LOOKS_LIKE_ADDRESS.search(value) else value


def _scrub_part(match: re.Match[str]) -> str:
    part = match.group()
    return scrub_address(part) if _LOOKS_LIKE_ADDRESS.search(part) else part


def unscrubbed_parts(interaction: Interaction) -> tuple[str, ...]:
    """Return the headers and addresses of `interaction` that contain a credential.

    The text REDACTED is not a credential.
    """
    request = interaction.request
    found = [
        f"header {name}"
        for name, value in (*request.headers, *interaction.headers)
        if value not in ("", REDACTED) and (_is_removed(name) or _scrub_value(name, value) != value)
    ]
    if scrub_address(request.uri) != request.uri:
        found.append("the address contains a credential")
    return tuple(found)


def _scrub_parameter(match: re.Match[str]) -> str:
    before, name, value = match.groups()
    return f"{before}{name}={REDACTED if is_secret_name(unquote(name), parameter=True) else value}"
