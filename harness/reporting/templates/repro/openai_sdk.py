"""The openai package: `chat.completions.stream` and its final completion."""

import openai

PACKAGES = ("openai",)
DOCUMENTED = (openai.OpenAIError,)


def drive(base_url):
    """Return the turn as agent code gets it."""
    client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0)
    with client.chat.completions.stream(model="any", messages=[]) as stream:
        completion = stream.get_final_completion()
    choice = completion.choices[0]
    calls = choice.message.tool_calls or ()
    return {
        "text": choice.message.content or "",
        "calls": [(call.id, call.function.name, call.function.arguments) for call in calls],
        "finish": choice.finish_reason,
    }
