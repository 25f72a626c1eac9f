"""Convert records of common logs to turns. The keys of a record show which tool wrote it.

Most logs store the complete answer of the API and not the stream. Such an answer is read as the
JSON document that the API sends without streaming, and `lacks` names the missing data, such as the
reads.

Sources: OpenAI and Anthropic, "Batch API" (results files); LiteLLM, "StandardLoggingPayload
Specification"; OpenTelemetry, "Semantic conventions for generative AI" (attributes of spans) and
OTLP's JSON encoding; Langfuse, "Blob storage export field reference" (observations).
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from harness.errors import UnreadableError
from harness.measuring.exports import (
    turns_of_helicone,
    turns_of_mlflow,
    turns_of_phoenix,
    turns_of_weave,
)
from harness.measuring.logged_values import (
    Record,
    chat_document,
    document_turn,
    failed,
    iso_time,
    listed,
    loosely_structured,
)
from harness.measuring.records import RECORD_KEYS, LoggedTurn, turn_of_record
from harness.measuring.spans import turns_of_otlp
from harness.turns.json_values import at_path

_SERVER_ERROR: Final = 500


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
        yield turn_of_record({key: at_path(record, path) for key, path in mapping.items()})
        return
    for keys, read in _LOGS:
        if keys <= record.keys():
            yield from read(record)
            return
    if not {"body", "body_base64"} & record.keys():
        raise _unknown_log(record)
    yield turn_of_record(record)


def _unknown_log(record: Record) -> UnreadableError:
    """Return the error for a log without a map, with a draft of the map for its keys."""
    paths = list(_paths(record))
    draft = {
        key: path
        for key, names in _COMMON_NAMES.items()
        if (path := next((it for name in names for it in paths if it.endswith(name)), ""))
    }
    lines = "; ".join(f"{key}: {path}" for key, path in draft.items())
    shown = f". Pass --map FILE with its columns, such as `{lines}`" if lines else ""
    return UnreadableError(
        f"no known log: its keys are {', '.join(sorted(map(str, record))[:8])}{shown}",
        hint=f"Name its columns with --map; the keys are {', '.join(RECORD_KEYS)}.",
    )


def _paths(record: Record) -> Iterator[str]:
    """Yield the path of each member, and of the members of its objects."""
    for key, value in record.items():
        yield str(key)
        if isinstance(value, Mapping):
            yield from (f"{key}.{inner}" for inner in value)


def _object(value: object, what: str) -> Record:
    if not isinstance(value, Mapping):
        raise UnreadableError(f"`{what}`: expected an object, found {type(value).__name__}")
    return value


def _openai_batch(record: Record) -> Iterator[LoggedTurn]:
    if not record["response"]:
        yield document_turn({**failed(record.get("error"), None), "dialect": "openai-chat"})
        return
    response = _object(record["response"], "response")
    body = _object(response.get("body"), "response.body")
    dialect = "openai-responses" if body.get("object") == "response" else "openai-chat"
    yield document_turn(
        {
            "body": dict(body),
            "status": response.get("status_code"),
            "record": record.get("custom_id"),
            "dialect": dialect,
            "provider": "openai",
        }
    )


def _anthropic_batch(record: Record) -> Iterator[LoggedTurn]:
    result = _object(record["result"], "result")
    about = {
        "dialect": "anthropic",
        "provider": "anthropic",
        "record": record.get("custom_id"),
    }
    match result.get("type"):
        case "succeeded":
            message = _object(result.get("message"), "result.message")
            yield document_turn({"body": dict(message), **about})
        case "errored":
            yield document_turn({"body": result.get("error"), "status": _SERVER_ERROR, **about})
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
        "request": request if messages else None,
        "time": iso_time(record.get("startTime"), 1),
        "record": record.get("id"),
    }
    if record.get("status") == "failure":
        error = record.get("error_information")
        code = error.get("error_code") if isinstance(error, Mapping) else None
        yield document_turn({**failed({"message": record.get("error_str")}, code), **about})
    else:
        yield document_turn({"body": dict(_object(record["response"], "response")), **about})


def _langfuse(record: Record) -> Iterator[LoggedTurn]:
    if record["type"] != "GENERATION":
        return
    output, given = (loosely_structured(record.get(key)) for key in ("output", "input"))
    model = record.get("provided_model_name") or record.get("model")
    asked = given if isinstance(given, Mapping) else {"messages": given}
    about = {
        "dialect": "openai-chat",
        "model": model,
        "request": {"tools": None, **asked} if given else None,
        "time": record.get("start_time") or record.get("startTime"),
        "record": record.get("id"),
        "prompt": record.get("prompt_name") or record.get("promptName"),
    }
    if record.get("level") == "ERROR":
        message = record.get("status_message") or record.get("statusMessage")
        yield document_turn({**failed({"message": message}, None), **about})
        return
    output = output[0] if isinstance(output, list) and output else output
    if isinstance(output, Mapping) and "choices" in output:
        yield document_turn({"body": dict(output), **about})
        return
    said = output if isinstance(output, Mapping) else {"content": output}
    calls = [
        (at_path(each, "id"), at_path(each, "function.name"), at_path(each, "function.arguments"))
        for each in listed(said.get("tool_calls"))
    ]
    document = chat_document(said.get("content"), said.get("reasoning_content"), calls, None)
    yield document_turn({"body": document, **about}, "finish")


# Common names of columns, for the draft of a map.
_COMMON_NAMES: Final = {
    "body": ("response_body", "raw_response", "response", "completion", "output", "answer"),
    "request": ("request_body", "raw_request", "request", "payload", "input"),
    "model": ("model_name", "model", "llm", "engine"),
    "provider": ("provider", "vendor"),
    "prompt": ("prompt_name", "prompt_id", "prompt", "template"),
    "time": ("timestamp", "created_at", "start_time", "time", "ts"),
    "status": ("status_code", "http_status", "status"),
    "record": ("request_id", "trace_id", "span_id", "id"),
}
# The keys that only a record of this log has.
_LOGS: Final[tuple[tuple[frozenset[str], Callable[[Record], Iterator[LoggedTurn]]], ...]] = (
    (frozenset(("custom_id", "response")), _openai_batch),
    (frozenset(("custom_id", "result")), _anthropic_batch),
    (frozenset(("call_type", "response", "model")), _litellm),
    (frozenset(("resourceSpans",)), turns_of_otlp),
    (frozenset(("request_body", "response_body")), turns_of_helicone),
    (frozenset(("op_name", "inputs", "trace_id")), turns_of_weave),
    (frozenset(("info", "data")), turns_of_mlflow),
    (frozenset(("span_kind", "context.span_id")), turns_of_phoenix),
    (frozenset(("span_kind", "context", "attributes")), turns_of_phoenix),
    (frozenset(("type", "output", "trace_id")), _langfuse),
    (frozenset(("type", "output", "traceId")), _langfuse),
)
