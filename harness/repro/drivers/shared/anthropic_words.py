"""The words of Anthropic's API."""

from harness.repro.drivers.shared.ends import failure_of

FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "content_filter",
}


def failure_with_body(error):
    """Return code and message of an exception, from the body that the package anthropic keeps."""
    code, message = failure_of(error)
    body = error.body if isinstance(error.body, dict) else {}
    found = body.get("error")
    if not isinstance(found, dict) or not found.get("type"):
        return code, message
    return str(found["type"]), str(found.get("message", message))
