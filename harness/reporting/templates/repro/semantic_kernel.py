"""The semantic-kernel package: the sum of `get_streaming_chat_message_contents`."""

import asyncio

import openai
from semantic_kernel.connectors.ai.open_ai import (
    OpenAIChatCompletion,
    OpenAIChatPromptExecutionSettings,
)
from semantic_kernel.contents import ChatHistory
from semantic_kernel.exceptions import FunctionCallInvalidArgumentsException, KernelException

DOCUMENTED = (openai.OpenAIError, KernelException)


async def ask(base_url):
    """Return the messages of the stream."""
    client = openai.AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0)
    service = OpenAIChatCompletion(ai_model_id="any", async_client=client)
    history, settings = ChatHistory(), OpenAIChatPromptExecutionSettings()
    history.add_user_message("any")
    stream = service.get_streaming_chat_message_contents(history, settings)
    return [message async for message, *_ in stream]


def drive(base_url):
    """Return the turn as agent code gets it."""
    messages = asyncio.run(ask(base_url))
    if not messages:
        return {"calls": [], "failed": True}
    total = messages[0]
    for message in messages[1:]:
        total += message
    finish = total.finish_reason and total.finish_reason.value
    calls, rejected = [], []
    for item in total.items:
        if item.content_type == "function_call":
            try:
                calls.append((item.id, item.name, item.parse_arguments() or {}))
            except FunctionCallInvalidArgumentsException:
                rejected.append(item.name)
    return {
        "text": "".join(message.content for message in messages),
        "calls": calls,
        "rejected": rejected,
        "validates": finish == "length",
        "finish": finish,
    }
