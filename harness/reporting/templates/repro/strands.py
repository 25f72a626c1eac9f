"""The strands-agents package: `process_stream` of `OpenAIModel.stream`."""

import asyncio

import openai
from strands.event_loop.streaming import process_stream
from strands.models.openai import OpenAIModel
from strands.types.exceptions import ContextWindowOverflowException, ModelThrottledException

DOCUMENTED = (openai.OpenAIError, ContextWindowOverflowException, ModelThrottledException)
FINISH = {
    "end_turn": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "content_filtered": "content_filter",
}


async def ask(base_url):
    """Return the events of the stream."""
    options = {"base_url": base_url, "api_key": "none", "max_retries": 0}
    model = OpenAIModel(client_args=options, model_id="any")
    stream = model.stream([{"role": "user", "content": [{"text": "any"}]}])
    return [event async for event in process_stream(stream)]


def drive(base_url):
    """Return the turn as agent code gets it."""
    events = asyncio.run(ask(base_url))
    finish, message = next(event["stop"][:2] for event in events if "stop" in event)
    calls = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    # Its agents execute no call of an answer that reached a limit.
    executed = [call for call in calls if call["input"] or finish == "tool_use"]
    return {
        "text": "".join(event.get("data") or "" for event in events),
        "calls": [(call["toolUseId"], call["name"], call["input"]) for call in executed],
        "rejected": [call["name"] for call in calls if call not in executed],
        "finish": finish,
        "reason": FINISH.get(finish),
    }
