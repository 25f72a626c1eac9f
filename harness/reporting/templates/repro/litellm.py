"""The litellm package: `completion(stream=True)` and `stream_chunk_builder`."""

import litellm
import openai

DOCUMENTED = (openai.APIError,)
PROVIDERS = {"openai-chat": "openai", "anthropic": "anthropic", "gemini": "gemini"}


def drive(base_url):
    """Return the turn as agent code gets it."""
    stream = litellm.completion(
        model=f"{PROVIDERS[DIALECT]}/any",
        messages=[{"role": "user", "content": "any"}],
        api_base=base_url,
        api_key="none",
        stream=True,
        stream_options={"include_usage": True},
        max_retries=0,
        num_retries=0,
    )
    chunks = list(stream)
    answer = litellm.stream_chunk_builder(chunks)
    if answer is None:
        return {"calls": [], "failed": True}
    choice, older = answer.choices[0], answer.choices[0].message.function_call
    calls = [
        (it.id.split("__thought__")[0], it.function.name, it.function.arguments)
        for it in choice.message.tool_calls or ()
    ]
    if older and not calls:
        calls = [("function_call", older.name, older.arguments)]
    deltas = [choice.delta for chunk in chunks for choice in chunk.choices[:1]]
    return {
        "text": "".join(delta.content or "" for delta in deltas),
        "calls": calls,
        "finish": choice.finish_reason,
        "reason": FINISH.get(choice.finish_reason, choice.finish_reason),
    }
