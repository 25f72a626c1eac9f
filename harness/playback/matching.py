"""Compare a request with a recorded request, by matchers with the names of vcrpy.

This module compares `method`, `path` and `body` itself, so that they need no package. Bodies that
are JSON are compared by value: the order of keys, white space and the notation of numbers do not
matter, but `true` differs from 1. Other bodies are compared byte by byte. Any other name refers to
a matcher of vcrpy.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from importlib import import_module
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

from harness.errors import UsageError
from harness.wire.interaction import Request

_MOST_VALUE_CHARS: Final = 80
_ABSENT: Final = object()


def body_difference(sent: bytes, recorded: bytes) -> str:
    """Return the first difference between a request's body and the recorded body; "" if none."""
    if sent == recorded:
        return ""
    try:
        return next(_differences("", _value(sent), _value(recorded)), "")
    except (ArithmeticError, RecursionError, ValueError):  # not JSON, or not representable
        return f"expected {_quote(recorded)}, found {_quote(sent)}"


def _value(body: bytes) -> object:
    return json.loads(body, parse_int=Decimal, parse_float=Decimal, parse_constant=_refuse)


def _refuse(name: str) -> object:
    raise ValueError(name)  # NaN and the infinities are not JSON


def _differences(path: str, sent: object, recorded: object) -> Iterator[str]:
    """Yield each difference of two JSON values as text; the recorded value is the expected one."""
    if isinstance(sent, dict) and isinstance(recorded, dict):
        for key in dict.fromkeys((*recorded, *sent)):
            member = f"{path}.{key}"
            yield from _differences(member, sent.get(key, _ABSENT), recorded.get(key, _ABSENT))
    elif isinstance(sent, list) and isinstance(recorded, list):
        for n in range(max(len(sent), len(recorded))):
            yield from _differences(f"{path}[{n}]", _item(sent, n), _item(recorded, n))
    elif type(sent) is not type(recorded) or sent != recorded:
        yield f"{_shortened(path)}: expected {_show(recorded)}, found {_show(sent)}"


def _item(items: list[Any], n: int) -> object:
    return items[n] if n < len(items) else _ABSENT


def _show(value: object) -> str:
    if value is _ABSENT:
        return "nothing"
    return f"number {_shortened(str(value))}" if isinstance(value, Decimal) else _quote(value)


def _quote(value: object) -> str:
    """Return the beginning of `value` as text, or its kind and size."""
    if isinstance(value, str | bytes) and len(value) > _MOST_VALUE_CHARS:
        return f"{value[:_MOST_VALUE_CHARS]!r}... of {len(value)}"
    if isinstance(value, dict | list):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value)}"
    return repr(value)


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_VALUE_CHARS else f"...{text[-_MOST_VALUE_CHARS:]}"


Matcher: TypeAlias = Callable[[Request, Request], str]

# Not a matcher: only the next interaction is a candidate.
ORDER: Final = "order"

_MOST_CHARS: Final = 300


def matchers(names: Sequence[str]) -> dict[str, Matcher]:
    """Return name -> function for the matchers called `names`; `order` is not a function.

    Each function takes a request and a recorded request. It returns their difference as text, "" if
    they match.

    Raises:
        UsageError: `names` is empty, a name is unknown, or the package of a matcher is not
            installed.
    """
    if not names:
        raise UsageError(
            "expected at least one matcher, found none", hint=f"Choose from: {_KNOWN}."
        )
    return {name: _OWN.get(name) or _of_vcrpy(name) for name in names if name != ORDER}


def path_of(uri: str) -> str:
    """Return the path of a URL; an empty path becomes "/"."""
    try:
        return urlsplit(uri).path or "/"
    except ValueError:  # brackets without an address in them
        return uri


def _text_difference(sent: str, recorded: str) -> str:
    return "" if sent == recorded else f"expected {_short(recorded)!r}, found {_short(sent)!r}"


def _short(text: str) -> str:
    return text if len(text) <= _MOST_CHARS else f"{text[:_MOST_CHARS]}..."


def _of_vcrpy(name: str) -> Matcher:
    if name not in _VCRPYS:
        raise UsageError(f"unknown matcher {name!r}", hint=f"Choose from: {_KNOWN}.")
    try:
        compare = getattr(import_module("vcr").matchers, name)
    except ImportError:
        raise UsageError(
            f"the matcher {name!r} is vcrpy's, which is not installed",
            hint="Install it: pip install 'toolcall-harness[vcrpy]'",
        ) from None

    def differs(sent: Request, recorded: Request) -> str:
        try:
            same = compare(vcrpy_request(sent), vcrpy_request(recorded))
        except (AssertionError, ValueError) as error:  # the port of an address may be invalid
            return _short(str(error)) or "differs"
        return "differs" if same is False else ""

    return differs


def vcrpy_request(request: Request) -> object:
    """Return `request` as an object of vcrpy, which must be installed."""
    make = import_module("vcr.request").Request
    return make(request.method, request.uri, request.body or None, dict(request.headers))


_OWN: Final[dict[str, Matcher]] = {
    "method": lambda sent, recorded: _text_difference(sent.method, recorded.method),
    "path": lambda sent, recorded: _text_difference(path_of(sent.uri), path_of(recorded.uri)),
    "body": lambda sent, recorded: body_difference(sent.body, recorded.body),
}
_VCRPYS: Final = ("headers", "host", "port", "query", "raw_body", "scheme", "uri")
NAMES: Final = (ORDER, *_OWN, *_VCRPYS)
_KNOWN: Final = ", ".join(NAMES)
