"""Flow files of mitmproxy: one typed netstring for each flow, whatever its version.

Flows that are no HTTP, or that got no answer, hold no response. mitmproxy joins a stream
before it stores it.
Source: https://docs.mitmproxy.org/stable/api/mitmproxy/http.html
"""

import re
from pathlib import PurePath
from typing import Any, Final

from harness.errors import UnreadableError
from harness.recording.importers import tnetstring
from harness.recording.importers.container import Found, found
from harness.recording.importers.http_message import answered, header_of
from harness.wire.fields import mapping, refuse
from harness.wire.interaction import Headers, Interaction, Request

# A length, and in it a first key: a length again, and a name as text or bytes.
_MAGIC: Final = re.compile(rb"[0-9]{1,12}:[0-9]{1,3}:[a-z_]{1,40}[;,]")
_KEPT: Final = "bodies and headers; no reads, no times"
_PORTS: Final = {("http", 80), ("https", 443)}


def read(path: PurePath, data: bytes) -> Found | None:
    """Return the answered HTTP flows; None where the data are no flows."""
    if not _MAGIC.match(data):
        return None
    where = str(path)
    try:
        flows = tnetstring.load_all(data)
    except tnetstring.NotTnetstringError as error:
        raise UnreadableError(
            f"expected flows of mitmproxy: {error}", where=where, hint="Save the flows again."
        ) from None
    numbered = ((f"{where}: flow {n}", flow) for n, flow in enumerate(flows))
    answers = [_interaction(flow, place) for place, flow in numbered if _is_answered(flow)]
    return found(path, answers, _KEPT)


def _is_answered(flow: object) -> bool:
    return (
        isinstance(flow, dict)
        and isinstance(flow.get("request"), dict)
        and isinstance(flow.get("response"), dict)
    )


def _interaction(flow: dict[str, Any], where: str) -> Interaction:
    asked, answer = flow["request"], flow["response"]
    headers = _headers(asked.get("headers"), f"{where}: request.headers")
    request = Request(
        method=_text(asked.get("method")) or "POST",
        uri=_address(asked, headers),
        headers=headers,
        body=_bytes(asked.get("content")),
    )
    place = f"{where}: response"
    status = mapping(answer, place).get("status_code", answer.get("code"))
    if not isinstance(status, int):
        refuse("a status code", status, place)
    answer_headers = _headers(answer.get("headers"), f"{place}.headers")
    body = _bytes(answer.get("content"))
    return answered(request, status, answer_headers, [(body, 0)], kept=False)


def _address(asked: dict[str, Any], headers: Headers) -> str:
    """Return the address that the client meant: by its name, not by the one it connected to."""
    scheme = _text(asked.get("scheme"))
    named = _text(asked.get("authority")) or header_of(headers, "host")
    host, port = _text(asked.get("host")), asked.get("port")
    own = host if (scheme, port) in _PORTS or not port else f"{host}:{port}"
    return f"{scheme}://{named or own}{_text(asked.get('path'))}"


def _headers(value: object, where: str) -> Headers:
    if not isinstance(value, list):
        refuse("a list of headers", value, where)
    pairs = [pair for pair in value if isinstance(pair, list) and len(pair) == 2]  # noqa: PLR2004 - name and value
    return tuple((_text(name), _text(item)) for name, item in pairs)


def _text(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode("latin-1")
    return value if isinstance(value, str) else ""


def _bytes(value: object) -> bytes:
    return value if isinstance(value, bytes) else b""
