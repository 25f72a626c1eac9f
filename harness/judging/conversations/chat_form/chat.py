"""OpenAI's chat API, whose messages are taken as they are, and Ollama's, which lack ids.

Source: API references of OpenAI's Chat Completions, and of Ollama, `POST /api/chat`.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from harness.judging.conversations.chat_form.form import Form, Json, dicts
from harness.judging.conversations.chat_form.parts import object_text

_FIELDS: Final = frozenset(("messages", "tools"))


def _listed(body: Json) -> Iterable[object]:
    listed = body.get("messages")
    return listed if isinstance(listed, list) else ()


def _tools(body: Json) -> Iterator[object]:
    return (item.get("function", item) for item in dicts(body.get("tools")))


def _ollama(body: Json) -> Iterator[object]:
    """Give Ollama's calls the ids that it does not have: results follow in the calls' order."""
    waiting: list[tuple[str, str]] = []  # id and name of calls without a result
    for place, message in enumerate(_listed(body)):
        if not isinstance(message, dict):
            yield message
            continue
        calls = message.get("tool_calls")
        if isinstance(calls, list):
            spelled = [_ollama_call(call, f"{place}.{at}") for at, call in enumerate(calls)]
            waiting = [(call["id"], call["function"]["name"]) for call in spelled]
            yield {**message, "content": message.get("content") or None, "tool_calls": spelled}
        elif message.get("role") == "tool":
            name = message.get("tool_name")
            match = next((each for each in waiting if name in (each[1], None)), None)
            waiting = [each for each in waiting if each != match]
            yield {**message, "tool_call_id": match[0] if match else f"none for {name}"}
        else:
            yield message


def _ollama_call(call: object, call_id: str) -> Json:
    function = call.get("function") if isinstance(call, dict) else None
    function = function if isinstance(function, dict) else {}
    arguments = object_text(function.get("arguments"))
    spelled = {"name": function.get("name"), "arguments": arguments}
    return {"id": call_id, "type": "function", "function": spelled}


OPENAI: Final = Form(_listed, _tools, _FIELDS, blocks=False)
OLLAMA: Final = Form(_ollama, _tools, _FIELDS, blocks=False)
