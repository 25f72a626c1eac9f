"""The package llama-index-llms-openai-like: `OpenAILike.stream_chat`, as its agents use it.

Text and reasoning are taken from the deltas of the responses; calls from
`get_tool_calls_from_response` of the last one, which parses the arguments; finish and usage from
the chunks, which the responses have as `raw`. Its agents execute calls until a response has none,
whatever the finish reason is.
"""

import json

import openai
from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike

from harness.repro.drivers.shared.ends import finish_by_calls
from harness.repro.drivers.shared.named import named

DOCUMENTED = (openai.OpenAIError,)


def connect(base_url, http=None):
    """Return the model."""
    return OpenAILike(
        model="any",
        api_base=base_url,
        api_key="none",
        is_chat_model=True,
        is_function_calling_model=True,
        max_retries=0,
        http_client=http,
    )


def drive(client):
    """Yield what agent code gets."""
    last = word = None
    for last in client.stream_chat([ChatMessage("any")]):
        word = (last.raw.choices[0].finish_reason if last.raw.choices else None) or word
        yield "reasoning", last.additional_kwargs.get("thinking_delta")
        yield "text", last.delta
    if last is None:
        yield "failure", "empty_stream", "no response came"
        return
    counts = last.additional_kwargs
    if "prompt_tokens" in counts:
        yield "usage", counts["prompt_tokens"], counts["completion_tokens"]
    calls = client.get_tool_calls_from_response(last, error_on_no_tool_call=False)
    for call in calls:
        # Its tools are called without a check of types, but not without a required argument.
        kind = "checked" if word == "length" and not call.tool_kwargs else "call"
        yield named(kind, call.tool_id, call.tool_name, json.dumps(call.tool_kwargs))
    yield finish_by_calls(word, bool(calls))
