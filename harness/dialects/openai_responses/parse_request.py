"""Parse a request of the Responses API, and convert its messages to OpenAI's format.

Items take the place of messages; consecutive items of the model are one turn.
Source: OpenAI API reference, "Create a model response"; "Realtime client events" for the `session`
that contains the same fields.
"""

from collections.abc import Iterator
from itertools import groupby
from typing import Any, Final

from harness.dialects.kit import parse_request as kit
from harness.dialects.kit.parse_request import Json
from harness.turns.json_values import as_dict, as_text, dicts, listed
from harness.turns.turn import Tool

_CALLED_BY_NAME = ("function", "custom")


def parse_request(uri: str, body: Json) -> kit.ChatRequest:
    """Return the content of the request `body` that was sent to `uri`.

    Messages of a Realtime session are a list of events. The last `response.create` overrides the
    last `session.update`.
    """
    events = list(dicts(body.get("events")))
    if events:
        body = _merged(events)
    session = body.get("session")
    holder = session if isinstance(session, dict) else body
    return kit.ChatRequest(
        model=as_text(holder.get("model")) or _model_of(uri),
        tools=tuple(_tools(holder.get("tools"))),
        system=kit.system_text(
            holder.get("input"), instructions=as_text(holder.get("instructions"))
        ),
        stream=body.get("stream") is True or holder is session,
    )


def _merged(events: list[Json]) -> Json:
    """Return the session that the client's events configure, with its input items."""
    session: Json = {}
    items = []
    for event in events:
        session |= as_dict(event.get("session")) | as_dict(event.get("response"))
        items += [event["item"]] if isinstance(event.get("item"), dict) else []
    return {"session": {**session, "input": items}}


def _model_of(uri: str) -> str:
    """Return the model in the query, which the address of a Realtime session has."""
    fields = (field.partition("=") for field in uri.partition("?")[2].split("&"))
    return next((value for name, _, value in fields if name == "model"), "")


def _tools(declared: object) -> Iterator[Tool]:
    """Yield the tools that are called by a name, also those in a namespace."""
    for item in dicts(declared):
        if item.get("type") == "namespace":
            yield from map(_tool, dicts(item.get("tools")))
        elif item.get("type") in _CALLED_BY_NAME:
            yield _tool(item)


def _tool(item: Json) -> Tool:
    # Some servers accept the form of the chat API too; OpenAI ignores it next to a name.
    nested = None if "name" in item else item.get("function")
    return kit.declared_tool(nested if isinstance(nested, dict) else item)


_TEXTS: Final = ("input_text", "output_text", "text", "refusal")


def _messages(body: Json) -> Iterator[object]:
    content = body.get("input")
    if instructions := as_text(body.get("instructions")):
        yield {"role": "system", "content": instructions}
    if isinstance(content, str):
        yield {"role": "user", "content": content}
    for is_models, items in groupby(listed(content), _is_models):
        if is_models:
            yield kit.assistant_message(part for item in items for part in _parts(item))
        else:
            for item in items:
                yield from _user_messages(item)


def _is_models(item: object) -> bool:
    if not isinstance(item, dict):
        return False
    kind = item.get("type") or "message"
    if kind == "message":
        return item.get("role") == "assistant"
    return kind not in _RESULTS


def _user_messages(item: object) -> Iterator[object]:
    if isinstance(item, dict):
        yield from kit.user_messages(_parts(item), item.get("role", "user"))
    else:
        yield item


def _parts(item: Json) -> Iterator[kit.Part]:
    kind = item.get("type") or "message"
    if kind == "message":
        yield from _texts(item.get("content"))
    elif kind in ("function_call", "custom_tool_call"):
        arguments = item.get("arguments")
        if kind == "custom_tool_call":
            # The free text of a custom tool is its only argument, as in the tool loop.
            arguments = kit.json_text({"input": item.get("input")})
        namespace = as_text(item.get("namespace"))
        yield kit.CallPart(str(item.get("call_id") or ""), item.get("name"), arguments, namespace)
    elif kind in _RESULTS:
        yield kit.ResultPart(item.get("call_id"), item.get("output"))
    elif kind == "reasoning":
        yield from _reasoning(item)
    else:
        yield kit.OtherPart(item)


def _texts(content: Any) -> Iterator[kit.Part]:  # noqa: ANN401 - a client may send any value
    if isinstance(content, str):
        yield kit.TextPart(content)
    for part in dicts(content):
        if part.get("type") in _TEXTS:
            yield kit.TextPart(str(part.get("text") or part.get("refusal") or ""))
        else:
            yield kit.OtherPart(part)


def _reasoning(item: Json) -> Iterator[kit.Part]:
    """Yield the text of a reasoning item; without text, its id or encrypted content counts."""
    texts = [str(part.get("text") or "") for part in dicts(item.get("content"))]
    if texts:
        yield kit.ReasoningPart("".join(texts))
    if item.get("encrypted_content") or not texts:
        encrypted, item_id = as_text(item.get("encrypted_content")), as_text(item.get("id"))
        yield kit.SealedPart("reasoning", encrypted, id=item_id)


_RESULTS: Final = ("function_call_output", "custom_tool_call_output")
MESSAGES: Final = kit.MessageForm(
    _messages,
    lambda body: dicts(body.get("tools")),
    frozenset(("input", "instructions", "tools")),
)
