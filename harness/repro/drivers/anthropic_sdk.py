"""The anthropic package: its stream helper, `client.messages.stream`.

Text and thinking are taken from its events; calls, finish and usage from `get_final_message`. The
package parses arguments while they are incomplete, and returns values. The values of an incomplete
text are what agent code gets, so they are judged. The package's own tool runner
(`client.beta.messages.tool_runner`) executes no call of a message that stopped for another reason
than `tool_use`.
"""

import json

import anthropic

from harness.repro.drivers.shared.anthropic_words import FINISH, failure_with_body
from harness.repro.drivers.shared.times import times_of

DOCUMENTED = (anthropic.APIError,)


def connect(base_url, http=None, timeout=None, max_retries=0):
    """Return the client."""
    times = times_of(timeout, max_retries)
    return anthropic.Anthropic(base_url=base_url, api_key="none", http_client=http, **times)


def drive(client):
    """Yield what agent code gets."""
    stream, said = None, ""
    try:
        with client.messages.stream(model="any", max_tokens=1, messages=[]) as stream:
            for event in stream:
                if event.type == "text":
                    said += event.text
                    yield "text", event.text
                elif event.type == "thinking":
                    yield "reasoning", event.thinking
            message = stream.get_final_message()
    except DOCUMENTED as error:
        code, message = failure_with_body(error)
        yield from rejected(begun(stream), message or code)
        yield "failure", code, message
    else:
        yield from answer_of(message, said)


def answer_of(message, said):
    """Yield what the events did not contain."""
    text = "".join(block.text for block in message.content if block.type == "text")
    if text.startswith(said):  # what the start of a message contains has no event
        yield "text", text[len(said) :]
    if message.usage is not None:
        yield "usage", message.usage.input_tokens, message.usage.output_tokens
    word, calls = message.stop_reason, calls_of(message)
    if word == "tool_use":
        yield from (("value", call.id, call.name, call.input) for call in calls)
    else:
        yield from rejected(calls, f"the tool runner does not execute it: {word}")
    yield "finish", word, FINISH.get(str(word), "other")


def calls_of(message):
    """Return the blocks of the calls."""
    return [block for block in message.content if block.type == "tool_use"]


def begun(stream):
    """Return the calls so far of a message that failed."""
    try:
        return calls_of(stream.current_message_snapshot) if stream else []
    except AssertionError:  # the first event of the message did not arrive
        return []


def rejected(calls, why):
    """Yield calls that agent code does not execute."""
    for call in calls:
        yield "rejected", call.id, call.name, json.dumps(call.input), why
