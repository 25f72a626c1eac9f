"""The any-llm package: the chunks of `AnyLLM.acompletion`."""

import asyncio

from any_llm import AnyLLM
from any_llm.exceptions import AnyLLMError
from shared.chat_chunks import joined

DOCUMENTED = (AnyLLMError,)
PROVIDERS = {
    "openai-chat": "openai",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "mistral": "mistral",
}


async def stream(base_url):
    """Return the chunks."""
    client = AnyLLM.create(
        PROVIDERS[DIALECT], api_key="none", api_base=base_url, unified_exceptions=True
    )
    messages = [{"role": "user", "content": "any"}]
    return [chunk async for chunk in await client.acompletion("any", messages, stream=True)]


def drive(base_url):
    """Return the turn as agent code gets it."""
    return joined(asyncio.run(stream(base_url)))
