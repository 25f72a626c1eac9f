"""Decide whom an error of a provider blames, by its codes, its message and the HTTP status.

The codes are in `error_codes.toml`, each as an API writes it.
"""

import re
from collections.abc import Iterator
from functools import cache
from http import HTTPStatus
from importlib import resources
from typing import Final

import msgspec

from harness.files.typed import File, Text, convert
from harness.results.outcome import Blame
from harness.turns.oracle_reading import OracleReading

_FILE: Final = "error_codes.toml"
_CLIENT_ERRORS: Final = range(400, 500)
# A timeout of the server, and an error of Bedrock while it processes the model.
_NOT_OF_CALLER: Final = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.FAILED_DEPENDENCY)
_NOT_OF_WORDS: Final = re.compile(r"[^a-z0-9]")
_ENDING: Final = re.compile(r"(?:error|exception)\Z")


class _Codes(File, frozen=True):
    request: frozenset[Text]
    provider: frozenset[Text]
    model: frozenset[Text]
    provider_messages: tuple[Text, ...]
    model_messages: tuple[Text, ...]


def blame_of_error(reading: OracleReading, status: int) -> Blame:
    """Return whom the errors of a response blame; "" if their codes do not say it.

    Args:
        reading: the oracle's reading of the response.
        status: the HTTP status of the response.
    """
    known = _codes()
    code, message = reading.error or ("", "")
    given = (code, *reading.later_errors)
    words = {word for each in given for word in _words(each)}
    if message.startswith(known.model_messages) or not words.isdisjoint(known.model):
        return "model"
    if message.startswith(known.provider_messages) or not words.isdisjoint(known.provider):
        return "provider"
    numbers = {status, *(int(each) for each in given if each.isascii() and each.isdigit())}
    if any(each in _CLIENT_ERRORS and each not in _NOT_OF_CALLER for each in numbers):
        return "request"
    is_own_fault = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return "" if is_own_fault or words.isdisjoint(known.request) else "request"


def _words(code: str) -> Iterator[str]:
    """Yield a code without what makes no difference, then the part before its first full stop."""
    for part in (code, code.partition(".")[0]):
        yield _ENDING.sub("", _NOT_OF_WORDS.sub("", part.casefold()))


@cache
def _codes() -> _Codes:
    text = resources.files(__package__).joinpath(_FILE).read_text(encoding="utf-8")
    codes = convert(msgspec.toml.decode(text), _Codes, _FILE)
    lists = {
        party: frozenset(word for code in getattr(codes, party) for word in _words(code))
        for party in ("request", "provider", "model")
    }
    return msgspec.structs.replace(codes, **lists)
