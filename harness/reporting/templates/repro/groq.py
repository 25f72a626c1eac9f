"""The groq package: the chunks of `chat.completions.create(stream=True)`."""

import groq
from shared.chat_chunks import joined

DOCUMENTED = (groq.GroqError,)


def drive(base_url):
    """Return the turn as agent code gets it."""
    client = groq.Groq(base_url=base_url, api_key="none", max_retries=0)
    return joined(client.chat.completions.create(model="any", messages=[], stream=True))
