"""The litellm package: `litellm.completion` and `stream_chunk_builder`.

One call asks every provider, and its chunks have the form of OpenAI's chat completions. Text and
reasoning are taken from the chunks; calls, finish and usage from what `stream_chunk_builder`
builds from them.
"""

import litellm
import openai
from litellm.llms.custom_httpx.http_handler import HTTPHandler

from harness.repro.drivers.shared.calls import Calls
from harness.repro.drivers.shared.ends import CHAT_WORDS, failure_of

DOCUMENTED = (openai.APIError,)
PROVIDERS = {"openai-chat": "openai", "anthropic": "anthropic", "gemini": "gemini"}


def connect(base_url, dialect, http=None, timeout=None, max_retries=0):
    """Return a function that sends a request and returns the chunks of its answer."""
    litellm.suppress_debug_info = True  # it prints a hint for each unknown model
    key = {"base_url": base_url, "api_key": "none", "max_retries": 0}
    client = None
    if http is None:
        pass  # the package makes its client
    elif dialect == "openai-chat":
        client = openai.OpenAI(**key, http_client=http)
    else:
        client = HTTPHandler(client=http)
    return lambda: litellm.completion(
        model=f"{PROVIDERS[dialect]}/any",
        messages=[{"role": "user", "content": "replay"}],
        api_base=base_url,
        api_key="none",
        client=client,
        stream=True,
        stream_options={"include_usage": True},
        timeout=timeout,
        max_retries=0,
        num_retries=max_retries,
    )


def drive(client):
    """Yield what agent code gets."""
    chunks, begun = [], Calls()
    try:
        for chunk in client():
            chunks.append(chunk)
            for choice in chunk.choices[:1]:
                yield "reasoning", getattr(choice.delta, "reasoning_content", None)
                yield "text", choice.delta.content
                begun.add(choice.delta.tool_calls or ())
        answer = litellm.stream_chunk_builder(chunks)
    except DOCUMENTED as error:
        yield from begun.failed(*failure_of(error))
        return
    if answer is None:
        yield "failure", "empty_stream", "no chunk came"
        return
    yield "usage", answer.usage.prompt_tokens, answer.usage.completion_tokens
    choice = answer.choices[0]
    calls = choice.message.tool_calls or ()
    for call_id, call in zip(ids_of(calls), calls, strict=True):
        if call.type == "custom":
            yield "call", call_id, call.custom.name, call.custom.input, "custom"
        else:
            yield "call", call_id, call.function.name, call.function.arguments
    older = choice.message.function_call
    if older and not calls:
        # It has no id in this API, because agent code needs none.
        yield "call", "function_call", older.name, older.arguments
    yield "finish", choice.finish_reason, CHAT_WORDS.get(str(choice.finish_reason), "other")


def ids_of(calls):
    """Return the ids without Gemini's signature, unless only that makes them different.

    The package appends it to an id, and removes it from what it sends back.
    """
    ids = [str(call.id or "") for call in calls]
    plain = [each.split("__thought__", 1)[0] for each in ids]
    return ids if len(set(plain)) < len(set(ids)) else plain
