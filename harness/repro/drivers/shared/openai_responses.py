"""What the drivers of the openai package read from the last event of a response of Responses."""

from harness.repro.drivers.shared.ends import failure_of

REASONING = ("response.reasoning_text.delta", "response.reasoning_summary_text.delta")
LAST = ("response.completed", "response.incomplete", "response.failed", "error")
# The items that ask agent code for a call or an action, and the members with what the model wrote.
CALLS = {
    "function_call": ("function", ("arguments",)),
    "custom_tool_call": ("custom", ("input",)),
    "apply_patch_call": ("action", ("operation",)),
    "computer_call": ("action", ("actions", "action")),
    "local_shell_call": ("action", ("action",)),
    "mcp_approval_request": ("action", ("arguments",)),
    "shell_call": ("action", ("action",)),
    "tool_search_call": ("action", ("arguments",)),
}


def failure_in(last):
    """Return code and message of a last event that is none of an answer, or None."""
    if last is None:
        return "interrupted", "the helper received no completed response"
    if last.type == "error":
        return failure_of(last)
    return failure_of(last.response.error) if last.response.status == "failed" else None


def answer_of(response, text, refusal):
    """Yield what the events did not contain."""
    if response.output_text.startswith(text):
        yield "text", response.output_text[len(text) :]
    if response.usage is not None:
        yield "usage", response.usage.input_tokens, response.usage.output_tokens
    # The API repeats the tools of the request, and agent code executes those alone.
    tools = getattr(response, "tools", None)
    custom = None if tools is None else [it.name for it in tools if it.type == "custom"]
    calls = [call_of(item) for item in response.output if is_call(item.to_dict(), custom)]
    yield from calls
    if refusal:
        yield "failure", "refusal", refusal
    elif response.incomplete_details is not None:
        word = str(response.incomplete_details.reason)
        meanings = {"max_output_tokens": "length", "content_filter": "content_filter"}
        yield "finish", word, meanings.get(word, "other")
    else:
        # This API has no finish reason for calls: agent code checks whether there are calls.
        yield "finish", str(response.status), "tool_calls" if calls else "stop"


def is_call(item, custom):
    """Return whether agent code executes an item; a custom call may be one of the provider."""
    kind = item.get("type")
    if kind == "custom_tool_call":
        return custom is None or item.get("name") in custom
    if kind == "shell_call":  # of the client itself, not in a container of the provider
        return (item.get("environment") or {}).get("type", "local") == "local"
    if kind == "tool_search_call":
        return item.get("execution") == "client"
    return kind in CALLS


def call_of(item):
    """Return the event of an item."""
    value, (kind, members) = item.to_dict(), CALLS[item.type]
    call_id = value.get("call_id", item.id if kind == "action" else "")
    name = value.get("name")
    if kind == "action" and not name:
        name = item.type.removesuffix("_call")
    given = next((it for it in members if value.get(it) is not None), members[0])
    if value.get("status") == "incomplete":
        why = "the tool runner does not execute a call that is not completed"
        return "rejected", call_id, name, value.get(given), why
    return "call", call_id, name, value.get(given), kind
