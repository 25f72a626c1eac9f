"""The mistralai package: `client.chat.stream`.

It hands over chunks, so this driver joins the calls. Text, thinking, finish and usage are taken
from the chunks.
"""

from mistralai.client import Mistral, errors

from harness.repro.drivers.shared.calls import Calls
from harness.repro.drivers.shared.ends import failure_of
from harness.repro.drivers.shared.mistral_words import FINISH

DOCUMENTED = (errors.MistralError,)


def connect(base_url, http=None):
    """Return the client."""
    return Mistral(api_key="none", server_url=base_url, client=http)


def drive(client):
    """Yield what agent code gets."""
    word, usage, calls = None, None, Calls(by_id=True)
    try:
        with client.chat.stream(model="any", messages=[]) as stream:
            for event in stream:
                usage = event.data.usage or usage
                for choice in event.data.choices:
                    if choice.index == 0:
                        yield from events_of(choice.delta.content)
                        calls.add(choice.delta.tool_calls or ())
                        word = choice.finish_reason or word
    except DOCUMENTED as error:
        yield from calls.failed(*failure_of(error))
        return
    if usage is not None:
        yield "usage", usage.prompt_tokens, usage.completion_tokens
    if word == "error":
        yield from calls.failed("error", "the finish reason is error")
    else:
        yield from calls.end(word, FINISH)


def events_of(content):
    """Yield text and thinking: content is text, or a list of chunks, or absent."""
    if isinstance(content, str):
        yield "text", content
        return
    for chunk in content or ():
        if chunk.type == "text":
            yield "text", chunk.text
        elif chunk.type == "thinking":
            yield from (("reasoning", part.text) for part in chunk.thinking if part.type == "text")
