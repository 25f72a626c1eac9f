"""Convert one record of a log to a logged turn: a response with its request and its labels.

A record is a mapping with the keys of `RECORD_KEYS`. If a log uses other keys, the user gives a
mapping from these keys to the keys of the log. `lacks` names data that a record does not contain,
and rules that need this data are not checked.
"""

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, Literal

import msgspec

from harness.dialects.table import DIALECTS, known_tools
from harness.errors import UnreadableError
from harness.providers import UNKNOWN
from harness.recording.identify import detected, model_of, prompt_of, provider
from harness.turns.exact_json import encode_json
from harness.wire.interaction import Interaction, Read, Request

Lack = Literal["reads", "bytes", "request", "tools", "time", "finish"]

RECORD_KEYS: Final = (
    *("body", "body_base64", "status", "headers", "request", "uri"),
    *("dialect", "provider", "model", "prompt", "time", "record"),
)
_TEXTS: Final = ("uri", "dialect", "provider", "model", "prompt", "time", "record")
_LONGEST_LABEL: Final = 200


class LoggedTurn(msgspec.Struct, frozen=True):
    """One turn of a log.

    Fields:
        interaction: the response as one read, with its request.
        time: when the request was sent, as ISO 8601; "" if the log does not contain the time.
        lacks: the kinds of data that the log does not contain.
        record: the id of the record in its log, such as that of a span; "" if it has none.
    """

    interaction: Interaction
    provider: str
    model: str
    prompt: str
    time: str
    lacks: tuple[Lack, ...]
    record: str = ""


def turn_of_record(record: Mapping[str, Any]) -> LoggedTurn:
    """Return the turn of a record.

    Args:
        record: a mapping with keys of `RECORD_KEYS`; other keys are ignored.

    Raises:
        UnreadableError: the record has no body, or a value has the wrong type.
    """
    texts = {key: _text(record, key) for key in _TEXTS}
    body = _body(record)
    request = _request_body(record.get("request"))
    interaction = Interaction(
        Request("POST", texts["uri"], (), request),
        _status(record.get("status")),
        _headers(record.get("headers")),
        body,
        (Read(len(body)),) if body else (),
        reads_kept=False,
        dialect=texts["dialect"] or UNKNOWN,
    )
    by = texts["provider"] or provider(texts["uri"])
    if not texts["dialect"]:
        interaction = msgspec.structs.replace(
            interaction, dialect=detected(interaction, by).dialect
        )
    if interaction.dialect not in DIALECTS:
        raise UnreadableError(
            f"unknown dialect {interaction.dialect!r}",
            hint=f"Set `dialect` of the record to one of: {', '.join(sorted(DIALECTS))}.",
        )
    return LoggedTurn(
        interaction,
        by[:_LONGEST_LABEL],
        (texts["model"] or model_of(interaction))[:_LONGEST_LABEL],
        (texts["prompt"] or prompt_of(interaction))[:_LONGEST_LABEL],
        texts["time"],
        lacks_of(interaction, texts["time"]),
        texts["record"][:_LONGEST_LABEL],
    )


def lacks_of(interaction: Interaction, time: str) -> tuple[Lack, ...]:
    """Return the kinds of data that neither `interaction` nor the `time` of its record contains."""
    lacks: list[Lack] = [] if interaction.reads_kept else ["reads"]
    if known_tools(interaction) is None:
        lacks += ["tools"] if interaction.request.body else ["request"]
    return (*lacks, *(() if time else ("time",)))


def _text(record: Mapping[str, Any], key: str) -> str:
    value = record.get(key)
    if value is None:
        return ""
    if key == "time" and isinstance(value, datetime):
        return value.isoformat()
    if key == "record" and isinstance(value, int):
        return str(value)
    if not isinstance(value, str):
        raise _wrong_type(key, "text", value)
    return value


def _wrong_type(key: str, expected: str, found: object) -> UnreadableError:
    return UnreadableError(f"`{key}`: expected {expected}, found {type(found).__name__}")


def _body(record: Mapping[str, Any]) -> bytes:
    encoded = _text(record, "body_base64")
    if encoded:
        try:
            return b64decode(encoded, validate=True)
        except (Base64Error, ValueError):
            raise UnreadableError("`body_base64`: expected base64, found other text") from None
    body = record.get("body")
    if body is None:
        raise UnreadableError("the record has neither `body` nor `body_base64`")
    return _as_bytes("body", body)


def _as_bytes(key: str, value: object) -> bytes:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, bytes):
        return value
    if isinstance(value, dict | list):
        return encode_json(value)
    raise _wrong_type(key, "text or JSON", value)


def _request_body(value: object) -> bytes:
    return b"" if value is None else _as_bytes("request", value)


def _status(value: object) -> int:
    if value is None:
        return 200
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong_type("status", "a number", value)
    return value


def _headers(value: object) -> tuple[tuple[str, str], ...]:
    if value is None:
        return ()
    if not isinstance(value, dict):
        raise _wrong_type("headers", "an object", value)
    return tuple((str(name), str(text)) for name, text in value.items())
