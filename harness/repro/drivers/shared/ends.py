"""How an answer ends."""

# The finish words of OpenAI's chat completions.
CHAT_WORDS = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "length": "length",
    "content_filter": "content_filter",
}


def finish_by_calls(word, has_calls, meanings=CHAT_WORDS):
    """Return the end as an agent loop sees it that continues if the answer has calls."""
    meaning = meanings.get(str(word), "other")
    if word and has_calls and meaning in ("stop", "other"):
        meaning = "tool_calls"
    return "finish", word, meaning


def failure_of(error):
    """Return code and message of a documented exception."""
    status = getattr(error, "status_code", None)
    codes = (getattr(error, "code", None), getattr(error, "type", None))
    # An exception that another one caused, as one of the network, is an interruption.
    other = "interrupted" if getattr(error, "__cause__", None) else "error"
    code = next((str(code) for code in codes if code), f"http_{status}" if status else other)
    return code, str(getattr(error, "message", error))
