"""The semantic-kernel package: `get_streaming_chat_message_contents`, as its loop.

Text is taken from the messages; calls, finish and usage from their sum. The loop parses the
arguments with `FunctionCallContent.parse_arguments` and executes calls until a sum has none,
whatever the finish reason is.
"""

import openai
from semantic_kernel.connectors.ai.open_ai import (
    OpenAIChatCompletion,
    OpenAIChatPromptExecutionSettings,
)
from semantic_kernel.contents import ChatHistory
from semantic_kernel.exceptions import FunctionCallInvalidArgumentsException, KernelException

from harness.repro.drivers.shared.ends import failure_of, finish_by_calls
from harness.repro.drivers.shared.named import named

DOCUMENTED = (openai.OpenAIError,)


def connect(base_url, http=None):
    """Return the service."""
    options = {"base_url": base_url, "api_key": "none", "max_retries": 0, "http_client": http}
    return OpenAIChatCompletion(ai_model_id="any", async_client=openai.AsyncOpenAI(**options))


async def drive(client, emit):
    """Emit what agent code gets."""
    history, settings, messages = ChatHistory(), OpenAIChatPromptExecutionSettings(), []
    history.add_user_message("any")
    try:
        async for message, *_ in client.get_streaming_chat_message_contents(history, settings):
            messages.append(message)
            await emit("text", message.content)
        events = list(answer_of(messages))
    except KernelException as error:  # an exception of the package openai has caused it
        events = [("failure", *failure_of(error.__cause__ or error))]
    for event in events:
        await emit(*event)


def answer_of(messages):
    """Yield usage, calls and end of the sum of the messages."""
    if not messages:
        yield "failure", "empty_stream", "no message came"
        return
    total = sum(messages[1:], messages[0])
    usage = total.metadata.get("usage")
    if usage is not None:
        yield "usage", usage.prompt_tokens, usage.completion_tokens
    word = total.finish_reason and total.finish_reason.value
    calls = [item for item in total.items if item.content_type == "function_call"]
    for call in calls:
        try:
            arguments = call.parse_arguments() or {}
        except FunctionCallInvalidArgumentsException as error:
            yield "rejected", call.id, call.name, call.arguments, error
        else:
            yield named("checked" if word == "length" else "call", call.id, call.name, arguments)
    yield finish_by_calls(word, bool(calls))
