"""The groq package: the chunks of `client.chat.completions.create(stream=True)`.

It hands over chunks, so this driver joins the calls. Text, reasoning, finish and usage are taken
from the chunks.
"""

import groq

from harness.repro.drivers.shared.chat import Chunks
from harness.repro.drivers.shared.ends import failure_of

DOCUMENTED = (groq.GroqError,)


def connect(base_url, http=None):
    """Return the client."""
    return groq.Groq(base_url=base_url, api_key="none", max_retries=0, http_client=http)


def drive(client):
    """Yield what agent code gets."""
    turn = Chunks(usage, reasoning)
    try:
        for chunk in client.chat.completions.create(model="any", messages=[], stream=True):
            yield from turn.take(chunk)
    except DOCUMENTED as error:
        yield from turn.calls.failed(*failure_of(error))
    else:
        yield from turn.end()


def usage(chunk):
    """Return the usage in a chunk, or None."""
    return getattr(chunk.x_groq, "usage", None) or chunk.usage


def reasoning(delta):
    """Return the reasoning in a delta."""
    return delta.reasoning or getattr(delta, "reasoning_content", None)
