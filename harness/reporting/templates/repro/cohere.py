"""The cohere package: the events of `ClientV2.chat_stream`."""

import cohere
from cohere.core import ApiError
from cohere.core.http_sse import SSEError
from shared.calls import Calls

DOCUMENTED = (ApiError, SSEError)
FINISH = {
    "COMPLETE": "stop",
    "STOP_SEQUENCE": "stop",
    "TOOL_CALL": "tool_calls",
    "MAX_TOKENS": "length",
}


def drive(base_url):
    """Return the turn as agent code gets it."""
    client = cohere.ClientV2(api_key="none", base_url=base_url, max_retries=0)
    text, end, calls = "", None, Calls()
    for event in client.chat_stream(model="any", messages=[{"role": "user", "content": "any"}]):
        if event.type in ("content-start", "content-delta"):
            text += event.delta.message.content.text or ""
        elif event.type == "tool-call-start":
            call = event.delta.message.tool_calls
            calls.add(event.index, call.id, call.function.name, call.function.arguments)
        elif event.type == "tool-call-delta":
            calls.add(event.index, "", "", event.delta.message.tool_calls.function.arguments)
        elif event.type == "message-end":
            end = event.delta
    turn = calls.turn(text, end and end.finish_reason, cut=("MAX_TOKENS",))
    failed = end is None or bool(end.error) or end.finish_reason in (None, "ERROR", "TIMEOUT")
    return {**turn, "failed": failed}
