"""Convert records that observability tools export: a request and an answer as the API has them.

Sources: Helicone, "Get requests" (request query API); Weights & Biases Weave, calls of its service
API; MLflow, "Trace data model" (spans with inputs and outputs); Phoenix, spans as a table, whose
attributes follow OpenInference.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from harness.measuring.logged_values import (
    Record,
    document_turn,
    failed,
    iso_time,
    listed,
    loosely_structured,
)
from harness.measuring.records import LoggedTurn
from harness.measuring.spans import turns_of_span
from harness.turns.json_values import at_path

_FIRST_ERROR: Final = 400
_ANSWERS: Final = ("choices", "content", "candidates", "output")
_OF_MODELS: Final = frozenset({"CHAT_MODEL", "LLM"})
_ATTRIBUTES: Final = "attributes"


def turns_of_helicone(record: Record) -> Iterator[LoggedTurn]:
    """Yield the turn of a request of Helicone."""
    about = {
        "request": _body(record.get("request_body")),
        "provider": record.get("provider"),
        "model": record.get("response_model") or record.get("model") or record.get("request_model"),
        "time": record.get("request_created_at"),
        "record": _id("request", record.get("request_id")),
        "prompt": at_path(record, "request_properties.Helicone-Prompt-Id"),
    }
    answer, status = loosely_structured(record["response_body"]), record.get("response_status")
    if isinstance(status, int) and (status >= _FIRST_ERROR or status < 0):
        error = at_path(answer, "error") or {"message": f"status {status}"}
        yield _error(failed(error, status), about)
    elif isinstance(answer, Mapping):
        yield document_turn({**about, "body": dict(answer), "status": status or 200})


def turns_of_weave(record: Record) -> Iterator[LoggedTurn]:
    """Yield the turn of a call of Weave; nothing for a call that is not to a model."""
    inputs = record["inputs"]
    answer = loosely_structured(record.get("output"))
    if not isinstance(inputs, Mapping) or not _asks_model(inputs):
        return
    about = {
        "request": _body(inputs),
        "model": at_path(answer, "model") or inputs.get("model"),
        "time": record.get("started_at"),
        "record": _id("call", record.get("id")),
    }
    if record.get("exception"):
        yield _error(failed({"message": str(record["exception"])}, None), about)
    elif isinstance(answer, Mapping) and _is_answer(answer):
        yield document_turn({**about, "body": dict(answer)})


def turns_of_mlflow(record: Record) -> Iterator[LoggedTurn]:
    """Yield the turns of the spans in a trace of MLflow."""
    for span in listed(at_path(record, "data.spans")) or listed(record.get("spans")):
        if isinstance(span, Mapping):
            yield from _mlflow_span(span)


def _mlflow_span(span: Record) -> Iterator[LoggedTurn]:
    found = span.get(_ATTRIBUTES)
    attributes = found if isinstance(found, Mapping) else {}
    kind = loosely_structured(attributes.get("mlflow.spanType"))
    inputs = loosely_structured(attributes.get("mlflow.spanInputs"))
    answer = loosely_structured(attributes.get("mlflow.spanOutputs"))
    if kind not in _OF_MODELS or not isinstance(inputs, Mapping):
        return
    started = span.get("start_time_unix_nano") or span.get("start_time_ns")
    about = {
        "request": _body(inputs),
        "model": at_path(answer, "model") or inputs.get("model"),
        "time": iso_time(started or span.get("start_time"), 1_000_000_000),
        "record": _id("span", span.get("span_id") or at_path(span, "context.span_id")),
    }
    status = at_path(span, "status.code") or span.get("status_code")
    if status in ("ERROR", "STATUS_CODE_ERROR"):
        message = at_path(span, "status.message") or span.get("status_message")
        yield _error(failed({"message": message or "error"}, None), about)
    elif isinstance(answer, Mapping) and _is_answer(answer):
        yield document_turn({**about, "body": dict(answer)})


def turns_of_phoenix(record: Record) -> Iterator[LoggedTurn]:
    """Yield the turn of a span of Phoenix: a row of a table, or an object with `attributes`."""
    found = record.get(_ATTRIBUTES)
    attributes = dict(found) if isinstance(found, Mapping) else {}
    prefix = f"{_ATTRIBUTES}."
    attributes |= {
        key.removeprefix(prefix): value for key, value in record.items() if key.startswith(prefix)
    }
    span_id = record.get("context.span_id") or at_path(record, "context.span_id")
    started = record.get("start_time")
    time = started if isinstance(started, str) else None
    yield from turns_of_span(_flat(attributes), time, span_id)


def _flat(value: Record, path: str = "", depth: int = 0) -> dict[str, Any]:
    """Return nested attributes as `a.b`; lists stay."""
    found: dict[str, Any] = {}
    for key, item in value.items():
        name = f"{path}{key}"
        if isinstance(item, Mapping) and depth < 8:  # noqa: PLR2004 - deeper than any convention
            found |= _flat(item, f"{name}.", depth + 1)
        else:
            found[name] = item
    return found


def _error(error: Record, about: Record) -> LoggedTurn:
    return document_turn({**error, **about, "dialect": "openai-chat"})


def _body(value: object) -> Record | None:
    found = loosely_structured(value)
    return dict(found) if isinstance(found, Mapping) else None


def _asks_model(inputs: Record) -> bool:
    return "messages" in inputs or "contents" in inputs or {"input", "model"} <= inputs.keys()


def _is_answer(answer: Record) -> bool:
    return any(isinstance(answer.get(key), list) for key in _ANSWERS)


def _id(kind: str, value: object) -> str | None:
    return f"{kind} {value}" if value else None
