"""History -> the request that is sent for the next turn, and its response -> the turn.

The history is kept in one form (`conversation.messages`); each API spells it in its own way,
one function each. What a prompt teaches in words is not in the request's fields.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from harness.conversation.asking import anthropic
from harness.conversation.asking.asked import Asked, Spell, declaration
from harness.conversation.asking.bedrock_converse import bedrock_converse
from harness.conversation.asking.chat import cohere, openai_chat
from harness.conversation.asking.gemini import gemini
from harness.conversation.asking.ollama import ollama
from harness.conversation.asking.openai_responses import openai_responses
from harness.conversation.messages import Message
from harness.conversation.task import Reply, Task
from harness.errors import UsageError
from harness.normalizers.protocol import Normalize
from harness.turns.fold import fold
from harness.turns.json_text import dump
from harness.turns.tools import Tool
from harness.turns.turn import Turn
from harness.wire.interaction import Headers, Interaction, Request

BODIES: Final[dict[str, Spell]] = {
    "anthropic": anthropic.anthropic,
    "bedrock-converse": bedrock_converse,
    "cohere": cohere,
    "gemini": gemini,
    # Source: Mistral's API reference, `POST /v1/chat/completions`: messages as OpenAI's.
    "mistral": openai_chat,
    "ollama": ollama,
    "openai-chat": openai_chat,
    "openai-responses": openai_responses,
}
_HEADERS: Final[Headers] = (("content-type", "application/json"),)
_FURTHER: Final[dict[str, Headers]] = {"anthropic": anthropic.HEADERS}


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
    field = task.capabilities.reasoning_field
    asked = Asked(task.model, task.uri, tuple(messages), tuple(tools), options, field)
    headers = (*_HEADERS, *_FURTHER.get(task.dialect, ()))
    return Request("POST", task.uri, headers, dump(spell(asked)))


def read_turn(task: Task, request: Request, reply: Reply, normalize: Normalize) -> Turn:
    """Return the turn that a reply makes; the tools of a taught prompt are told beside it."""
    told = tuple(declaration(tool)["function"] for tool in task.tools)
    interaction = Interaction(
        request, reply.status, reply.headers, b"", (), dialect=task.dialect, tools=told
    )
    return fold(normalize(interaction, reply.reads))
