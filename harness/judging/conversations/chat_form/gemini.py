"""Gemini's contents: parts of the user and of the model; ids are optional.

A call without an id gets one by its place, and a result without one answers the first call of
the turn that has its name and no result yet. A result is an object: where it has one member
beside its name, that is what the tool returned.
Source: Gemini API reference, `models.generateContent`, `Part`, `FunctionResponse`.
"""

from collections.abc import Iterator
from typing import Any, Final

from harness.judging.conversations.chat_form.form import Form, Json, dicts
from harness.judging.conversations.chat_form.parts import (
    Answered,
    Called,
    Other,
    Part,
    Sealed,
    Text,
    Thought,
    object_text,
    of_the_model,
    of_the_user,
)
from harness.judging.conversations.session import as_text


def _messages(body: Json) -> Iterator[object]:
    inner = _inner(body)
    instruction = _member(inner, "systemInstruction")
    parts = instruction.get("parts") if isinstance(instruction, dict) else None
    text = "".join(str(part.get("text") or "") for part in dicts(parts))
    if text:
        yield {"role": "system", "content": text}
    walk = _Walk()
    listed = inner.get("contents")
    for place, content in enumerate(listed if isinstance(listed, list) else ()):
        yield from walk.messages(content, place)


def _inner(body: Json) -> Json:
    """Return the request that Code Assist wraps; the body itself where nothing is wrapped."""
    inner = body.get("request")
    return inner if isinstance(inner, dict) else body


def _member(value: Json, name: str) -> Any:  # noqa: ANN401 - of a request that anybody sent
    """Return a member under its name, or as Python clients spell it."""
    snake = "".join(f"_{sign.lower()}" if sign.isupper() else sign for sign in name)
    return value.get(name, value.get(snake))


class _Walk:
    """One way through the contents: knows which calls wait for their results."""

    def __init__(self) -> None:
        self._waiting: list[tuple[str, object]] = []  # id and name

    def messages(self, content: object, place: int) -> Iterator[object]:
        if not isinstance(content, dict):
            yield content
            return
        parts = [
            said
            for at, part in enumerate(dicts(content.get("parts")))
            for said in self._parts(part, f"{place}.{at}")
        ]
        if content.get("role") == "model":
            self._waiting = [(each.id, each.name) for each in parts if isinstance(each, Called)]
            yield of_the_model(parts)
        else:
            role = content.get("role") or "user"
            yield from of_the_user(parts, "user" if role == "function" else role)

    def _parts(self, part: Json, place: str) -> Iterator[Part]:
        call, answer = _member(part, "functionCall"), _member(part, "functionResponse")
        if _member(part, "thoughtSignature"):
            yield Sealed("thoughtSignature")
        if isinstance(call, dict):
            called = str(call.get("id") or place)
            # Arguments may be left out, and then there are none.
            yield Called(called, call.get("name"), object_text(call.get("args", {})))
        elif isinstance(answer, dict):
            yield self._answered(answer)
        elif isinstance(part.get("text"), str):
            yield Thought(part["text"]) if part.get("thought") else Text(part["text"])
        else:
            yield Other(part)

    def _answered(self, answer: Json) -> Answered:
        name, given = answer.get("name"), answer.get("id")
        fits = (each for each in self._waiting if given in (each[0], None) and name == each[1])
        match = next(fits, None)
        self._waiting = [each for each in self._waiting if each != match]
        call_id = match[0] if match else given or f"none for {name}"
        return Answered(call_id, _result(answer))


def _result(answer: Json) -> object:
    """Return what the tool returned, as text; a response that is no object is none."""
    response, parts = answer.get("response"), answer.get("parts")
    if parts:
        return [{"type": "other", "parts": parts}]  # pictures and files
    if not isinstance(response, dict):
        return response
    members = [value for key, value in response.items() if key != "name"]
    if len(members) != 1:
        return as_text(response)
    (value,) = members
    if isinstance(value, list) and value and all(_is_text(each) for each in value):
        return "".join(each["text"] for each in value)
    return value if isinstance(value, str) else as_text(value)


def _is_text(part: object) -> bool:
    return isinstance(part, dict) and part.keys() == {"text"} and isinstance(part["text"], str)


def _tools(body: Json) -> Iterator[object]:
    for tool in dicts(_inner(body).get("tools")):
        yield from dicts(_member(tool, "functionDeclarations"))


_FIELDS: Final = ("contents", "systemInstruction", "system_instruction", "tools", "request")
FORM: Final = Form(_messages, _tools, frozenset(_FIELDS))
