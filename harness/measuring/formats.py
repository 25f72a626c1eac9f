"""Convert records of common logs to turns. The keys of a record show which tool wrote it.

Most logs store the complete answer of the API and not the stream. Such an answer is read as the
JSON document that the API sends without streaming, and `lacks` names the missing data, such as the
reads.

Sources: OpenAI and Anthropic, "Batch API" (results files); LiteLLM, "StandardLoggingPayload
Specification"; OpenTelemetry, "Semantic conventions for generative AI" (attributes of spans) and
OTLP's JSON encoding; Langfuse, "Blob storage export field reference" (observations).
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from harness.errors import UnreadableError
from harness.measuring.records import RECORD_KEYS, Lack, LoggedTurn, turn_of_record

Record = Mapping[str, Any]

_SERVER_ERROR: Final = 500
_FINISHES: Final = {"tool_call": "tool_calls"}


def turns_of(record: Record, mapping: Mapping[str, str]) -> Iterator[LoggedTurn]:
    """Yield the turns of a record.

    Args:
        record: one line or row of a log.
        mapping: key of `RECORD_KEYS` -> the path of its value in the record, such as
            `response.body`. If it is empty, the keys of the record show its format.

    Raises:
        UnreadableError: the record has no known format, or has no turn.
    """
    if mapping:
        yield turn_of_record({key: _at(record, path) for key, path in mapping.items()})
        return
    for keys, read in _LOGS:
        if keys <= record.keys():
            yield from read(record)
            return
    if not {"body", "body_base64"} & record.keys():
        raise UnreadableError(
            f"no known log: its keys are {', '.join(sorted(map(str, record))[:8])}",
            hint=f"Name its columns with --map; the keys are {', '.join(RECORD_KEYS)}.",
        )
    yield turn_of_record(record)


def _at(value: object, path: str) -> Any:  # noqa: ANN401 - whatever the log has there
    """Return the value at a path such as `response.body` in a record; None if there is no value."""
    for key in path.split("."):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _document(record: Record, *lacks: Lack) -> LoggedTurn:
    """Return a turn whose body is an answer that was logged as one JSON document."""
    turn = turn_of_record(record)
    return msgspec.structs.replace(turn, lacks=(*turn.lacks, "bytes", *lacks))


def _object(value: object, what: str) -> Record:
    if not isinstance(value, Mapping):
        raise UnreadableError(f"`{what}`: expected an object, found {type(value).__name__}")
    return value


def _failed(error: object, status: object) -> Record:
    """Return a record whose response is the API error `error` with the HTTP status `status`."""
    text = str(status or "")
    code = int(text) if text.isdigit() and 400 <= int(text) < 600 else _SERVER_ERROR  # noqa: PLR2004
    return {"body": {"error": error or {"message": "unknown"}}, "status": code}


def _openai_batch(record: Record) -> Iterator[LoggedTurn]:
    if not record["response"]:
        yield _document({**_failed(record.get("error"), None), "dialect": "openai-chat"})
        return
    response = _object(record["response"], "response")
    body = _object(response.get("body"), "response.body")
    dialect = "openai-responses" if body.get("object") == "response" else "openai-chat"
    yield _document(
        {
            "body": dict(body),
            "status": response.get("status_code"),
            "dialect": dialect,
            "provider": "openai",
        }
    )


def _anthropic_batch(record: Record) -> Iterator[LoggedTurn]:
    result = _object(record["result"], "result")
    about = {"dialect": "anthropic", "provider": "anthropic"}
    match result.get("type"):
        case "succeeded":
            message = _object(result.get("message"), "result.message")
            yield _document({"body": dict(message), **about})
        case "errored":
            yield _document({"body": result.get("error"), "status": _SERVER_ERROR, **about})
        case _:  # canceled or expired, so that no model was asked
            return


def _litellm(record: Record) -> Iterator[LoggedTurn]:
    parameters = record.get("model_parameters")
    tools = parameters.get("tools") if isinstance(parameters, Mapping) else None
    messages = record.get("messages")
    request = {"model": record.get("model"), "messages": messages, "tools": tools}
    about = {
        "dialect": "openai-chat",  # into which LiteLLM converts every answer
        "provider": record.get("custom_llm_provider"),
        "model": record.get("model"),
        "request": {k: v for k, v in request.items() if v is not None} if messages else None,
        "time": _iso(record.get("startTime"), 1),
    }
    if record.get("status") == "failure":
        error = record.get("error_information")
        code = error.get("error_code") if isinstance(error, Mapping) else None
        yield _document({**_failed({"message": record.get("error_str")}, code), **about})
    else:
        yield _document({"body": dict(_object(record["response"], "response")), **about})


def _iso(number: object, per_second: int) -> str | None:
    """Convert a time in units of 1 / `per_second` seconds to ISO 8601; None if not a number."""
    try:
        seconds = float(number) / per_second  # type: ignore[arg-type]  # refused below
        return datetime.fromtimestamp(seconds, UTC).isoformat()
    except (TypeError, ValueError, OverflowError, OSError):
        return None


def _otlp(record: Record) -> Iterator[LoggedTurn]:
    for span in _spans(record):
        attributes = {
            str(each.get("key")): _value(each.get("value"))
            for each in _list(span.get("attributes"))
            if isinstance(each, Mapping)
        }
        if "gen_ai.output.messages" in attributes:
            yield _span_turn(span, attributes)


def _spans(record: Record) -> Iterator[Record]:
    for resource in _list(record["resourceSpans"]):
        for scope in _list(_at(resource, "scopeSpans")):
            yield from (each for each in _list(_at(scope, "spans")) if isinstance(each, Mapping))


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _value(value: object) -> Any:  # noqa: ANN401 - any value of OTLP
    """Convert an `AnyValue` of OTLP's JSON encoding to plain JSON."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return None
    kind, held = next(iter(value.items()))
    if kind == "arrayValue":
        return [_value(each) for each in _list(_at(held, "values"))]
    if kind == "kvlistValue":
        pairs = (each for each in _list(_at(held, "values")) if isinstance(each, Mapping))
        return {str(each.get("key")): _value(each.get("value")) for each in pairs}
    return held


def _structured(value: object) -> Any:  # noqa: ANN401 - any JSON
    """Return the value of a span's attribute, parsed if the span stores it as JSON text."""
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value)
    except (ValueError, RecursionError):
        raise UnreadableError("an attribute of `gen_ai` is not JSON, perhaps cut") from None


def _span_turn(span: Record, attributes: Record) -> LoggedTurn:
    messages = _list(_structured(attributes["gen_ai.output.messages"]))
    if not messages:
        raise UnreadableError("`gen_ai.output.messages` has no message")
    message = _object(messages[0], "gen_ai.output.messages[0]")
    parts = [each for each in _list(message.get("parts")) if isinstance(each, Mapping)]
    calls = [each for each in parts if each.get("type") == "tool_call"]
    finish = message.get("finish_reason")
    tools = _list(_structured(attributes.get("gen_ai.tool.definitions")))
    model = attributes.get("gen_ai.request.model")
    request = {
        "model": model,
        "messages": [{"role": "user", "content": str(attributes.get("gen_ai.input.messages"))}],
        "tools": [{"type": "function", "function": each} for each in tools],
    }
    record = {
        "body": _chat_document(
            _joined(parts, "text"),
            _joined(parts, "reasoning"),
            [(each.get("id"), each.get("name"), each.get("arguments")) for each in calls],
            _FINISHES.get(str(finish), finish),
        ),
        "dialect": "openai-chat",
        "provider": attributes.get("gen_ai.provider.name") or attributes.get("gen_ai.system"),
        "model": attributes.get("gen_ai.response.model") or model,
        "request": request if "gen_ai.input.messages" in attributes else None,
        "time": _iso(span.get("startTimeUnixNano"), 1_000_000_000),
    }
    return _document(record, *(() if finish else ("finish",)))


def _joined(parts: list[Record], kind: str) -> str:
    texts = (each.get("content") for each in parts if each.get("type") == kind)
    return "".join(each for each in texts if isinstance(each, str))


def _chat_document(
    text: object, reasoning: object, calls: list[tuple[Any, Any, Any]], finish: object
) -> Record:
    """Return a `chat.completion` object with one message of these parts."""
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if reasoning:
        message["reasoning_content"] = reasoning
    if calls:
        message["tool_calls"] = [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": _text(given)}}
            for id_, name, given in calls
        ]
    ended = finish or ("tool_calls" if calls else "stop")
    choice = {"index": 0, "message": message, "finish_reason": ended}
    return {"object": "chat.completion", "choices": [choice]}


def _text(arguments: object) -> str:
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else msgspec.json.encode(arguments).decode()


def _langfuse(record: Record) -> Iterator[LoggedTurn]:
    if record["type"] != "GENERATION":
        return
    output, given = (_loosely_structured(record.get(key)) for key in ("output", "input"))
    model = record.get("provided_model_name") or record.get("model")
    request = dict(given) if isinstance(given, Mapping) else {"messages": given} if given else None
    about = {
        "dialect": "openai-chat",
        "model": model,
        "request": request,
        "time": record.get("start_time") or record.get("startTime"),
    }
    if record.get("level") == "ERROR":
        message = record.get("status_message") or record.get("statusMessage")
        yield _document({**_failed({"message": message}, None), **about})
        return
    output = output[0] if isinstance(output, list) and output else output
    if isinstance(output, Mapping) and "choices" in output:
        yield _document({"body": dict(output), **about})
        return
    said = output if isinstance(output, Mapping) else {"content": output}
    calls = [
        (_at(each, "id"), _at(each, "function.name"), _at(each, "function.arguments"))
        for each in _list(said.get("tool_calls"))
    ]
    document = _chat_document(said.get("content"), said.get("reasoning_content"), calls, None)
    yield _document({"body": document, **about}, "finish")


def _loosely_structured(value: object) -> Any:  # noqa: ANN401 - any JSON, or text
    try:
        return _structured(value)
    except UnreadableError:
        return value


# The keys that only a record of this log has.
_LOGS: Final[tuple[tuple[frozenset[str], Callable[[Record], Iterator[LoggedTurn]]], ...]] = (
    (frozenset(("custom_id", "response")), _openai_batch),
    (frozenset(("custom_id", "result")), _anthropic_batch),
    (frozenset(("call_type", "response", "model")), _litellm),
    (frozenset(("resourceSpans",)), _otlp),
    (frozenset(("type", "output", "trace_id")), _langfuse),
    (frozenset(("type", "output", "traceId")), _langfuse),
)
