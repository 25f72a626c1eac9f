"""The pydantic-ai package: the response of `direct.model_request_stream_sync`."""

import anthropic
import openai
from pydantic_ai.direct import model_request_stream_sync
from pydantic_ai.exceptions import AgentRunError
from pydantic_ai.messages import ModelRequest
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

DOCUMENTED = (AgentRunError,)


def drive(base_url):
    """Return the turn as agent code gets it."""
    options = {"base_url": base_url, "api_key": "none", "max_retries": 0}
    if DIALECT == "anthropic":
        provider = AnthropicProvider(anthropic_client=anthropic.AsyncAnthropic(**options))
        model = AnthropicModel("any", provider=provider)
    else:
        provider = OpenAIProvider(openai_client=openai.AsyncOpenAI(**options))
        model = OpenAIChatModel("any", provider=provider)
    with model_request_stream_sync(model, [ModelRequest.user_text_prompt("any")]) as stream:
        for _ in stream:
            pass
        response = stream.response
    calls = [(call.tool_call_id, call.tool_name, call.args or "") for call in response.tool_calls]
    details = response.provider_details or {}
    # Its agent raises UnexpectedModelBehavior if two calls have the same id.
    is_ambiguous = len({call_id for call_id, _, _ in calls}) < len(calls)
    reason = response.finish_reason
    return {
        "text": "".join(part.content for part in response.parts if part.part_kind == "text"),
        "calls": [] if is_ambiguous else calls,
        "validates": reason == "length",
        "finish": details.get("finish_reason"),
        "reason": "tool_calls" if calls and reason in ("stop", "tool_call", None) else reason,
        "failed": is_ambiguous or bool(details.get("refusal")) or reason == "error",
    }
