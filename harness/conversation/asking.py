"""History -> the request that is sent for the next turn, and its response -> the turn.

The history is kept in one form (`conversation.messages`); each API spells it in its own way,
one function each. What a prompt teaches in words is not in the request's fields.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from harness.conversation.messages import Message
from harness.conversation.task import Reply, Task
from harness.errors import UsageError
from harness.normalizers.protocol import Normalize
from harness.turns.fold import fold
from harness.turns.json_text import dump
from harness.turns.tools import Tool
from harness.turns.turn import Turn
from harness.wire.interaction import Interaction, Request

Json: TypeAlias = dict[str, Any]

_HEADERS: Final = (("content-type", "application/json"),)


def request_of(
    task: Task, messages: Sequence[Message], tools: Sequence[Tool], options: Mapping[str, Any]
) -> Request:
    """Return the request for the next turn.

    Args:
        task: whom to ask.
        messages: the history.
        tools: those that go into the request's own field; none for a taught prompt.
        options: further fields of the body, such as `parallel_tool_calls`.

    Raises:
        UsageError: nobody knows how to ask in the task's dialect.
    """
    spell = BODIES.get(task.dialect)
    if spell is None:
        raise UsageError(
            f"conversations cannot be had in the dialect {task.dialect!r}",
            hint=f"Known: {', '.join(sorted(BODIES))}.",
        )
    body = {"model": task.model, "stream": True, **spell(messages)}
    if tools:
        body["tools"] = [_declaration(tool) for tool in tools]
    return Request("POST", task.uri, _HEADERS, dump(body | dict(options)))


def read_turn(task: Task, request: Request, reply: Reply, normalize: Normalize) -> Turn:
    """Return the turn that a reply makes; the tools of a taught prompt are told beside it."""
    told = tuple(_declaration(tool)["function"] for tool in task.tools)
    interaction = Interaction(
        request, reply.status, reply.headers, b"", (), dialect=task.dialect, tools=told
    )
    return fold(normalize(interaction, reply.reads))


def _declaration(tool: Tool) -> Json:
    parameters = tool.parameters or {"type": "object", "properties": {}}
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def _openai_chat(messages: Sequence[Message]) -> Json:
    return {"messages": list(messages)}


def _ollama(messages: Sequence[Message]) -> Json:
    """Ollama takes arguments as objects, and names the tool in its result.

    Source: Ollama's API reference, `POST /api/chat`.
    """
    names = {
        call["id"]: call["function"]["name"]
        for message in messages
        for call in message.get("tool_calls", ())
    }
    return {"messages": [_ollama_message(message, names) for message in messages]}


def _ollama_message(message: Message, names: Mapping[str, str]) -> Message:
    if message["role"] == "tool":
        name = names.get(message["tool_call_id"], "")
        return {"role": "tool", "tool_name": name, "content": message["content"]}
    spelled = message | {"content": message["content"] or ""}
    if "tool_calls" in message:
        spelled["tool_calls"] = [_ollama_call(call["function"]) for call in message["tool_calls"]]
    return spelled


def _ollama_call(function: Json) -> Json:
    return {"function": {**function, "arguments": _object(function["arguments"])}}


def _object(text: str) -> Json:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # a number of more digits than Python reads, or no JSON
        return {"raw": text}
    return value if isinstance(value, dict) else {"raw": text}


def _cohere(messages: Sequence[Message]) -> Json:
    """Cohere takes no null: content that is not there has no key.

    Source: Cohere's API reference, `POST /v2/chat`.
    """
    return {"messages": [_without_null(message) for message in messages]}


def _without_null(message: Message) -> Message:
    return {key: value for key, value in message.items() if value is not None}


BODIES: Final[dict[str, Callable[[Sequence[Message]], Json]]] = {
    "cohere": _cohere,
    # Source: Mistral's API reference, `POST /v1/chat/completions`: messages as OpenAI's.
    "mistral": _openai_chat,
    "ollama": _ollama,
    "openai-chat": _openai_chat,
}
