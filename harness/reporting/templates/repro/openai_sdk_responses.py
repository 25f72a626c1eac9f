"""The openai package: the last event of `responses.stream`."""

import openai

DOCUMENTED = (openai.OpenAIError,)
LAST = ("response.completed", "response.incomplete", "response.failed")
FINISH = {"completed": "stop", "max_output_tokens": "length"}


def drive(base_url):
    """Return the turn as agent code gets it."""
    client = openai.OpenAI(base_url=base_url, api_key="none", max_retries=0)
    with client.responses.stream(model="any", input=[]) as stream:
        responses = [event.response for event in stream if event.type in LAST]
    if not responses:
        return {"calls": [], "failed": True}
    response = responses[-1]
    items = [item for item in response.output if item.type == "function_call"]
    calls = [(it.call_id, it.name, it.arguments) for it in items if it.status != "incomplete"]
    details = response.incomplete_details
    parts = [part for item in response.output if item.type == "message" for part in item.content]
    return {
        "text": response.output_text,
        "calls": calls,
        "rejected": [item.name for item in items if item.status == "incomplete"],
        "finish": details.reason if details else response.status,
        "failed": response.status not in ("completed", "incomplete")
        or any(part.type == "refusal" for part in parts),
    }
