"""The openai package: its stream helper, `client.responses.stream`.

Text and reasoning are taken from its events; calls, finish, usage and text that no event contained
from the response in its last event. That is the result of `get_final_response` if the response is
completed. Without such an event that method raises, which is reported as an interrupted turn.
"""

import openai

from harness.repro.drivers.shared.ends import failure_of
from harness.repro.drivers.shared.openai_responses import LAST, REASONING, answer_of, failure_in
from harness.repro.drivers.shared.times import times_of

DOCUMENTED = (openai.APIError,)
ADDED, FRAGMENT = "response.output_item.added", "response.function_call_arguments.delta"


def connect(base_url, http=None, timeout=None, max_retries=0):
    """Return the client."""
    times = times_of(timeout, max_retries)
    return openai.OpenAI(base_url=base_url, api_key="none", http_client=http, **times)


def drive(client):
    """Yield what agent code gets."""
    last, text, refusal, begun = None, "", "", {}
    try:
        with client.responses.stream(model="any", input=[]) as stream:
            for event in stream:
                if event.type == "response.output_text.delta" and event.delta:
                    text += event.delta
                    yield "text", event.delta
                elif event.type in REASONING:
                    yield "reasoning", event.delta
                elif event.type == "response.refusal.done":
                    refusal = event.refusal
                elif event.type in LAST:
                    last = event
                elif event.type == ADDED and event.item.type == "function_call":
                    begun[event.output_index] = event.item
                elif event.type == FRAGMENT and event.output_index in begun:
                    begun[event.output_index].arguments = event.snapshot
    except DOCUMENTED as error:
        failure = failure_of(error)
    else:
        failure = failure_in(last)
    if failure:
        code, message = failure
        for item in begun.values():
            yield "rejected", item.call_id, item.name, item.arguments, message or code
        yield "failure", code, message
    else:
        yield from answer_of(last.response, text, refusal)
