"""The cohere package: `ClientV2.chat_stream`.

It hands over events, so this driver joins the calls, as the documentation of the API does. Text,
thinking, the plan for the tools, finish and usage are taken from the events.
"""

import cohere
from cohere.core import ApiError
from cohere.core.http_sse import SSEError

from harness.repro.drivers.shared.calls import Calls
from harness.repro.drivers.shared.ends import failure_of

DOCUMENTED = (ApiError, SSEError)
FINISH = {
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "TOOL_CALL": "tool_calls",
    "MAX_TOKENS": "length",
}


def connect(base_url, http=None):
    """Return the client."""
    return cohere.ClientV2(api_key="none", base_url=base_url, httpx_client=http, max_retries=0)


def drive(client):
    """Yield what agent code gets."""
    end, calls = None, Calls()
    messages = [{"role": "user", "content": "any"}]
    try:
        for event in client.chat_stream(model="any", messages=messages):
            delta = getattr(event, "delta", None)
            message = getattr(delta, "message", None)
            if event.type in ("content-start", "content-delta"):
                yield "reasoning", message.content.thinking
                yield "text", message.content.text
            elif event.type == "tool-plan-delta":
                yield "reasoning", message.tool_plan
            elif event.type == "tool-call-start":
                call, function = message.tool_calls, message.tool_calls.function
                calls.begin(event.index)
                calls.extend(event.index, call.id, function.name, function.arguments)
            elif event.type == "tool-call-delta":
                calls.extend(event.index, "", "", message.tool_calls.function.arguments)
            elif event.type == "message-end":
                end = delta
    except DOCUMENTED as error:
        yield from calls.failed(*failure_with_body(error))
    else:
        yield from answer_of(calls, end)


def answer_of(calls, end):
    """Yield what the last event contains, and the calls."""
    tokens = end and end.usage and end.usage.tokens
    if tokens:
        yield "usage", count(tokens.input_tokens), count(tokens.output_tokens)
    word = end and end.finish_reason
    has_failed = word in {"ERROR", "TIMEOUT"}
    if end and (end.error or has_failed):
        yield from calls.failed(word if has_failed else "error", end.error or "")
    else:
        yield from calls.end(word, FINISH)


def count(tokens):
    """Return a number of tokens, which is a float."""
    return None if tokens is None else int(tokens)


def failure_with_body(error):
    """Return code and message of an exception; the package keeps the message in its body."""
    code, message = failure_of(error)
    body = getattr(error, "body", None)
    return code, str(body.get("message", message) if isinstance(body, dict) else message)
