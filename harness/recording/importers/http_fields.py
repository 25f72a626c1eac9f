"""Parse fields of HTTP messages in JSON and YAML, as recorders in several languages write them."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from harness.errors import UnreadableError
from harness.files.typed import expect_list, expect_mapping, expect_text, refuse_type
from harness.recording.importers.container import decode_base64, encodable
from harness.recording.importers.http_message import header_of
from harness.wire.cassette_file import header_text, headers_of
from harness.wire.interaction import Headers

_LAST_STATUS: Final = 999
_STATUS_LINE: Final = re.compile(r"([0-9]{3})(?: .*)?", re.DOTALL)
# Names of the members of a header that is an object.
_HEADER_NAMES: Final = ("name", "key")
_RESTORE: Final = "Restore the file from its source."
_PAIR: Final = 2
_BASE64: Final = "base64:"


def is_object_or_list(data: bytes) -> bool:
    """Whether `data` begins as a JSON object or array does."""
    return data.lstrip()[:1] in (b"{", b"[")


def status_code(value: object, where: str) -> int:
    """Return the code of a status: a number, its text, a status line, or an object.

    Raises:
        UnreadableError: the value is not a status.
    """
    if isinstance(value, dict):
        return status_code(value.get("code"), where)
    line = _STATUS_LINE.fullmatch(value) if isinstance(value, str) else None
    code = int(line[1]) if line else value
    if isinstance(code, bool) or not isinstance(code, int) or not 0 <= code <= _LAST_STATUS:
        refuse_type("a status code", value, where)
    return code


def header_fields(value: object, where: str) -> Headers:
    """Return headers from a mapping, a list of objects or pairs, or a flat list.

    A flat list contains names and values in turn. A value of a mapping may be a list. An object
    with `disabled` is ignored.

    Raises:
        UnreadableError: the headers have another structure.
    """
    if isinstance(value, list):
        return tuple(_listed_headers(value, where))
    return headers_of(value, where)


def _listed_headers(items: list[object], where: str) -> Iterator[tuple[str, str]]:
    if all(isinstance(item, str) for item in items):
        names, values = items[::2], items[1::2]
        yield from ((str(name), str(item)) for name, item in zip(names, values, strict=False))
        return
    for n, item in enumerate(items):
        location = f"{where}[{n}]"
        if isinstance(item, list) and len(item) == _PAIR:
            yield expect_text(item[0], location), header_text(item[1], location)
            continue
        fields = expect_mapping(item, location)
        name = next((fields[key] for key in _HEADER_NAMES if key in fields), None)
        several = fields.get("values")  # as MockServer writes them
        found: list[object] = several if isinstance(several, list) else [fields.get("value")]
        if fields.get("disabled") is not True:
            for value in found:
                yield expect_text(name, location), header_text(value, location)


def body_bytes(value: object, where: str) -> bytes:
    """Return the bytes of a body: text, bytes, or a JSON value that the recorder parsed.

    Text that begins with `base64:` is base64, as Datadog's test agent writes it.

    Raises:
        UnreadableError: the body contains a value that JSON does not have, or is damaged base64.
    """
    if value is None:
        return b""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str) and value.startswith(_BASE64):
        return decode_base64(value.removeprefix(_BASE64), where)
    if isinstance(value, str):
        return encodable(value).encode("utf-8")
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise UnreadableError(
            f"expected text or JSON: {error}", where=where, hint=_RESTORE
        ) from None


def encoded_body(fields: Mapping[str, object], where: str) -> bytes | None:
    """Return the body under a key for base64, such as `base64`; None if it is missing."""
    for key in ("base64Body", "body_base64", "bodyBase64", "base64"):
        if isinstance(fields.get(key), str):
            return decode_base64(expect_text(fields[key], where), f"{where}.{key}")
    return None


def is_encoded(headers: Headers) -> bool:
    """Whether a header names a content encoding."""
    return header_of(headers, "content-encoding").lower() not in ("", "identity")


def decode_hex(texts: object, where: str) -> bytes:
    """Return the bytes of a list of texts in hexadecimal.

    Raises:
        UnreadableError: the value is not a list of hexadecimal texts.
    """
    parts = [expect_text(text, where) for text in expect_list(texts, where)]
    try:
        return bytes.fromhex("".join(parts))
    except ValueError as error:
        raise UnreadableError(
            f"expected hexadecimal: {error}", where=where, hint=_RESTORE
        ) from None
