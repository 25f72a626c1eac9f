"""The openai package: `responses.stream` and its final response."""

import openai

PACKAGES = ("openai",)
DOCUMENTED = (openai.OpenAIError,)


def drive(base_url):
    """Return the turn as agent code gets it."""
    client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0)
    with client.responses.stream(model="any", input=[]) as stream:
        response = stream.get_final_response()
    calls = [item for item in response.output if item.type == "function_call"]
    return {
        "text": response.output_text,
        "calls": [(call.call_id, call.name, call.arguments) for call in calls],
        "finish": response.status,
    }
