"""The pydantic-ai package: `direct.model_request_stream_sync`, which its agent uses.

Text and thinking are taken from its events; calls, finish and usage from the response. Its agent
executes the calls of a response whose stream raised no exception.
"""

import json

import anthropic
import openai
from pydantic_ai.direct import model_request_stream_sync
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.messages import ModelRequest
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from harness.repro.drivers.shared.ends import failure_of
from harness.repro.drivers.shared.times import times_of

DOCUMENTED = (AgentRunError,)
# Finish reasons of the package, which has the same for each provider.
FINISH = {
    "stop": "stop",
    "tool_call": "tool_calls",
    "length": "length",
    "content_filter": "content_filter",
}


def connect(base_url, dialect, http=None, timeout=None, max_retries=0):
    """Return the model for an API, which has a client of the provider's package."""
    options = {"base_url": base_url, "api_key": "none", "http_client": http}
    options |= times_of(timeout, max_retries)
    if dialect == "anthropic":
        provider = AnthropicProvider(anthropic_client=anthropic.AsyncAnthropic(**options))
        return AnthropicModel("any", provider=provider)
    provider = OpenAIProvider(openai_client=openai.AsyncOpenAI(**options))
    return OpenAIChatModel("any", provider=provider)


def drive(client):
    """Yield what agent code gets."""
    response = None
    try:
        with model_request_stream_sync(client, [ModelRequest.user_text_prompt("any")]) as stream:
            try:
                for event in stream:
                    yield from events_of(event)
            finally:
                response = stream.response
    except DOCUMENTED as error:
        yield from rejected(response.tool_calls if response is not None else (), str(error))
        yield "failure", *failure_of(error)
    else:
        yield from answer_of(response)


def events_of(event):
    """Yield text or thinking of one event."""
    kind, text = "", None
    if event.event_kind == "part_start":
        kind, text = event.part.part_kind, getattr(event.part, "content", None)
    elif event.event_kind == "part_delta":
        kind, text = event.delta.part_delta_kind, getattr(event.delta, "content_delta", None)
    if kind in ("text", "thinking"):
        yield "text" if kind == "text" else "reasoning", text


def answer_of(response):
    """Yield calls and end as the agent sees them: it continues as long as a response has calls."""
    calls, reason = response.tool_calls, response.finish_reason
    yield "usage", response.usage.input_tokens, response.usage.output_tokens
    if len({call.tool_call_id for call in calls}) < len(calls):
        why = "the agent raises UnexpectedModelBehavior if two calls have the same id"
        yield from rejected(calls, why)
        yield "failure", "error", why
        return
    for call in calls:
        if not call.tool_name:
            yield from rejected([call], "the agent has no tool without a name")
        else:
            kind = "checked" if reason == "length" else "call"
            yield kind, call.tool_call_id, call.tool_name, "" if call.args is None else call.args
    details = response.provider_details or {}
    word = str(details.get("finish_reason") or "")
    if details.get("refusal"):
        yield "failure", "refusal", details["refusal"]
    elif reason == "error":
        yield "failure", "error", word
    else:
        meaning = FINISH.get(reason, "other")
        yield "finish", word, "tool_calls" if calls and meaning in ("stop", "other") else meaning


def rejected(calls, why):
    """Yield calls that the agent does not execute."""
    for call in calls:
        arguments = call.args if isinstance(call.args, str) else json.dumps(call.args or {})
        yield "rejected", call.tool_call_id, call.tool_name, arguments, why
