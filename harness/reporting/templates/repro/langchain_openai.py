"""The package langchain-openai: the sum of the chunks of `ChatOpenAI.stream`."""

import openai
from langchain_openai import ChatOpenAI

PACKAGES = ("langchain-openai",)
DOCUMENTED = (openai.OpenAIError,)


def drive(base_url):
    """Return the turn as agent code gets it."""
    model = ChatOpenAI(
        model="any", base_url=base_url, api_key="none", max_retries=0, use_responses_api=False
    )
    first, *others = model.stream("any")
    message = sum(others, first)
    return {
        "text": message.text,
        "calls": [(call["id"], call["name"], call["args"]) for call in message.tool_calls],
        "finish": message.response_metadata.get("finish_reason"),
    }
