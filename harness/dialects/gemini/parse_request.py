"""Parse a generateContent request, and convert its messages to OpenAI's format.

The address names the model and requests a stream. Ids of calls are optional: a call without an id
gets one from its position, and a result without an id answers the first call of the turn that has
its name and no result yet. A result is an object; its only member besides `name` is what the tool
returned.
Source: Gemini API and Vertex AI API references, `generateContent`, `Part`, `FunctionResponse`.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from harness.dialects.gemini.partial_args import member
from harness.dialects.kit import parse_request as kit
from harness.dialects.kit.parse_request import Json
from harness.turns.deltas import SealedPlace
from harness.turns.json_values import as_dict, as_text, dicts, listed, text_of
from harness.turns.turn import Tool

_MODEL = re.compile(r"/models/([^/:?]+)(?::|%3A)(\w+)")


def parse_request(uri: str, body: Json) -> kit.ChatRequest:
    """Return the content of the request `body` that was sent to `uri`."""
    match = _MODEL.search(uri)
    named, method = match.groups() if match else ("", "")
    system = member(_inner(body), "systemInstruction")
    return kit.ChatRequest(
        model=named or as_text(body.get("model")).removeprefix("models/"),
        tools=tuple(map(_tool, _declarations(body))),
        system=text_of(system.get("parts") if isinstance(system, dict) else system),
        stream=method.startswith("stream") or ":streamGenerateContent" in uri,
    )


def _tool(declared: Json) -> Tool:
    schema = declared.get("parameters") or member(declared, "parametersJsonSchema")
    return kit.tool(declared.get("name"), declared.get("description"), schema)


def _messages(body: Json) -> Iterator[object]:
    return kit.joined_messages(_groups(body))


def _groups(body: Json) -> Iterator[Iterable[object]]:
    inner = _inner(body)
    parts = as_dict(member(inner, "systemInstruction")).get("parts")
    text = "".join(str(part.get("text") or "") for part in dicts(parts))
    if text:
        yield [{"role": "system", "content": text}]
    contents = _Contents()
    for place, content in enumerate(listed(inner.get("contents"))):
        yield contents.messages(content, place)


def _inner(body: Json) -> Json:
    """Return the request inside the object of Code Assist, or else the body itself."""
    inner = body.get("request")
    return inner if isinstance(inner, dict) else body


class _Contents:
    """Parses the messages of a request in order, and remembers which calls wait for results."""

    def __init__(self) -> None:
        self._waiting: list[tuple[str, object]] = []  # id and name

    def messages(self, content: object, place: int) -> Iterator[object]:
        if not isinstance(content, dict):
            yield content
            return
        parts = [
            parsed
            for at, part in enumerate(dicts(content.get("parts")))
            for parsed in self._parts(part, f"{place}.{at}")
        ]
        if content.get("role") == "model":
            self._waiting = [
                (each.id, each.name) for each in parts if isinstance(each, kit.CallPart)
            ]
            yield kit.assistant_message(parts)
        else:
            role = content.get("role") or "user"
            yield from kit.user_messages(parts, "user" if role == "function" else role)

    def _parts(self, part: Json, place: str) -> Iterator[kit.Part]:
        call, answer = member(part, "functionCall"), member(part, "functionResponse")
        if signature := as_text(member(part, "thoughtSignature")):
            yield kit.SealedPart("thoughtSignature", signature, _signed(part))
        if isinstance(call, dict):
            called = str(call.get("id") or place)
            # Arguments may be left out, and then there are none.
            yield kit.CallPart(called, call.get("name"), kit.object_arguments(call.get("args", {})))
        elif isinstance(answer, dict):
            yield self._result_part(answer)
        elif isinstance(part.get("text"), str):
            kind = kit.ReasoningPart if part.get("thought") else kit.TextPart
            yield kind(part["text"])
        else:
            yield kit.OtherPart(part)

    def _result_part(self, answer: Json) -> kit.ResultPart:
        name, given = answer.get("name"), answer.get("id")
        fits = (each for each in self._waiting if given in (each[0], None) and name == each[1])
        match = next(fits, None)
        self._waiting = [each for each in self._waiting if each != match]
        call_id = match[0] if match else given or f"none for {name}"
        return kit.ResultPart(call_id, _result(answer))


def _signed(part: Json) -> SealedPlace:
    """Return what the signature of a part belongs to: `call`, `reasoning` or `text`."""
    if member(part, "functionCall"):
        return "call"
    return "reasoning" if part.get("thought") else "text"


def _result(answer: Json) -> object:
    """Return what the tool returned, as text; a response that is not an object is unchanged."""
    response, parts = answer.get("response"), answer.get("parts")
    if parts:
        return [{"type": "other", "parts": parts}]  # pictures and files
    if not isinstance(response, dict):
        return response
    members = [value for key, value in response.items() if key != "name"]
    if len(members) != 1:
        return kit.json_text(response)
    (value,) = members
    if isinstance(value, list) and value and all(_is_text(each) for each in value):
        return "".join(each["text"] for each in value)
    return value if isinstance(value, str) else kit.json_text(value)


def _is_text(part: object) -> bool:
    return isinstance(part, dict) and part.keys() == {"text"} and isinstance(part["text"], str)


def _declarations(body: Json) -> Iterator[Json]:
    """Yield the declared functions, without tools of the provider such as search."""
    for item in dicts(_inner(body).get("tools")):
        yield from dicts(member(item, "functionDeclarations"))


_FIELDS: Final = ("contents", "systemInstruction", "system_instruction", "tools", "request")
MESSAGES: Final = kit.MessageForm(_messages, _declarations, frozenset(_FIELDS))
