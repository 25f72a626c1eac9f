"""OpenAI's chat API, whose form the history has, and those that nearly share it.

Source: the API references of OpenAI (`POST /chat/completions`), Mistral, which takes the same
messages, and Cohere (`POST /v2/chat`), which takes no null.
"""

from harness.conversation.asking.asked import Asked, Json, declaration
from harness.conversation.messages import Message


def openai_chat(asked: Asked) -> Json:
    """Return the body for OpenAI's chat API."""
    body: Json = {"model": asked.model, "stream": True, "messages": list(asked.messages)}
    tools = [declaration(tool) for tool in asked.tools]
    return body | ({"tools": tools} if tools else {}) | dict(asked.options)


def cohere(asked: Asked) -> Json:
    """Return the same without nulls: content that is not there has no key."""
    return openai_chat(asked) | {"messages": [_without_null(each) for each in asked.messages]}


def _without_null(message: Message) -> Message:
    return {key: value for key, value in message.items() if value is not None}
