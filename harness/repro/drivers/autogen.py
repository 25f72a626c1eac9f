"""The autogen-ext package: `OpenAIChatCompletionClient.create_stream`.

It yields text, and the result at the end. Text is taken from what it yields, in which reasoning is
text between `<think>` and `</think>`; calls, finish, usage, and the reasoning beside text from the
result. Its agents execute the calls of a result, whatever the finish reason is.
"""

import openai
from autogen_core.models import UserMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient

from harness.repro.drivers.shared.ends import finish_by_calls
from harness.repro.drivers.shared.named import named

DOCUMENTED = (openai.OpenAIError,)
# Finish reasons of the package, which has the same for each provider.
FINISH = {
    "stop": "stop",
    "function_calls": "tool_calls",
    "length": "length",
    "content_filter": "content_filter",
}
# What a user declares of a model that the package does not know.
MODEL = {
    "vision": False,
    "function_calling": True,
    "json_output": False,
    "structured_output": False,
    "family": "unknown",
}


def connect(base_url, http=None):
    """Return the client."""
    options = {"base_url": base_url, "api_key": "none", "max_retries": 0, "http_client": http}
    return OpenAIChatCompletionClient(model="any", model_info=MODEL, **options)


async def drive(client, emit):
    """Emit what agent code gets."""
    asked = [UserMessage(content="any", source="user")]
    async for item in client.create_stream(asked, include_usage=True):
        for event in [("text", item)] if isinstance(item, str) else answer_of(item):
            await emit(*event)


def answer_of(result):
    """Yield what the result has in addition to the text; next to calls, its `thought` is text."""
    has_calls = not isinstance(result.content, str)
    if not has_calls:
        yield "reasoning", result.thought
    usage = result.usage
    if usage.prompt_tokens or usage.completion_tokens:
        yield "usage", usage.prompt_tokens, usage.completion_tokens
    for call in result.content if has_calls else ():
        yield named("call", call.id, call.name, call.arguments)
    word = None if result.finish_reason == "unknown" else result.finish_reason
    yield finish_by_calls(word, has_calls, FINISH)
