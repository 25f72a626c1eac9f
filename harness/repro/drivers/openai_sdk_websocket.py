"""The openai package over WebSocket: `client.responses.connect`.

The connection yields events and joins nothing. Text and reasoning are taken from the deltas; calls,
finish and usage from the response in the terminal event. If the connection closes before it, agent
code has no response, which is reported as an interrupted turn.
"""

import openai
from websockets.exceptions import ConnectionClosed

from harness.repro.drivers.shared.openai_responses import LAST, REASONING, answer_of, failure_in

DOCUMENTED = (openai.OpenAIError, ConnectionClosed)


def connect(base_url):
    """Return the client."""
    return openai.OpenAI(base_url=base_url, api_key="none", max_retries=0)


def drive(client):
    """Yield what agent code gets."""
    last, text, refusal, begun = None, "", "", {}
    try:
        with client.responses.connect(max_retries=0) as connection:
            connection.response.create(model="any", input=[])
            for event in connection:
                if event.type == "response.output_text.delta" and event.delta:
                    text += event.delta
                    yield "text", event.delta
                elif event.type in REASONING:
                    yield "reasoning", event.delta
                elif event.type == "response.refusal.done":
                    refusal = event.refusal
                elif event.type == "response.output_item.added":
                    begun[event.output_index] = event.item
                elif event.type in LAST:
                    last = event
                    break
    except ConnectionClosed:
        last = None
    failure = failure_in(last)
    if failure is None:
        yield from answer_of(last.response, text, refusal)
        return
    code, message = failure
    for item in begun.values():
        if item.type == "function_call":
            yield "rejected", item.call_id, item.name, item.arguments, message or code
    yield "failure", code, message
