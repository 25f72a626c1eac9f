"""The ag2 package: the client of `OpenAIConfig(streaming=True)`, as its agents call it.

Text and reasoning are taken from the events that it sends to its stream; calls, finish and usage
from the response that it returns. Its agents execute calls until a response has none, whatever the
finish reason is.
"""

import openai
from ag2.config import OpenAIConfig
from ag2.context import ConversationContext
from ag2.events import ModelMessageChunk, ModelReasoning
from ag2.stream import MemoryStream

from harness.repro.drivers.shared.ends import finish_by_calls
from harness.repro.drivers.shared.named import named

DOCUMENTED = (openai.OpenAIError,)


def connect(base_url, http=None):
    """Return the client of the configuration."""
    options = {"base_url": base_url, "api_key": "none", "max_retries": 0, "http_client": http}
    return OpenAIConfig(model="any", streaming=True, **options).create()


async def drive(client, emit):
    """Emit what agent code gets."""
    stream = MemoryStream()

    async def receive(event):
        if isinstance(event, ModelReasoning):
            await emit("reasoning", event.content)
        elif isinstance(event, ModelMessageChunk):
            await emit("text", event.content)

    stream.subscribe(receive)
    context = ConversationContext(stream)
    response = await client((), context, tools=(), response_schema=None, serializer=None)
    await emit("usage", response.usage.prompt_tokens, response.usage.completion_tokens)
    calls = response.tool_calls.calls
    for call in calls:
        await emit(*named("call", call.id, call.name, call.arguments))
    await emit(*finish_by_calls(response.finish_reason, bool(calls)))
