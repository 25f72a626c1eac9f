"""The strands-agents package: `process_stream` of `OpenAIModel.stream`, as its agents.

Text and reasoning are taken from the events; calls, finish and usage from the last event. The
package hands over an empty input if it cannot parse one. Its agents execute no call of an answer
that reached a limit. That is their choice, so calls with an input are not counted as rejected.
"""

import openai
from strands.event_loop.streaming import process_stream
from strands.models.openai import OpenAIModel
from strands.types.exceptions import ContextWindowOverflowException, ModelThrottledException

from harness.repro.drivers.shared.ends import failure_of

DOCUMENTED = (openai.OpenAIError,)
CAUSED = (ContextWindowOverflowException, ModelThrottledException)
# Stop reasons of the package, which has the same for each provider.
FINISH = {
    "end_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "content_filtered": "content_filter",
}


def connect(base_url, http=None):
    """Return the model."""
    options = {"base_url": base_url, "api_key": "none", "max_retries": 0, "http_client": http}
    return OpenAIModel(openai.AsyncOpenAI(**options), model_id="any")


async def drive(client, emit):
    """Emit what agent code gets."""
    stream = client.stream([{"role": "user", "content": [{"text": "any"}]}])
    try:
        async for event in process_stream(stream):
            await emit("reasoning", event.get("reasoningText"))
            await emit("text", event.get("data"))
            if "stop" in event:
                for found in answer_of(*event["stop"][:3]):
                    await emit(*found)
    except CAUSED as error:
        await emit("failure", *failure_of(error.__cause__))


def answer_of(word, message, usage):
    """Yield what the last event has."""
    if usage["totalTokens"]:
        yield "usage", usage["inputTokens"], usage["outputTokens"]
    for call in (block["toolUse"] for block in message["content"] if "toolUse" in block):
        found = call["toolUseId"], call["name"], call["input"]
        if call["input"] or word == "tool_use":
            yield "value", *found
        else:
            yield "rejected", *found, f"the agent executes no call after {word}"
    yield "finish", word, FINISH.get(word, "other")
