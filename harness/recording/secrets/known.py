"""Find the credentials of a request, and detect where bodies repeat them.

A request contains credentials in headers, in the address, and in fields of its body. Each is
removed wherever it occurs, also in base64, in hexadecimal and in HTML. Escapes of JSON and of
addresses are decoded before the search.
"""

import base64
import html
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias
from urllib.parse import parse_qsl, unquote, urlsplit

import msgspec

from harness.errors import UnreadableError, UnscrubbedError
from harness.recording.secrets import credentials
from harness.recording.secrets.detectors import Detector
from harness.recording.secrets.fields import Field, credential_fields
from harness.recording.secrets.values import basic_pair, is_mixed, is_placeholder, is_random
from harness.wire.decompress import decode_body, encoding_of, is_text
from harness.wire.interaction import Request

KnownSecrets: TypeAlias = tuple[Detector, ...]

# A shorter credential is removed where it is a separate word, and has letters and digits.
_SHORTEST: Final = 8
_SHORTEST_WORD: Final = 4
# Shorter ones would match by chance in other base64.
_SHORTEST_ENCODED: Final = 6
_SEPARATORS: Final = re.compile(r"[\s;,]+")
# Parameters of the schemes `Token` and `Digest`; those that others know are not secret.
_QUOTED: Final = re.compile(
    r"""\b(?!(?:realm|uri|qop|nc|algorithm|username|charset)=)[A-Za-z_-]{1,40}="?([^"\s,;]+)"""
)

# A part of a path that looks like a key; the ids of objects have a prefix, a UUID has hyphens.
PATH_KEY: Final = Detector(
    "key",
    re.compile(
        r"(?<=/)(?!(?:asst|batch|call|chatcmpl|conv|file|msg|req|resp|run|thread|vs)[_-])"
        r"(?P<secret>[A-Za-z0-9_-]{0,20}[A-Za-z0-9]{20,200}[A-Za-z0-9_-]{0,50})(?=[/?\#:]|\Z)"
    ),
    ("/",),
    check=is_random,
)


def readable_request(request: Request, where: str) -> Request:
    """Return `request` with a body that is not compressed, because only text can be searched.

    Raises:
        UnscrubbedError: the body cannot be decompressed.
    """
    try:
        body, headers = decode_body(request.body, request.headers, where)
    except UnreadableError as error:
        raise _compressed_error(error.what, where) from error
    encoding = encoding_of(headers)
    if encoding and encoding.lower() != "identity" and not is_text(body):
        raise _compressed_error(f"unknown encoding {encoding[:40]!r}", where)
    return msgspec.structs.replace(request, body=body, headers=headers)


def _compressed_error(what: str, where: str) -> UnscrubbedError:
    return UnscrubbedError(
        f"the request body cannot be searched for secrets: {what}",
        where=where,
        hint="It was not written. Send the request without compression.",
    )


def _if_readable(request: Request) -> Request:
    try:
        return readable_request(request, "")
    except UnscrubbedError:  # the scrubber refuses it, too
        return request


def known_secrets(requests: Iterable[Request], more: Iterable[str] = ()) -> KnownSecrets:
    """Return detectors of the credentials of `requests` and of `more`, the longest first."""
    given = tuple(map(_if_readable, requests))
    values = {value for request in given for value in iter_credentials(request)} | {*more}
    fields = {field for request in given for field in credential_fields(request.body)}
    longest_first = sorted(values, key=lambda value: (-len(value), value))
    return (
        *map(_field_detector, sorted(fields, key=lambda field: (field.before, field.value))),
        *(
            detector
            for value in longest_first
            for text in _spellings(value)
            for detector in literal_detectors(text)
        ),
    )


def iter_credentials(request: Request) -> Iterator[str]:
    """Yield the credentials of a request that are long or random enough to search for elsewhere."""
    for value in _credentials(_if_readable(request)):
        if value.lower() in credentials.HEADERS.dummies or is_placeholder(value):
            continue
        if len(value) >= _SHORTEST or (len(value) >= _SHORTEST_WORD and is_mixed(value)):
            yield value


def _credentials(request: Request) -> Iterator[str]:
    for name, value in request.headers:
        if credentials.is_secret_name(name):
            yield from _words(value, cookie="cookie" in name.lower())
    for field in credential_fields(request.body):
        yield from _words(field.meaning)
    yield from _of_address(request.uri)


def _of_address(uri: str) -> Iterator[str]:
    try:
        parts = urlsplit(uri)
        query = parse_qsl(parts.query)
    except ValueError:  # brackets without an address in them
        return
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    yield from filter(None, (unquote(password or user), password))
    for name, value in query:
        if credentials.is_secret_name(name, parameter=True):
            yield value
    yield from (
        match["secret"]
        for match in PATH_KEY.pattern.finditer(parts.path)
        if is_random(match["secret"])
    )


def _words(value: str, *, cookie: bool = False) -> Iterator[str]:
    """Yield the credentials in the value of a header, without a scheme such as `Bearer`."""
    if value.startswith("AWS4-"):
        yield from re.findall(r"(?:Credential=|Signature=)([^/,\s]+)", value)
        return
    yield from (word for word in _QUOTED.findall(value) if word)
    for word in _SEPARATORS.split(value):
        if word.lower() not in credentials.HEADERS.schemes:
            yield word.partition("=")[2] if cookie else word
        user, colon, password = basic_pair(word).partition(":")
        if colon and user.isascii() and value.startswith(("Basic ", "basic ")):
            yield from (f"{user}:{password}", password)


def literal_detectors(value: str) -> Iterator[Detector]:
    """Yield the detectors of one known secret, unchanged and in other encodings."""
    whole = len(value) >= _SHORTEST
    around = ("", "") if whole else (r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])")
    for text in dict.fromkeys((*_as_bytes(value), *_as_bytes(html.escape(value)))):
        yield _literal(text, *around)
    if len(value) >= _SHORTEST_ENCODED:
        data = _encoded(value)
        codes = (data.hex(), data.hex().upper(), *_in_base64(data, base64.b64encode))
        for text in dict.fromkeys((*codes, *_in_base64(data, base64.urlsafe_b64encode))):
            yield _literal(text)


def _in_base64(data: bytes, encode: Callable[[bytes], bytes]) -> Iterator[str]:
    """Yield the base64 characters of `data` for each of its three possible alignments.

    Characters that also depend on the surrounding bytes are left out.
    """
    for before in range(3):
        encoded = encode(b"\0" * before + data).decode().rstrip("=")
        whole = (before + len(data)) % 3 == 0
        yield encoded[0 if not before else before + 1 : None if whole else -1]


def _field_detector(field: Field) -> Detector:
    """Return a detector for a field with this credential as its value, however short it is."""
    values = "|".join(map(re.escape, _as_bytes(field.value)))
    pattern = re.compile(f"{field.before}(?P<secret>{values})")
    return Detector("credential", pattern, ("",), fill=field.fill, is_known=True)


def _literal(text: str, before: str = "", after: str = "") -> Detector:
    pattern = re.compile(f"{before}(?P<secret>{re.escape(text)}){after}")
    return Detector("credential", pattern, (text,), is_known=True)


def _as_bytes(value: str) -> tuple[str, ...]:
    """Return the texts as which `value` may appear in a view: as bytes, and as decoded escapes."""
    if value.isascii():
        return (value,)
    data = _encoded(value).decode("latin-1")
    return (data, "".join(min(char, "ÿ") for char in value))


def _encoded(value: str) -> bytes:
    """Return the bytes of `value`, which may have single surrogates from JSON or from bytes."""
    try:
        return value.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return value.encode("utf-8", "surrogatepass")


def _spellings(value: str) -> tuple[str, ...]:
    """Return `value`, and the same bytes as text if a parser of headers decoded them as Latin-1."""
    if value.isascii():
        return (value,)
    try:
        return (value, value.encode("latin-1").decode())
    except UnicodeError:
        return (value,)
