"""History -> the request that is sent for the next turn, and its response -> the turn.

The history is kept in one form (`conversation.messages`); each API spells it in its own way,
one function each. What a prompt teaches in words is not in the request's fields.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from harness.conversation.task import Reply, Task
from harness.dialects.anthropic import build_request
from harness.dialects.bedrock_converse.build_request import bedrock_converse
from harness.dialects.gemini.build_request import gemini
from harness.dialects.kit.build_request import (
    BuildRequest,
    RequestSpec,
    chat_body,
    chat_body_without_null,
    declaration,
)
from harness.dialects.ollama.build_request import ollama
from harness.dialects.openai_responses.build_request import openai_responses
from harness.errors import UsageError
from harness.normalizers.protocol import Normalize
from harness.turns.exact_json import encode_json
from harness.turns.fold import fold
from harness.turns.messages import Message
from harness.turns.turn import Tool, Turn
from harness.wire.interaction import Headers, Interaction, Request

BODIES: Final[dict[str, BuildRequest]] = {
    "anthropic": build_request.anthropic,
    "bedrock-converse": bedrock_converse,
    "cohere": chat_body_without_null,
    "gemini": gemini,
    # Source: Mistral's API reference, `POST /v1/chat/completions`: messages as OpenAI's.
    "mistral": chat_body,
    "ollama": ollama,
    "openai-chat": chat_body,
    "openai-responses": openai_responses,
}
_HEADERS: Final[Headers] = (("content-type", "application/json"),)
_DIALECT_HEADERS: Final[dict[str, Headers]] = {"anthropic": build_request.HEADERS}


def next_request(
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
    field = task.capabilities.reasoning_field
    asked = RequestSpec(task.model, task.uri, tuple(messages), tuple(tools), options, field)
    headers = (*_HEADERS, *_DIALECT_HEADERS.get(task.dialect, ()))
    return Request("POST", task.uri, headers, encode_json(spell(asked)))


def read_turn(task: Task, request: Request, reply: Reply, normalize: Normalize) -> Turn:
    """Return the turn that a reply makes; the tools of a taught prompt are told beside it."""
    told = tuple(declaration(tool)["function"] for tool in task.tools)
    interaction = Interaction(
        request, reply.status, reply.headers, b"", (), dialect=task.dialect, tools=told
    )
    return fold(normalize(interaction, reply.reads))
