"""The haystack-ai package: the reply of `OpenAIChatGenerator.run`."""

import openai
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.utils import Secret

DOCUMENTED = (openai.OpenAIError,)


def drive(base_url):
    """Return the turn as agent code gets it."""
    key = Secret.from_token("none")
    generator = OpenAIChatGenerator(key, model="any", api_base_url=base_url, max_retries=0)
    chunks = []
    reply = generator.run("any", streaming_callback=chunks.append)["replies"][0]
    finish = reply.meta["finish_reason"]
    return {
        "text": "".join(chunk.content for chunk in chunks),
        "calls": [(call.id, call.tool_name, call.arguments) for call in reply.tool_calls],
        "validates": finish == "length",
        "finish": finish,
    }
