"""The openai-agents package: the response of `OpenAIChatCompletionsModel.stream_response`."""

import asyncio

import openai
from agents import AgentsException, ModelSettings, ModelTracing, OpenAIChatCompletionsModel

DOCUMENTED = (AgentsException, openai.OpenAIError)


async def stream(base_url):
    """Return the text of the events, and the last one."""
    client = openai.AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0)
    model = OpenAIChatCompletionsModel("any", client)
    disabled = ModelTracing.DISABLED
    text, response = "", None
    async for event in model.stream_response(None, "any", ModelSettings(), [], None, [], disabled):
        if event.type == "response.output_text.delta":
            text += event.delta
        elif event.type == "response.completed":
            response = event.response
    return text, response


def drive(base_url):
    """Return the turn as agent code gets it; the package has no finish reason."""
    text, response = asyncio.run(stream(base_url))
    items = response.output if response else []
    parts = [part for item in items if item.type == "message" for part in item.content]
    refusals = [part.refusal for part in parts if part.type == "refusal"]
    is_filtered = refusals[:1] == ["Response withheld by the provider's content filter."]
    calls = [item for item in items if item.type == "function_call"]
    return {
        "text": text,
        "calls": [(call.call_id, call.name, call.arguments) for call in calls],
        "failed": response is None or bool(refusals and not is_filtered),
    }
