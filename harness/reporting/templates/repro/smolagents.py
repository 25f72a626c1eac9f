"""The smolagents package: `OpenAIModel.generate_stream` and `agglomerate_stream_deltas`."""

import openai
from smolagents import OpenAIModel
from smolagents.models import agglomerate_stream_deltas

DOCUMENTED = (openai.OpenAIError,)


def drive(base_url):
    """Return the turn as agent code gets it; the package has no finish reason."""
    options = {"max_retries": 0}
    model = OpenAIModel(
        "any", api_base=base_url, api_key="none", client_kwargs=options, retry=False
    )
    deltas = list(model.generate_stream([{"role": "user", "content": "any"}]))
    if not deltas:
        return {"calls": [], "failed": True}
    calls = agglomerate_stream_deltas(deltas).tool_calls
    return {
        "text": "".join(delta.content or "" for delta in deltas),
        "calls": [(call.id, call.function.name, call.function.arguments) for call in calls],
    }
