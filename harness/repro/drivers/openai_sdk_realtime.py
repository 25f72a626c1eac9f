"""The openai package over WebSocket: `client.realtime.connect`.

The connection yields events and joins nothing. Text is taken from the deltas, calls from
`response.output_item.done`, and the end from `response.done`, as the API reference tells agent code
to do. An event `error` is reported by agent code and ends nothing, unless no response follows.
"""

import openai
from websockets.exceptions import ConnectionClosed

from harness.repro.drivers.shared.ends import failure_of

DOCUMENTED = (openai.OpenAIError, ConnectionClosed)
TEXTS = ("response.output_text.delta", "response.output_audio_transcript.delta")


def connect(base_url):
    """Return the client."""
    return openai.OpenAI(base_url=base_url, api_key="none", max_retries=0)


def drive(client):
    """Yield what agent code gets."""
    response, error, calls = None, None, {}
    try:
        with client.realtime.connect(model="any", max_retries=0) as connection:
            connection.response.create()
            for event in connection:
                if event.type in TEXTS:
                    yield "text", event.delta
                elif event.type in ("response.output_item.added", "response.output_item.done"):
                    if event.item.type == "function_call":
                        calls[event.item.id] = event.item
                elif event.type == "error":
                    error = event.error
                    if not calls and response is None and error.code in REFUSED:
                        break
                elif event.type == "response.done":
                    response = event.response
                    break
    except ConnectionClosed:
        response = None
    failure = failure_in(response, error)
    if failure is None:
        yield from answer_of(response, calls.values())
        return
    code, message = failure
    for item in calls.values():
        yield "rejected", item.call_id, item.name, item.arguments, message or code
    yield "failure", code, message


# Errors that say that the requested response does not come.
REFUSED = ("conversation_already_has_active_response",)


def failure_in(response, error):
    """Return code and message of a response that is none of an answer, or None."""
    if response is None:
        if error is not None:
            return failure_of(error)
        return "interrupted", "the connection closed before response.done"
    if response.status in ("failed", "cancelled"):
        details = response.status_details
        problem = details and details.error
        code = (problem and (problem.code or problem.type)) or response.status
        return code, str((details and details.reason) or "")
    return None


def answer_of(response, calls):
    """Yield what the events with text did not contain."""
    usage = response.usage
    if usage is not None:
        yield "usage", usage.input_tokens, usage.output_tokens
    for item in calls:
        yield "call", item.call_id, item.name, item.arguments
    if response.status == "incomplete":
        word = str(response.status_details.reason)
        meanings = {"max_output_tokens": "length", "content_filter": "content_filter"}
        yield "finish", word, meanings.get(word, "other")
    else:
        yield "finish", str(response.status), "tool_calls" if calls else "stop"
