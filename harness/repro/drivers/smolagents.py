"""The smolagents package: `OpenAIModel.generate_stream`, which its `ToolCallingAgent` uses.

Text is taken from the deltas; calls and usage from what `agglomerate_stream_deltas` makes of them.
If they have no call, the agent looks for one in the text, which is not done here because the agent
describes its tools in its own prompt. The package has no finish reason, so the agent executes the
calls of each message that it gets, after it compared their arguments with its tools.
"""

import openai
from smolagents import OpenAIModel
from smolagents.models import agglomerate_stream_deltas

DOCUMENTED = (openai.OpenAIError,)


def connect(base_url, http=None):
    """Return the model."""
    options = {"http_client": http, "max_retries": 0}
    return OpenAIModel("any", api_base=base_url, api_key="none", client_kwargs=options, retry=False)


def drive(client):
    """Yield what agent code gets."""
    deltas = []
    for delta in client.generate_stream([{"role": "user", "content": "any"}]):
        deltas.append(delta)
        yield "text", delta.content
    if not deltas:
        yield "failure", "empty_stream", "no delta came"
        return
    message = agglomerate_stream_deltas(deltas)
    usage = message.token_usage
    if usage.input_tokens or usage.output_tokens:
        yield "usage", usage.input_tokens, usage.output_tokens
    for call in message.tool_calls:
        function = call.function
        if function.name:
            # Arguments without text are those of a call whose fragments went to another one.
            kind = "call" if function.arguments else "checked"
            yield kind, call.id, function.name, function.arguments
        else:
            why = "the agent has no tool without a name"
            yield "rejected", call.id, "", function.arguments, why
    yield "finish", None, "other"
