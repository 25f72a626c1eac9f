"""The openai-agents package: `OpenAIChatCompletionsModel.stream_response`, which its runner uses.

Text and reasoning are taken from its events; calls, refusal and usage from the response in the last
event. It has the form of the Responses API, which has no finish reason, so the runner executes the
calls of each response that it gets.
"""

import openai
from agents import AgentsException, ModelSettings, ModelTracing, OpenAIChatCompletionsModel

DOCUMENTED = (AgentsException, openai.OpenAIError)
REASONING = ("response.reasoning_text.delta", "response.reasoning_summary_text.delta")


def connect(base_url, http=None):
    """Return the model."""
    options = {"base_url": base_url, "api_key": "none", "max_retries": 0, "http_client": http}
    return OpenAIChatCompletionsModel("any", openai.AsyncOpenAI(**options))


async def drive(client, emit):
    """Emit what agent code gets."""
    response, disabled = None, ModelTracing.DISABLED
    events = client.stream_response(None, "any", ModelSettings(), [], None, [], disabled)
    async for event in events:
        if event.type == "response.output_text.delta":
            await emit("text", event.delta)
        elif event.type in REASONING:
            await emit("reasoning", event.delta)
        elif event.type == "response.completed":
            response = event.response
    for event in answer_of(response):
        await emit(*event)


def answer_of(response):
    """Yield usage, calls and end."""
    if response is None:
        yield "failure", "interrupted", "the package received no completed response"
        return
    if response.usage is not None:
        yield "usage", response.usage.input_tokens, response.usage.output_tokens
    for call in (item for item in response.output if item.type == "function_call"):
        if call.name:
            yield "call", call.call_id, call.name, call.arguments
        else:
            why = "the runner has no tool without a name"
            yield "rejected", call.call_id, "", call.arguments, why
    messages = [item for item in response.output if item.type == "message"]
    parts = [part for message in messages for part in message.content]
    refusal = next((part.refusal for part in parts if part.type == "refusal"), "")
    # How the package tells that an answer was withheld.
    if refusal == "Response withheld by the provider's content filter.":
        yield "finish", None, "content_filter"
    elif refusal:
        yield "failure", "refusal", str(refusal)
    else:
        yield "finish", None, "other"
