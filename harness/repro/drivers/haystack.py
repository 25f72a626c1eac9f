"""The haystack-ai package: `OpenAIChatGenerator.run_async` with a streaming callback.

Text is taken from the chunks that the callback gets; calls, finish and usage from the reply, as
its agent does. The package leaves calls out whose arguments it cannot parse. The async method is
used, because its callback can wait until agent code wants the next chunk.
"""

import openai
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.utils import Secret

from harness.repro.drivers.shared.ends import finish_by_calls
from harness.repro.drivers.shared.named import named

DOCUMENTED = (openai.OpenAIError,)


def connect(base_url, http=None):
    """Return the generator, which takes a transport."""
    return OpenAIChatGenerator(
        api_key=Secret.from_token("none"),
        model="any",
        api_base_url=base_url,
        max_retries=0,
        http_client_kwargs={"transport": http},
    )


async def drive(client, emit):
    """Emit what agent code gets."""

    async def receive(chunk):
        await emit("text", chunk.content)

    found = await client.run_async("any", streaming_callback=receive)
    reply = found["replies"][0]
    usage, word = reply.meta["usage"], reply.meta["finish_reason"]
    if usage:
        await emit("usage", usage["prompt_tokens"], usage["completion_tokens"])
    kind = "checked" if word == "length" else "call"
    for call in reply.tool_calls:
        await emit(*named(kind, call.id, call.tool_name, call.arguments))
    await emit(*finish_by_calls(word, bool(reply.tool_calls)))
