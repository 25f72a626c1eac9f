"""Find the credentials in the fields of a request body: JSON, a form, or a multipart form.

A name such as `token` or `key` means a credential only in some places. So in the conversation
and in the schemas of tools, secrets are found only by their form (see
`detectors.toml`), and not by name. A response is never searched by name.
"""

import re
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import unquote_plus

import msgspec

from harness.recording.secrets.credentials import HEADERS, is_secret_name, name_words
from harness.recording.secrets.detectors import FILL
from harness.recording.secrets.values import is_placeholder
from harness.wire.payload import json_or_none

_MOST_DEPTH: Final = 24
_FORM: Final = re.compile(r"[\w.%+\[\]-]+=[^&\s{}\"<>]*(?:&[\w.%+\[\]-]+=[^&\s{}\"<>]*)*&?\s*")
_FORM_FIELD: Final = re.compile(r"(?:\A|&)([^=&]+)=([^&\s]+)")
_SCHEME: Final = re.compile(r"(?i:bearer|basic|token|apikey)[ ]+(?=.)")
# An object with such a name also has members that are not secret.
_WITH_OTHERS: Final = HEADERS.parents_of_keys | {"session", "pass"}
_SHORTEST_NUMBER: Final = 4
_DIGIT: Final = "1"
_PART: Final = re.compile(
    r'name=(?:"([^"\r\n]{1,200})"|([^"\s;]{1,200}))[^\r\n]*\r?\n(?:[A-Za-z-]+:[^\r\n]*\r?\n)*\r?\n([^\r\n]+)'
)


class Field(msgspec.Struct, frozen=True):
    """A field whose value is a credential.

    Fields:
        before: a regular expression for the name of the field and other text directly before the
            value.
        value: the value as written in the body, with escapes of JSON decoded.
        meaning: the value as the server reads it.
        fill: the character that replaces each letter and digit: a digit in a number.
    """

    before: str
    value: str
    meaning: str
    fill: str = FILL


def credential_fields(body: bytes) -> Iterator[Field]:
    """Yield the fields of a request body whose value is a credential and not a placeholder."""
    text = body.decode("utf-8", "surrogateescape").lstrip("\ufeff \t\r\n")
    if text.startswith(("{", "[")):
        found = _of_json(json_or_none(text.encode("utf-8", "surrogateescape")), "", 0)
    elif text.startswith("--"):
        found = _of_parts(text)
    else:
        found = _of_form(text)
    yield from (field for field in found if not is_placeholder(field.value))


def _of_json(value: Any, parent: str, depth: int) -> Iterator[Field]:  # noqa: ANN401 - any JSON
    if depth > _MOST_DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from _of_json(item, parent, depth + 1)
    elif isinstance(value, dict):
        if parent.lower().endswith(HEADERS.parents_of_headers):
            yield from _of_pair(value)
        for name, item in value.items():
            yield from _of_member(name, item, parent, depth)


def _of_member(name: str, item: object, parent: str, depth: int) -> Iterator[Field]:
    is_credential = _is_credential(name, parent)
    if isinstance(item, str):
        if item and is_credential:
            yield _json_field(name, item)
    elif is_credential and not (isinstance(item, dict) and name.lower() in _WITH_OTHERS):
        yield from _of_credential(name, item, depth + 1)
    elif name not in HEADERS.conversation:
        yield from _of_json(item, name, depth + 1)


def _of_credential(name: str, value: object, depth: int) -> Iterator[Field]:
    """Yield the texts and numbers in a list or an object that is a credential."""
    match value:
        case bool() | None:
            return
        case int():
            number = str(value)
            if len(number) >= _SHORTEST_NUMBER and number.strip(_DIGIT):
                before = rf'"{re.escape(name)}"[ \t\r\n]*:[ \t\r\n]*(?:\[[^\[\]"]*?)?\b'
                yield Field(before, number, number, _DIGIT)
        case list() if depth <= _MOST_DEPTH:
            for item in value:
                if isinstance(item, str):
                    yield Field(r'[\[,][ \t\r\n]*"', item, item)
                else:
                    yield from _of_credential(name, item, depth + 1)
        case dict() if depth <= _MOST_DEPTH:
            for key, item in value.items():
                if isinstance(item, str):
                    yield from [_json_field(key, item)] if len(item) >= _SHORTEST_NUMBER else []
                else:
                    yield from _of_credential(key, item, depth + 1)
        case _:
            return


def _of_pair(value: dict[str, Any]) -> Iterator[Field]:
    """Yield the value of an object such as `{"name": "Authorization", "value": "..."}`."""
    name, item = value.get("name", value.get("key")), value.get("value")
    if isinstance(name, str) and isinstance(item, str) and item and is_secret_name(name):
        yield _json_field("value", item)


def _is_credential(name: str, parent: str) -> bool:
    if parent.lower().endswith(HEADERS.parents_of_headers):
        return is_secret_name(name)
    lowered = "".join(name_words(name))
    if parent.lower() in HEADERS.parents_of_keys and lowered in {"key", "value"}:
        return True
    return lowered in HEADERS.members or lowered.endswith(HEADERS.member_endings)


def _json_field(name: str, value: str) -> Field:
    """Return a field; its value does not include a scheme before the credential like `Bearer`."""
    scheme = _SCHEME.match(value)
    word = scheme[0] if scheme else ""
    before = rf'"{re.escape(name)}"[ \t\r\n]*:[ \t\r\n]*"{re.escape(word)}'
    return Field(before, value.removeprefix(word), value)


def _of_form(text: str) -> Iterator[Field]:
    if _FORM.fullmatch(text):
        for match in _FORM_FIELD.finditer(text):
            if is_secret_name(unquote_plus(match[1]), parameter=True):
                before = rf"(?:\A|&){re.escape(match[1])}="
                yield Field(before, match[2], unquote_plus(match[2]))


def _of_parts(text: str) -> Iterator[Field]:
    for quoted, plain, value in _PART.findall(text):
        name = quoted or plain
        if is_secret_name(name, parameter=True):
            yield Field(
                rf'name="?{re.escape(name)}"?[^\n]*\n(?:[A-Za-z-]+:[^\n]*\n)*\r?\n', value, value
            )
