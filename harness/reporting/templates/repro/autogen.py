"""The autogen-ext package: the result of `OpenAIChatCompletionClient.create_stream`."""

import asyncio

import openai
from autogen_core.models import UserMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient

DOCUMENTED = (openai.OpenAIError,)
FINISH = {"function_calls": "tool_calls"}
MODEL = {
    "vision": False,
    "function_calling": True,
    "json_output": False,
    "structured_output": False,
    "family": "unknown",
}


async def ask(base_url):
    """Return the items of the stream; the last one is the result."""
    client = OpenAIChatCompletionClient(
        model="any", model_info=MODEL, base_url=base_url, api_key="none", max_retries=0
    )
    messages = [UserMessage(content="any", source="user")]
    return [item async for item in client.create_stream(messages, include_usage=True)]


def drive(base_url):
    """Return the turn as agent code gets it."""
    *_, result = asyncio.run(ask(base_url))
    has_calls = not isinstance(result.content, str)
    calls = result.content if has_calls else ()
    return {
        "text": (result.thought or "") if has_calls else result.content,
        "calls": [(call.id, call.name, call.arguments) for call in calls],
        "finish": None if result.finish_reason == "unknown" else result.finish_reason,
    }
