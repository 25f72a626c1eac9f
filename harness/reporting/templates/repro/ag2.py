"""The ag2 package: the response of the client of `OpenAIConfig(streaming=True)`."""

import asyncio

import openai
from ag2.config import OpenAIConfig
from ag2.context import ConversationContext
from ag2.events import ModelMessageChunk
from ag2.stream import MemoryStream

DOCUMENTED = (openai.OpenAIError,)


async def ask(base_url):
    """Return the text of the events, and the response."""
    config = OpenAIConfig(
        model="any", streaming=True, base_url=base_url, api_key="none", max_retries=0
    )
    stream, texts = MemoryStream(), []

    async def receive(event):
        if isinstance(event, ModelMessageChunk):
            texts.append(event.content)

    stream.subscribe(receive)
    context = ConversationContext(stream)
    response = await config.create()((), context, tools=(), response_schema=None, serializer=None)
    return "".join(texts), response


def drive(base_url):
    """Return the turn as agent code gets it."""
    text, response = asyncio.run(ask(base_url))
    return {
        "text": text,
        "calls": [(call.id, call.name, call.arguments) for call in response.tool_calls.calls],
        "finish": response.finish_reason,
    }
