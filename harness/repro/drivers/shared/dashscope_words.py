"""DashScope's API: its finish words, and the option of a request."""

FINISH = {"stop": "stop", "tool_calls": "tool_calls", "length": "length"}


def stream_options(request):
    """Return the option of a user who wants what is new in each event, if the request has it."""
    return request.get("parameters") or {}
