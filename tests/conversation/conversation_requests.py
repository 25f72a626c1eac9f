"""A short history, and the bodies of requests, for the tests of what providers are asked."""

import json
from typing import Any

from harness.conversation.replies import next_request
from harness.providers import Capabilities
from harness.turns.deltas import ToolCall
from harness.turns.messages import Message, assistant, tool_result, user
from tests.conversation.conversation_provider import TOOLS, Provider

CALL = ToolCall("c1", "get_weather", '{"city": "Oslo"}')
HISTORY = (user("?"), assistant(None, [CALL]), tool_result("c1", "clear"), assistant("Clear."))


def body_of(
    dialect: str,
    *messages: Message,
    field: str = "",
    options: dict[str, Any] | None = None,
    uri: str = "",
) -> dict[str, Any]:
    task = Provider(b"").task(
        dialect=dialect, capabilities=Capabilities(reasoning_field=field), uri=uri
    )
    request = next_request(task, messages, TOOLS[:1], options or {})
    body: dict[str, Any] = json.loads(request.body)
    return body
