"""Find the request of a pasted response: a command line of curl, or a request that was logged."""

import shlex
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

import msgspec

from harness.turns.exact_json import encode_json
from harness.wire.interaction import Headers
from harness.wire.payload import json_or_none

# A body has one of these, and one of the others.
_INPUTS: Final = ("messages", "contents", "input", "prompt", "system")
_BESIDE: Final = frozenset(
    {
        *("model", "modelId", "tools", "stream", "toolConfig", "inferenceConfig"),
        *("generationConfig", "max_tokens", "tool_choice", "inputText"),
    }
)
_BODIES: Final = ("json_data", "json", "body", "data", "request", "content", "parsed_body")
_ADDRESSES: Final = ("url", "uri", "api_base", "path")
_MOST_DEPTH: Final = 3
# Members of boto3's arguments that are in the address, and not in the body.
_MODEL_IN_ADDRESS: Final = "modelId"
_LONGEST_COMMAND: Final = 1_000_000
_HEADER_OPTIONS: Final = frozenset({"-H", "--header"})
_DATA_OPTIONS: Final = frozenset({"-d", "--data", "--data-raw", "--data-binary", "--json"})
_METHOD_OPTIONS: Final = frozenset({"-X", "--request"})


class LoggedRequest(msgspec.Struct, frozen=True):
    """A request in a text. What the text does not contain is empty."""

    body: bytes
    uri: str = ""
    method: str = "POST"
    headers: Headers = ()


def request_in(value: Mapping[str, Any]) -> LoggedRequest | None:
    """Return the request that a logged object is, or has in a member; None if there is none."""
    return next(_requests(value, "", 0), None)


def _requests(value: Mapping[str, Any], address: str, depth: int) -> Iterator[LoggedRequest]:
    named = next((value[key] for key in _ADDRESSES if isinstance(value.get(key), str)), "")
    address = named or address
    if _is_body(value):
        model = value.get(_MODEL_IN_ADDRESS)
        if isinstance(model, str):
            address = address or f"/model/{model}/converse-stream"
        body = {key: item for key, item in value.items() if key != _MODEL_IN_ADDRESS}
        yield LoggedRequest(encode_json(body), address)
        return
    for key in _BODIES:
        item = value.get(key)
        if isinstance(item, str) and item.lstrip().startswith("{"):
            item = json_or_none(item.encode("utf-8", "surrogatepass"))
        if isinstance(item, dict) and depth < _MOST_DEPTH:
            yield from _requests(item, address, depth + 1)


def _is_body(value: Mapping[str, Any]) -> bool:
    has_input = any(isinstance(value.get(key), list | str) for key in _INPUTS)
    return has_input and not _BESIDE.isdisjoint(value)


def request_of_text(text: str) -> LoggedRequest | None:
    """Return the request in a file: a body in JSON, or a command line of curl."""
    value = json_or_none(text.encode("utf-8", "surrogateescape"))
    if isinstance(value, dict):
        return request_in(value) or LoggedRequest(text.strip().encode("utf-8", "surrogateescape"))
    start = text.find("curl ")
    return curl_request(text, start)[0] if start >= 0 else None


def curl_request(text: str, start: int) -> tuple[LoggedRequest | None, int]:
    """Return the request of the command line that begins at `start`, and where the line ends."""
    command, end = _command(text, start)
    words: list[str] = []
    with suppress(ValueError):  # a quote that does not close
        words = shlex.split(command.replace("\\\r\n", " ").replace("\\\n", " "))
    if not words:
        return None, end
    method, uri, headers, data = "", "", [], []
    rest = iter(words[1:])
    for word in rest:
        option, _, attached = word.partition("=") if word.startswith("--") else (word, "", "")
        if option in _HEADER_OPTIONS:
            name, _, value = (attached or next(rest, "")).partition(":")
            headers.append((name.strip(), value.strip()))
        elif option in _DATA_OPTIONS:
            data.append(attached or next(rest, ""))
        elif option in _METHOD_OPTIONS:
            method = attached or next(rest, "")
        elif word.startswith(("http://", "https://")):
            uri = word
    body = "&".join(data).encode("utf-8", "surrogateescape")
    if not uri or not isinstance(json_or_none(body), dict):  # such as `@FILE`, or a cut command
        return (LoggedRequest(b"", uri, method or "POST") if uri else None), end
    return LoggedRequest(body, uri, method or "POST", tuple(headers)), end


def _command(text: str, start: int) -> tuple[str, int]:
    """Return the command line at `start`: up to a line end that is neither quoted nor escaped."""
    quote, at = "", start
    while at < min(len(text), start + _LONGEST_COMMAND):
        char = text[at]
        if char == "\\" and quote != "'":
            at += 2
            continue
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "\n":
            break
        at += 1
    end = min(at, len(text))
    return text[start:end], end
