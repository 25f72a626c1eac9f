"""Decide what the API of an upstream refuses in a request, and write its error.

A gateway is judged by what it gets from its upstream. An upstream that accepted what no server of
its API accepts would blame the gateway for a configuration, or hide that it sends broken requests.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib import resources
from typing import Annotated, Any, Final, Literal, TypeAlias
from urllib.parse import parse_qs, urlsplit

import msgspec

from harness.dialects.table import request_body
from harness.files.typed import File, Text, convert
from harness.playback.matching import path_of
from harness.turns.exact_json import encode_json
from harness.wire.interaction import Request

Json: TypeAlias = dict[str, Any]

_BAD_REQUEST: Final = 400
_NO_KEY: Final = 401
_NOT_FOUND: Final = 404
# The form of an error of an API without a table, which is that of OpenAI's.
_DEFAULT: Final = "openai-chat"


class RefusalTable(File, frozen=True):
    """What one API refuses. `refusals.toml` explains the fields."""

    path: Text
    needs: tuple[Text, ...]
    refuses: tuple[Text, ...]
    missing: Text
    unknown: Text
    types: dict[str, Text]
    body: Json
    source: Annotated[tuple[Text, ...], msgspec.Meta(min_length=1)]
    keys: tuple[Text, ...] = ()
    headers: tuple[Text, ...] = ()


class Refusal(msgspec.Struct, frozen=True):
    """Why the API refuses a request.

    Fields:
        status: the status of the answer.
        message: the message of the error.
        about: whether the body, the headers, the key or the address is wrong.
        path: the member of the body that is wrong; "" for the others.
    """

    status: int
    message: str
    about: Literal["body", "headers", "key", "address"]
    path: str = ""


@cache
def load_refusals() -> dict[str, RefusalTable]:
    """Return what each API refuses, by the name of its dialect.

    Raises:
        UnreadableError: `refusals.toml` has an unknown or missing key, or a wrong value.
    """
    file = resources.files(__package__).joinpath("refusals.toml")
    data: Any = msgspec.toml.decode(file.read_text(encoding="utf-8"))
    return convert(data, dict[str, RefusalTable], file.name)


def refusal_of(dialect: str, request: Request) -> Refusal | None:
    """Return why the API `dialect` refuses a request; None if it accepts it, or is not known."""
    table = load_refusals().get(dialect)
    if table is None or not re.search(table.path, path_of(request.uri)):
        return None
    found = _without_key(table, request) or _wrong_headers(table, request)
    return found or body_refusal(dialect, request)


def body_refusal(dialect: str, request: Request) -> Refusal | None:
    """Return why the API `dialect` refuses the body of a request; None if it accepts it."""
    table, body = load_refusals().get(dialect), request_body(request.body)
    if table is None:
        return None
    if body is None:
        return Refusal(_BAD_REQUEST, "The body of the request is not a JSON object.", "body")
    unknown = (each for each in table.refuses if any(_values(body, each)))
    missing = (each for each in table.needs if not all(_values(body, each)))
    for template, paths in ((table.unknown, unknown), (table.missing, missing)):
        for path in paths:
            shown = path.partition("|")[0].replace("[]", "[0]")
            return Refusal(_BAD_REQUEST, template.replace("{path}", shown), "body", shown)
    return None


def not_found(dialect: str, message: str) -> bytes:
    """Return the body with which the API `dialect` refuses an unknown address."""
    return refusal_body(dialect, Refusal(_NOT_FOUND, message, "address"))


def refusal_body(dialect: str, refusal: Refusal) -> bytes:
    """Return the error in the form of the API `dialect`."""
    table = load_refusals().get(dialect) or load_refusals()[_DEFAULT]
    kind = table.types[str(refusal.status)]
    values = {"{type}": kind, "{message}": refusal.message, "{path}": refusal.path or None}
    return encode_json(_filled(table.body, values, refusal.status))


def _filled(value: object, values: dict[str, str | None], status: int) -> object:
    if isinstance(value, dict):
        return {name: _filled(it, values, status) for name, it in value.items()}
    if isinstance(value, int):
        return status
    return values.get(str(value), value) or None


def _without_key(table: RefusalTable, request: Request) -> Refusal | None:
    names = {name.lower() for name, value in request.headers if value}
    query = parse_qs(urlsplit(request.uri).query)
    given = (each[1:] in query if each.startswith("?") else each in names for each in table.keys)
    if not table.keys or any(given):
        return None
    return Refusal(_NO_KEY, f"{table.keys[0]} header is required", "key")


def _wrong_headers(table: RefusalTable, request: Request) -> Refusal | None:
    headers = {name.lower(): value for name, value in request.headers}
    for name in table.headers:
        if not headers.get(name):
            return Refusal(_BAD_REQUEST, f"{name}: header is required", "headers")
    kind = headers.get("content-type", "")
    if "json" in kind.lower():
        return None
    message = f"Unsupported content type: '{kind}'. Send 'application/json'."
    return Refusal(_BAD_REQUEST, message, "headers")


def _values(body: object, path: str) -> Iterator[bool]:
    """Yield whether the member at `path` is there, for each object that may have it."""
    first, _, rest = path.partition("[].")
    if not rest:
        names = first.split("|")
        yield isinstance(body, dict) and any(body.get(name) is not None for name in names)
    elif isinstance(body, dict) and isinstance(items := body.get(first), list):
        for item in items:
            yield from _values(item, rest)
