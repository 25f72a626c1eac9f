"""Convert spans of calls to models into turns: OpenTelemetry's conventions, and those before them.

Sources: OpenTelemetry, "Semantic conventions for generative AI" (attributes of spans) and OTLP's
JSON encoding; OpenInference, "Semantic conventions" (Phoenix); OpenLLMetry's `gen_ai.completion`.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from harness.errors import UnreadableError
from harness.measuring.logged_values import (
    Record,
    chat_document,
    document_turn,
    failed,
    iso_time,
    listed,
    structured,
)
from harness.measuring.records import LoggedTurn
from harness.turns.json_values import at_path

_FINISHES: Final = {"tool_call": "tool_calls"}
# Attributes with the name of the prompt; the first one counts.
_PROMPTS: Final = (
    "gen_ai.prompt.name",
    "gen_ai.prompt.id",
    "langfuse.observation.prompt.name",
    "traceloop.prompt.key",
    "prompt.name",
    "prompt.id",
)
_VERSION: Final = "gen_ai.prompt.version"
_OF_MODELS: Final = frozenset({"chat", "generate_content", "text_completion"})
_ERROR: Final = "error.type"
_MOST_ITEMS: Final = 10_000


def turns_of_otlp(record: Record) -> Iterator[LoggedTurn]:
    """Yield the turns of the spans in one record of OTLP's JSON encoding."""
    for resource in listed(record["resourceSpans"]):
        for scope in listed(at_path(resource, "scopeSpans")):
            for span in listed(at_path(scope, "spans")):
                if isinstance(span, Mapping):
                    attributes = _plain_attributes(span.get("attributes"))
                    started = iso_time(span.get("startTimeUnixNano"), 1_000_000_000)
                    yield from turns_of_span(attributes, started, span.get("spanId"))


def _plain_attributes(value: object) -> dict[str, Any]:
    pairs = (each for each in listed(value) if isinstance(each, Mapping))
    return {str(each.get("key")): _value(each.get("value")) for each in pairs}


def _value(value: object) -> Any:  # noqa: ANN401 - any value of OTLP
    """Convert an `AnyValue` of OTLP's JSON encoding to plain JSON."""
    if not isinstance(value, Mapping) or len(value) != 1:
        return None
    kind, held = next(iter(value.items()))
    if kind == "arrayValue":
        return [_value(each) for each in listed(at_path(held, "values"))]
    if kind == "kvlistValue":
        return _plain_attributes(at_path(held, "values"))
    return held


def turns_of_span(attributes: Record, started: str | None, span_id: object) -> Iterator[LoggedTurn]:
    """Yield the turn of a span; nothing if the span is not a call to a model.

    Args:
        attributes: the attributes of the span as plain JSON.
        started: when the span began, as ISO 8601.
        span_id: the id of the span, which findings name.
    """
    about = {
        "dialect": "openai-chat",  # into which the answer is written below
        "provider": attributes.get("gen_ai.provider.name") or attributes.get("gen_ai.system"),
        "time": started,
        "record": f"span {span_id}" if span_id else None,
        "prompt": _prompt(attributes),
    }
    if "gen_ai.output.messages" in attributes:
        yield _of_messages(attributes, about)
    elif any(key.startswith("gen_ai.completion.") for key in attributes):
        yield _of_indexed(attributes, about, _OPENLLMETRY)
    elif any(key.startswith("llm.output_messages") for key in attributes):
        yield _of_indexed(attributes, about, _OPENINFERENCE)
    elif attributes.get(_ERROR) and attributes.get("gen_ai.operation.name") in _OF_MODELS:
        model = attributes.get("gen_ai.request.model")
        error = failed({"message": str(attributes[_ERROR])}, attributes[_ERROR])
        yield document_turn({**error, **about, "model": model})


def _prompt(attributes: Record) -> str | None:
    name = next((attributes[key] for key in _PROMPTS if attributes.get(key)), None)
    version = attributes.get(_VERSION)
    if name is None:
        return None
    return f"{name}@{version}" if version else str(name)


# OpenTelemetry since v1.37


def _of_messages(attributes: Record, about: Record) -> LoggedTurn:
    messages = listed(structured(attributes["gen_ai.output.messages"]))
    if not messages:
        raise UnreadableError("`gen_ai.output.messages` has no message")
    if not isinstance(messages[0], Mapping):
        found = type(messages[0]).__name__
        raise UnreadableError(f"`gen_ai.output.messages[0]`: expected an object, found {found}")
    parts = _parts(messages[0])
    calls = [each for each in parts if each.get("type") == "tool_call"]
    finish = messages[0].get("finish_reason")
    model = attributes.get("gen_ai.request.model")
    tools = listed(structured(attributes.get("gen_ai.tool.definitions")))
    asked = [
        *_system(structured(attributes.get("gen_ai.system_instructions"))),
        *_asked(structured(attributes.get("gen_ai.input.messages"))),
    ]
    declared = [_tool(each) for each in tools] or None
    request = {"model": model, "messages": asked, "tools": declared}
    body = chat_document(
        _joined(parts, "text"),
        _joined(parts, "reasoning"),
        [(each.get("id"), each.get("name"), each.get("arguments")) for each in calls],
        _FINISHES.get(str(finish), finish),
    )
    record = {
        **about,
        "body": body,
        "model": attributes.get("gen_ai.response.model") or model,
        "request": request if asked or tools else None,
    }
    return document_turn(record, *(() if finish else ("finish",)))


def _parts(message: Record) -> list[Record]:
    return [each for each in listed(message.get("parts")) if isinstance(each, Mapping)]


def _joined(parts: list[Record], kind: str) -> str:
    texts = (each.get("content") for each in parts if each.get("type") == kind)
    return "".join(each for each in texts if isinstance(each, str))


def _tool(value: object) -> Record:
    """Return a tool of the request; some writers put it into `function` as the API does."""
    wrapped = at_path(value, "function")
    return {"type": "function", "function": wrapped if isinstance(wrapped, Mapping) else value}


def _system(value: object) -> Iterator[Record]:
    """Yield the system message of `gen_ai.system_instructions`: a list of parts, or text."""
    parts = [each for each in listed(value) if isinstance(each, Mapping)]
    text = value if isinstance(value, str) else _joined(parts, "text")
    if text:
        yield {"role": "system", "content": text}


def _asked(value: object) -> Iterator[Record]:
    """Yield the messages of the request with their text; calls and results are left out."""
    for each in listed(value):
        if isinstance(each, Mapping):
            yield {
                "role": str(each.get("role") or "user"),
                "content": _joined(_parts(each), "text"),
            }


# Conventions with one attribute for each member of a message


class _Layout(msgspec.Struct, frozen=True):
    """The names of attributes of one convention.

    Fields:
        answers, asked, tools: the start of the attributes of each message or tool.
        message: the part of a name between the index and the member.
        call: the part of a name between the index of a call and its members.
        model: the attributes with the model; the first one counts.
        finish: the member of a message with the finish reason.
    """

    answers: str
    asked: str
    tools: str
    message: str
    call: str
    model: tuple[str, ...]
    finish: str


_OPENLLMETRY: Final = _Layout(
    "gen_ai.completion",
    "gen_ai.prompt",
    "llm.request.functions",
    "",
    "",
    ("gen_ai.response.model", "gen_ai.request.model"),
    "finish_reason",
)
_OPENINFERENCE: Final = _Layout(
    "llm.output_messages",
    "llm.input_messages",
    "llm.tools",
    "message",
    "tool_call.function",
    ("llm.model_name",),
    "finish_reason",
)


def _of_indexed(attributes: Record, about: Record, layout: _Layout) -> LoggedTurn:
    tree = nested(attributes)
    answers = _items(tree, layout.answers, layout.message)
    if not answers:
        raise UnreadableError(f"`{layout.answers}` has no message")
    answer = answers[0]
    calls = []
    for each in _list_of(answer.get("tool_calls")):
        call = at_path(each, layout.call) if layout.call else each
        id_ = at_path(each, "tool_call.id") if layout.call else at_path(each, "id")
        calls.append((id_, at_path(call, "name"), at_path(call, "arguments")))
    asked = [
        {"role": str(each.get("role") or "user"), "content": each.get("content") or ""}
        for each in _items(tree, layout.asked, layout.message)
    ]
    tools = [tool for each in _list_of(at_path(tree, layout.tools)) if (tool := _declared(each))]
    finish = answer.get(layout.finish)
    model = next((attributes[key] for key in layout.model if attributes.get(key)), None)
    record = {
        **about,
        "body": chat_document(
            answer.get("content"), None, calls, _FINISHES.get(str(finish), finish)
        ),
        "model": model,
        "provider": about.get("provider") or attributes.get("llm.provider"),
        "request": {"model": model, "messages": asked, "tools": tools or None} if asked else None,
    }
    return document_turn(record, *(() if finish else ("finish",)))


def _declared(value: object) -> Record | None:
    schema = structured(at_path(value, "tool.json_schema"))
    if isinstance(schema, Mapping):
        return dict(schema) if "function" in schema else {"type": "function", "function": schema}
    if not isinstance(value, Mapping) or "name" not in value:
        return None
    function = {**value, "parameters": structured(value.get("parameters")) or {}}
    return {"type": "function", "function": function}


def _items(tree: Record, path: str, member: str) -> list[Record]:
    items = (at_path(each, member) if member else each for each in _list_of(at_path(tree, path)))
    return [each for each in items if isinstance(each, Mapping)]


def nested(attributes: Record) -> dict[str, Any]:
    """Return attributes such as `a.0.b` as objects in objects."""
    tree: dict[str, Any] = {}
    for name, value in attributes.items():
        *path, last = name.split(".")
        here = tree
        for key in path:
            inner = here.setdefault(key, {})
            if not isinstance(inner, dict):
                break
            here = inner
        else:
            here[last] = nested_items(value)
    return tree


def nested_items(value: object) -> object:
    """Return a list whose objects have such names, too, as in a table of spans."""
    if isinstance(value, list) and any(isinstance(each, Mapping) for each in value):
        return [nested(each) if isinstance(each, Mapping) else each for each in value]
    return value


def _list_of(value: object) -> list[Any]:
    """Return the items of a list, or of an object with the numbers of the items as keys."""
    if isinstance(value, Mapping):
        numbers = sorted((key for key in value if str(key).isdecimal()), key=int)
        return [value[key] for key in numbers[:_MOST_ITEMS]]
    return listed(value)
