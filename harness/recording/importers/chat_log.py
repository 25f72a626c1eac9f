"""Import logged conversations, one JSON object a line: complete answers, rarely streams.

A line has one of three formats. `{"request": ..., "response": ...}` is one interaction. A line of a
batch result is joined with the request that has the same `custom_id`, if the file contains it. In
`{"messages": [...]}`, each assistant message becomes the answer to the messages before it. This
answer is rebuilt as a chat completion, because the log contains only the message.
"""

from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import PurePath
from typing import Any, Final

import msgspec

from harness.recording.importers.container import ContainerFile, body_interaction, container_file
from harness.recording.importers.event_list import (
    Members,
    elements,
    frame_responses,
    members,
    parse_event,
)
from harness.turns.json_values import as_text
from harness.wire.interaction import Interaction, Request
from harness.wire.payload import decode_json

Line = dict[str, Any]

# The address in batches; other logs contain none.
_CHAT: Final = "/v1/chat/completions"
_MOST_REQUEST_BYTES: Final = 64 * 1024 * 1024
_REBUILT: Final = "messages; each answer rebuilt as a chat completion; no headers, reads or times"
_PAIRS: Final = "requests and responses; no headers, reads or times"
_BATCH: Final = "responses of a batch, requests where its input is in the file; no reads or times"


def read(path: PurePath, data: bytes) -> ContainerFile | None:
    """Return an interaction for each answer, or None if a line has another format."""
    if not data.lstrip().startswith(b"{"):
        return None
    first = parse_event(next(_texts(data)))
    kind = next((kind for kind in _KINDS if kind[0](first or {})), None)
    if kind is None or not all(map(parse_event, _texts(data))):
        return None
    _, interactions, kept = kind
    return container_file(path, interactions(data), kept)


def _texts(data: bytes) -> Iterator[bytes]:
    return filter(None, map(bytes.strip, BytesIO(data)))


def _lines(data: bytes) -> Iterator[tuple[Line, Members]]:
    """Yield the object of each line, and its members as they were written.

    The lines are decoded again in each pass, because all objects together need the memory of the
    file once more.
    """
    return ((parse_event(text) or {}, members(text)) for text in _texts(data))


# A request and its response


def _is_pair(line: Line) -> bool:
    return isinstance(line.get("request"), dict) and _is_answer(line.get("response"))


def _is_answer(value: object) -> bool:
    """Whether `value` may be a response: an answer, its events, or an answer with its status."""
    return isinstance(value, dict | list) and not (
        isinstance(value, dict) and "headers" in value and "body" not in value
    )


def _pairs(data: bytes) -> Iterator[Interaction]:
    for line, raw in _lines(data):
        if "request" in raw and "response" in raw:
            body, status = _answer(line["response"], raw["response"])
            yield body_interaction(body, _request(line["request"], raw["request"]), status)


def _request(value: object, raw: msgspec.Raw) -> Request:
    """Return the request in a line: a body alone, or an object with a body and an address."""
    if isinstance(value, dict) and "body" in value:
        parts = members(raw)
        address = value.get("url", value.get("uri"))
        method = value.get("method")
        return Request(
            method if isinstance(method, str) else "POST",
            address if isinstance(address, str) else "",
            body=_body(value["body"], parts["body"]),
        )
    return Request(body=bytes(raw))


def _body(value: object, raw: msgspec.Raw) -> bytes:
    """Return the original characters of a JSON body; a body that is a JSON string is its text."""
    return value.encode("utf-8", "replace") if isinstance(value, str) else bytes(raw)


def _answer(value: object, raw: msgspec.Raw) -> tuple[bytes, int]:
    """Return the body and status of an answer, of a list of events, or of an object with both."""
    if isinstance(value, dict) and "body" in value:
        status = value.get("status_code", value.get("status"))
        body = _body(value["body"], members(raw)["body"])
        return body, status if isinstance(status, int) else 200
    if isinstance(value, list):
        events = elements(raw)
        return b"".join(frame_responses(map(bytes, events))) or bytes(raw), 200
    return bytes(raw), 200


# A batch


def _is_batch(line: Line) -> bool:
    return isinstance(line.get("custom_id"), str)


def _batch(data: bytes) -> Iterator[Interaction]:
    requests = {
        _batch_id(line): _request(line, msgspec.Raw(msgspec.json.encode(raw)))
        for line, raw in _lines(data)
        if "body" in raw
    }
    for line, raw in _lines(data):
        if isinstance(line.get("response"), dict):
            body, status = _answer(line["response"], raw["response"])
            yield body_interaction(body, requests.get(_batch_id(line)) or Request(), status)


def _batch_id(line: Line) -> str:
    return as_text(line.get("custom_id"))


# A history


def _is_history(line: Line) -> bool:
    messages = line.get("messages")
    return isinstance(messages, list) and all(
        isinstance(message, dict) and "role" in message for message in messages
    )


def _history(data: bytes) -> Iterator[Interaction]:
    for line, raw in _lines(data):
        if isinstance(line.get("messages"), list):
            yield from _answers(raw)


def _answers(raw: Members) -> Iterator[Interaction]:
    """Yield an interaction for each assistant message of one conversation.

    Each request contains all earlier messages. If their total size is too large, requests are left
    out.
    """
    messages = elements(raw["messages"])
    left = _MOST_REQUEST_BYTES
    before = sum(len(bytes(part)) for key, part in raw.items() if key != "messages")
    for index, written in enumerate(messages):
        message = decode_json(bytes(written))
        if isinstance(message, dict) and message.get("role") == "assistant":
            left -= before
            request = {**raw, "messages": messages[:index]} if left >= 0 else None
            yield body_interaction(
                msgspec.json.encode(_completion(raw, message, written)),
                Request("POST", _CHAT, body=msgspec.json.encode(request) if request else b""),
            )
        before += len(bytes(written))


def _completion(raw: Members, message: Line, written: msgspec.Raw) -> dict[str, object]:
    """Return a chat completion object that contains `message`."""
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    choice = {"index": 0, "message": written, "finish_reason": reason}
    named = {"model": raw["model"]} if "model" in raw else {}
    return {"object": "chat.completion", **named, "choices": [choice]}


_Kind = tuple[Callable[[Line], bool], Callable[[bytes], Iterator[Interaction]], str]
_KINDS: Final[tuple[_Kind, ...]] = (
    (_is_batch, _batch, _BATCH),
    (_is_pair, _pairs, _PAIRS),
    (_is_history, _history, _REBUILT),
)
